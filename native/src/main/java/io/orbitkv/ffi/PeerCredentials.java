package io.orbitkv.ffi;

/**
 * Who is at the other end of a Unix socket, as the kernel noted it when the peer connected.
 *
 * @param pid its process in our pid namespace, 0 if it has none there
 * @param uid its effective user
 * @param gid its effective group
 */
public record PeerCredentials(int pid, int uid, int gid) {}
