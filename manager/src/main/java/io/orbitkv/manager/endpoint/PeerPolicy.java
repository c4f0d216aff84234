package io.orbitkv.manager.endpoint;

import io.orbitkv.ffi.PeerCredentials;
import io.orbitkv.ffi.Posix;

/** Which processes are served, by what the kernel says of them. */
final class PeerPolicy {
  private static final int GROUP_WRITE = 0020;

  private final EndpointOptions options;
  private final int ownUid = Posix.userId();
  private final int ownGid = Posix.groupId();

  PeerPolicy(EndpointOptions options) {
    this.options = options;
  }

  boolean allows(PeerCredentials peer) {
    boolean group = (options.socketMode() & GROUP_WRITE) != 0 && peer.gid() == ownGid;
    return peer.uid() == ownUid
        || peer.uid() == 0
        || group
        || options.allowedUids().contains(peer.uid())
        || options.allowedGids().contains(peer.gid());
  }
}
