package io.orbitkv.client.wire;

/** Bits of the flags byte of submissions, per operation, and of completions. */
public final class Flags {
  /** QUERY: wait under a ticket for blocks that are on their way. */
  public static final int QUERY_WAIT = 1;

  /** QUERY: tell what could be restored, lease nothing. */
  public static final int QUERY_DISCOVER = 2;

  /** QUERY with WAIT, PREPARE: a pending one of the same request name ends for this one. */
  public static final int QUERY_REPLACE = 4;

  /** CANCEL: the handle is a request id, not a ticket. */
  public static final int CANCEL_BY_REQUEST = 1;

  /** RESTORE: count finished layers in the slot's header. */
  public static final int RESTORE_PROGRESS = 1;

  /** RESTORE: release the lease when the restore ends. */
  public static final int RESTORE_RELEASE = 2;

  /** Completion: a notice of the same request follows. */
  public static final int MORE = 1;

  /** Completion: the notice of a ticket. */
  public static final int NOTICE = 2;

  /** Completion: the payload is a refusal text. */
  public static final int TEXT = 4;

  private Flags() {}
}
