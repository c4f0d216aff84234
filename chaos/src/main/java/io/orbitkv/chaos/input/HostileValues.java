package io.orbitkv.chaos.input;

import io.orbitkv.client.wire.Flags;
import io.orbitkv.client.wire.IntRun;
import io.orbitkv.client.wire.KeyRun;
import io.orbitkv.client.wire.Op;
import io.orbitkv.client.wire.PublishRequest;
import io.orbitkv.client.wire.QueryRequest;
import io.orbitkv.client.wire.RestoreRequest;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Requests that are whole, so that the channel has nothing to refuse, and ask for what nobody may
 * have: leases and tickets of others or of nobody, pages that do not exist, ranges that overlap or
 * are not leased, groups that were not registered, tokens between two pages, the same page twice.
 */
final class HostileValues {
  private static final int KEY_BYTES = 32;
  private static final int MAX_BLOCKS = 12;
  private static final int MAX_OWN = 16;

  /** Leases and tickets have numbers in order: those beside one's own are others'. */
  private static final int NEAR = 12;

  private static final int[] EXTREMES = {
    -1, 0, 1, Integer.MAX_VALUE, Integer.MIN_VALUE, 0xFFFF, 1 << 24, -16
  };

  private final Random random;
  private final int pages;
  private final int pageTokens;
  private final List<Long> leases = new ArrayList<>();
  private final List<Long> tickets = new ArrayList<>();

  /**
   * A request without its envelope; its payload has been written.
   *
   * @param handle lease, ticket or request id
   */
  record Request(Op op, int flags, int payloadBytes, long handle, int timeoutMillis) {}

  HostileValues(Random random, int pages, int pageTokens) {
    this.random = random;
    this.pages = pages;
    this.pageTokens = pageTokens;
  }

  /** The session was granted a lease. */
  void leased(long id) {
    remember(leases, id);
  }

  /** The session was given a ticket. */
  void waits(long id) {
    remember(tickets, id);
  }

  /** The session is over. */
  void forget() {
    leases.clear();
    tickets.clear();
  }

  private void remember(List<Long> ids, long id) {
    if (ids.size() == MAX_OWN) {
      ids.removeFirst();
    }
    ids.add(id);
  }

  /** Writes the payload of a request, if it has one. */
  Request write(MemorySegment into) {
    return switch (random.nextInt(12)) {
      case 0, 1, 2 -> query(into);
      case 3, 4, 5 -> publish(into);
      case 6, 7, 8 -> restore(into);
      case 9 -> new Request(Op.RELEASE, 0, 0, handle(leases), 0);
      case 10 -> new Request(Op.POLL, 0, 0, handle(tickets), 0);
      default ->
          new Request(
              Op.CANCEL, random.nextBoolean() ? Flags.CANCEL_BY_REQUEST : 0, 0, handle(tickets), 0);
    };
  }

  private Request query(MemorySegment into) {
    List<QueryRequest.GroupKeys> groups = new ArrayList<>();
    int count = 1 + random.nextInt(3);
    int group = random.nextInt(8) == 0 ? random.nextInt(0x7000) : 0;
    for (int i = 0; i < count && (i == 0 || random.nextInt(4) == 0); i++) {
      groups.add(new QueryRequest.GroupKeys(group, keys()));
      group += 1 + random.nextInt(3);
    }
    QueryRequest request =
        new QueryRequest(token(), rarely() ? extreme() : 0, name(), List.copyOf(groups));
    int flags = random.nextInt(3) == 0 ? Flags.QUERY_WAIT : 0;
    flags |= flags == 0 && random.nextInt(4) == 0 ? Flags.QUERY_DISCOVER : 0;
    int timeout = flags == Flags.QUERY_WAIT ? 1 + random.nextInt(3) : 0;
    return new Request(Op.QUERY, flags, request.encode(into), 0, timeout);
  }

  private Request publish(MemorySegment into) {
    KeyRun keys = keys();
    PublishRequest request =
        new PublishRequest(
            rarely() ? random.nextInt(0xFFFF) : 0, name(), keys, blocks(keys.count()));
    return new Request(Op.PUBLISH, 0, request.encode(into), 0, 0);
  }

  private Request restore(MemorySegment into) {
    List<RestoreRequest.GroupPages> targets = new ArrayList<>();
    int group = rarely() ? random.nextInt(0x7000) : 0;
    int count = 1 + random.nextInt(2);
    for (int i = 0; i < count; i++) {
      targets.add(
          new RestoreRequest.GroupPages(group, token(), blocks(1 + random.nextInt(MAX_BLOCKS))));
      group += random.nextInt(3) == 0 ? 0 : 1;
    }
    if (random.nextBoolean()) {
      targets.subList(1, targets.size()).clear();
    }
    int flags = random.nextInt(4) == 0 ? Flags.RESTORE_RELEASE : 0;
    flags |= random.nextInt(4) == 0 ? Flags.RESTORE_PROGRESS : 0;
    RestoreRequest request = new RestoreRequest(name(), List.copyOf(targets));
    return new Request(Op.RESTORE, flags, request.encode(into), handle(leases), 0);
  }

  /** One's own, one beside it, or anything. */
  private long handle(List<Long> own) {
    long at = own.isEmpty() ? random.nextInt(64) : own.get(random.nextInt(own.size()));
    return switch (random.nextInt(8)) {
      case 0 -> random.nextLong();
      case 1 -> extreme();
      case 2, 3, 4 -> at + random.nextInt(2 * NEAR + 1) - NEAR;
      default -> at;
    };
  }

  /** Keys of a small universe, so that some are found and some are given twice. */
  private KeyRun keys() {
    int count = 1 + random.nextInt(MAX_BLOCKS);
    int keyBytes = rarely() ? 1 + random.nextInt(64) : KEY_BYTES;
    byte[] packed = new byte[count * keyBytes];
    int first = random.nextInt(20);
    boolean twice = rarely();
    for (int i = 0; i < count; i++) {
      packed[i * keyBytes] = (byte) (twice ? first : first + i);
    }
    return KeyRun.of(packed, keyBytes);
  }

  /** Pages one after the other, or what is none, or the same twice. */
  private IntRun blocks(int count) {
    int[] blocks = new int[count];
    int first = random.nextInt(pages);
    for (int i = 0; i < count; i++) {
      blocks[i] = (first + i) % pages;
    }
    switch (random.nextInt(4)) {
      case 0 -> blocks[random.nextInt(count)] = pages + random.nextInt(3);
      case 1 -> blocks[random.nextInt(count)] = extreme();
      case 2 -> blocks[random.nextInt(count)] = blocks[0];
      default -> {
        // As they are.
      }
    }
    return IntRun.of(blocks);
  }

  /** Where a page begins, between two pages, or far away. */
  private int token() {
    return switch (random.nextInt(5)) {
      case 0 -> random.nextInt(8 * pageTokens);
      case 1 -> Math.min(1 << 24, Math.max(0, extreme()));
      case 2 -> pageTokens * random.nextInt(MAX_BLOCKS);
      default -> 0;
    };
  }

  private String name() {
    return random.nextInt(3) == 0 ? "" : "hostile-" + random.nextInt(4);
  }

  private int extreme() {
    return EXTREMES[random.nextInt(EXTREMES.length)];
  }

  private boolean rarely() {
    return random.nextInt(6) == 0;
  }
}
