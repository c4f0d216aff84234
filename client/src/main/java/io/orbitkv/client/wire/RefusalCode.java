package io.orbitkv.client.wire;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Why something was refused, with a number that never changes and what to do about it. The list is
 * that of section 4 of docs/protocol.md; a test keeps the two equal.
 */
public enum RefusalCode {
  BAD_FRAME(100, "check the frame writer against section 1.1"),
  UNSUPPORTED_VERSION(101, "upgrade the older side"),
  UNKNOWN_TYPE(102, "send only the types of section 1.1"),
  BAD_JSON(103, "see section 1.2"),
  UNKNOWN_FIELD(104, "remove or rename the field"),
  MISSING_FIELD(105, "give the field"),
  BAD_VALUE(106, "give a value in the documented range"),
  HELLO_FIRST(107, "send HELLO as the first frame"),
  ALREADY_REGISTERED(108, "open another connection"),
  NOT_REGISTERED(109, "register first"),
  BAD_FD_COUNT(110, "pass one descriptor per HOST buffer with the header's first byte"),
  PEER_NOT_ALLOWED(111, "run as the daemon's user or in its socket's group"),
  FORMAT_MISMATCH(120, "use another namespace, or register the bound format"),
  BUFFER_NOT_SEALED(121, "create the memfd with MFD_ALLOW_SEALING and add F_SEAL_SHRINK"),
  BAD_BUFFER(122, "pass a writable memfd of exactly the given size"),
  LAYER_OUT_OF_RANGE(123, "correct baseOffset, strides or blockCount"),
  LAYER_OVERLAP(124, "correct the strides"),
  BAD_GROUP(125, "name each registered group once, ascending"),
  ATTACH_MISMATCH(126, "attach to the worker's own LOAD session"),
  UNKNOWN_OP(130, "use the ops of section 3"),
  UNKNOWN_FLAG(131, "use the flags of section 3"),
  RESERVED_NOT_ZERO(132, "write zero to unused fields"),
  BAD_SLOT(133, "pass a slot exactly where the op needs one"),
  SLOT_BUSY(134, "wait for the slot's completion"),
  BAD_LENGTH(135, "give the length of the payload"),
  BAD_PAYLOAD(136, "check the encoder against section 3"),
  BAD_REQUEST_NAME(137, "0 to 64 visible ASCII bytes"),
  NO_BUFFERS(138, "use a session that registered buffers"),
  BLOCK_OUT_OF_RANGE(139, "give block indices below blockCount"),
  DUPLICATE_DESTINATION(140, "give each page its own destination block"),
  RANGE_NOT_LEASED(141, "restore only ranges of the lease"),
  MISALIGNED(142, "align to the group's pageTokens"),
  TOO_MANY_KEYS(143, "split the request"),
  TICKET_PENDING(144, "cancel the pending ticket, or ask with REPLACE"),
  POOL_FULL(200, "retry later, or enlarge the pool"),
  BUDGET_GLOBAL(201, "retry later, or raise the budget"),
  BUDGET_INSTANCE(202, "release leases, or raise the budget"),
  QUEUE_FULL(203, "retry later"),
  JOURNAL_FULL(204, "free disk space under the journal"),
  TOO_MANY_SESSIONS(205, "close sessions"),
  TOO_MANY_TICKETS(206, "poll or cancel tickets"),
  TOO_MANY_LEASES(207, "release leases"),
  EPOCH(300, "register again"),
  SESSION_SUPERSEDED(301, "stop this process, its successor runs"),
  SESSION(302, "use this connection's session"),
  SLOT_GENERATION(303, "increase the generation at each use of a slot"),
  REQUEST_ID(304, "use increasing request ids"),
  LEASE_GONE(305, "query again"),
  TICKET_GONE(306, "query again"),
  TICKET_EXPIRED(307, "query again, or recompute"),
  TICKET_REPLACED(308, "use the newer query's ticket"),
  SESSION_LOST(390, "recompute, the client reconnects"),
  BUFFER_KIND(400, "register a HOST buffer"),
  DRAINING(401, "go on without the cache, reconnect later"),
  STARTING(402, "retry later"),
  PREDECESSOR_DRAINING(403, "retry later"),
  DISCONNECTED(490, "go on without the cache"),
  DEADLINE(491, "go on without the cache"),
  VERIFY_FAILED(500, "recompute, check the host's memory"),
  COPY_FAILED(501, "recompute"),
  INTERNAL_ERROR(502, "recompute, and report the daemon's log");

  private static final Map<Integer, RefusalCode> BY_NUMBER = new HashMap<>();

  static {
    for (RefusalCode code : values()) {
      BY_NUMBER.put(code.number, code);
    }
  }

  private final int number;
  private final String remedy;

  RefusalCode(int number, String remedy) {
    this.number = number;
    this.remedy = remedy;
  }

  /** The code with this number, null if this version does not know it. */
  public static @Nullable RefusalCode of(int number) {
    return BY_NUMBER.get(number);
  }

  /** Its number on the wire, 100 to 599. */
  public int number() {
    return number;
  }

  /** What kind of refusal it is. */
  public Category category() {
    return Category.of(number / 100);
  }

  /** What the caller can do, in a few words. */
  public String remedy() {
    return remedy;
  }
}
