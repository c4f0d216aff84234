package io.orbitkv.core;

import io.orbitkv.core.remote.PeerRun;
import io.orbitkv.state.HostEvent.GrantEnd;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** A peer's right to read, until it has drained; due when it expires. */
final class LiveGrant extends Timer {
  final long id;
  final UUID uuid;
  final PeerRun peer;
  final long bytes;

  /** Why it was revoked, null while it lives. */
  @Nullable GrantEnd revoked;

  LiveGrant(long id, UUID uuid, PeerRun peer, long bytes) {
    this.id = id;
    this.uuid = uuid;
    this.peer = peer;
    this.bytes = bytes;
  }
}
