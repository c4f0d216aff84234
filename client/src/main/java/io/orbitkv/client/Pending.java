package io.orbitkv.client;

import io.orbitkv.client.wire.ChannelLayout;
import io.orbitkv.client.wire.Op;
import io.orbitkv.client.wire.Refusal;
import io.orbitkv.client.wire.Status;
import org.jspecify.annotations.Nullable;

/**
 * A request that was submitted, and its answer once it is there. Guarded by the lock of its {@link
 * ChannelDriver}.
 */
final class Pending {
  private static final byte[] NO_REPLY = new byte[0];

  final Op op;
  final long requestId;
  int slot;
  int payloadBytes;

  /** Its last completion was read, or its session was lost; for a waiting query the first. */
  boolean done;

  /** Its caller gave up; the slot is kept until the completion comes. */
  boolean abandoned;

  /** A notice is owed. */
  boolean noticeDue;

  /** It was answered LOADING; its notice may be there before its caller looks. */
  boolean waits;

  /** The session ended first; {@link #status} means nothing then. */
  @Nullable Refusal lost;

  Status status = Status.FAILED;
  int category;
  int code;
  int retryAfterMillis;
  long handle;
  long value;
  boolean text;
  byte[] reply = NO_REPLY;
  int layersTotal;

  Pending(Op op, long requestId) {
    this.op = op;
    this.requestId = requestId;
    this.slot = ChannelLayout.NO_SLOT;
  }
}
