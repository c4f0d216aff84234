package io.orbitkv.core;

import io.orbitkv.state.HostEvent.RefusalCategory;

/**
 * Why the loop refuses or fails a request. The names are those of {@code docs/protocol.md}, section
 * 4.
 */
public enum RefusalCode {
  BAD_VALUE(RefusalCategory.USER, 0, "give a value in the documented range"),
  FORMAT_MISMATCH(RefusalCategory.USER, 0, "use another namespace, or register the bound format"),
  BAD_GROUP(RefusalCategory.USER, 0, "name each registered group once, ascending"),
  ATTACH_MISMATCH(RefusalCategory.USER, 0, "attach to the worker's own open session"),
  NO_BUFFERS(RefusalCategory.USER, 0, "use a session that registered buffers"),
  BLOCK_OUT_OF_RANGE(RefusalCategory.USER, 0, "give block indices below blockCount"),
  DUPLICATE_DESTINATION(RefusalCategory.USER, 0, "give each page its own destination block"),
  RANGE_NOT_LEASED(RefusalCategory.USER, 0, "restore only ranges of the lease"),
  MISALIGNED(RefusalCategory.USER, 0, "align to the pages of all groups"),
  TOO_MANY_KEYS(RefusalCategory.USER, 0, "split the request"),
  TICKET_PENDING(
      RefusalCategory.USER, 0, "cancel the pending ticket, or ask for it to be replaced"),

  POOL_FULL(RefusalCategory.RESOURCE, 50, "retry later, or enlarge the pool"),
  BUDGET_GLOBAL(RefusalCategory.RESOURCE, 50, "retry later, or raise the budget"),
  BUDGET_INSTANCE(RefusalCategory.RESOURCE, 50, "release leases, or raise the budget"),
  QUEUE_FULL(RefusalCategory.RESOURCE, 5, "retry later"),
  JOURNAL_FULL(RefusalCategory.RESOURCE, 1_000, "free disk space under the journal"),
  TOO_MANY_SESSIONS(RefusalCategory.RESOURCE, 1_000, "close sessions"),
  TOO_MANY_TICKETS(RefusalCategory.RESOURCE, 50, "poll or cancel tickets"),
  TOO_MANY_LEASES(RefusalCategory.RESOURCE, 50, "release leases"),

  SESSION_SUPERSEDED(RefusalCategory.STALE, 0, "stop this process, its successor runs"),
  SESSION(RefusalCategory.STALE, 0, "register again"),
  LEASE_GONE(RefusalCategory.STALE, 0, "query again"),
  TICKET_GONE(RefusalCategory.STALE, 0, "query again"),

  DRAINING(RefusalCategory.UNAVAILABLE, 0, "go on without the cache, reconnect later"),
  STARTING(RefusalCategory.UNAVAILABLE, 100, "retry later"),
  PREDECESSOR_DRAINING(RefusalCategory.UNAVAILABLE, 200, "retry later"),

  VERIFY_FAILED(RefusalCategory.INTERNAL, 0, "recompute, and check the host's memory"),
  COPY_FAILED(RefusalCategory.INTERNAL, 0, "recompute");

  private final RefusalCategory category;
  private final long retryAfterMillis;
  private final String remedy;

  RefusalCode(RefusalCategory category, long retryAfterMillis, String remedy) {
    this.category = category;
    this.retryAfterMillis = retryAfterMillis;
    this.remedy = remedy;
  }

  public RefusalCategory category() {
    return category;
  }

  /** The usual hint, milliseconds; 0 when waiting does not help. */
  public long retryAfterMillis() {
    return retryAfterMillis;
  }

  public String remedy() {
    return remedy;
  }
}
