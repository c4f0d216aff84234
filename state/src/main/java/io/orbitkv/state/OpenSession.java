package io.orbitkv.state;

import io.orbitkv.state.HostEvent.SessionRole;

/** A session that has not been closed, and how much it holds. */
public final class OpenSession {
  private final long id;
  private final KnownInstance instance;
  private final int shard;
  private final SessionRole role;
  private final int pid;
  private final int uid;
  private final long position;
  private final long atMicros;
  long supersededBy;
  int leases;
  int tickets;
  int publishes;
  int restores;

  OpenSession(
      long id,
      KnownInstance instance,
      int shard,
      SessionRole role,
      int pid,
      int uid,
      long position,
      long atMicros) {
    this.id = id;
    this.instance = instance;
    this.shard = shard;
    this.role = role;
    this.pid = pid;
    this.uid = uid;
    this.position = position;
    this.atMicros = atMicros;
  }

  public long id() {
    return id;
  }

  public KnownInstance instance() {
    return instance;
  }

  public int namespaceId() {
    return instance.namespaceId();
  }

  public int shard() {
    return shard;
  }

  public SessionRole role() {
    return role;
  }

  public int pid() {
    return pid;
  }

  public int uid() {
    return uid;
  }

  /** The position of the fact that opened it. */
  public long position() {
    return position;
  }

  /** When it was opened, microseconds since 1970. */
  public long atMicros() {
    return atMicros;
  }

  /** The session that replaced it while it drains, 0 if none: it may finish things, begin none. */
  public long supersededBy() {
    return supersededBy;
  }

  public int leases() {
    return leases;
  }

  public int tickets() {
    return tickets;
  }

  public int publishes() {
    return publishes;
  }

  public int restores() {
    return restores;
  }

  long digestPart() {
    long hash = Mix.chain(Mix.chain(id ^ 0x5E5510E0L, instance.id()), shard);
    hash = Mix.chain(Mix.chain(hash, role.name()), ((long) pid << 32) ^ uid);
    hash = Mix.chain(Mix.chain(hash, position), atMicros);
    return Mix.mix(Mix.chain(hash, supersededBy));
  }

  @Override
  public String toString() {
    return "session " + id + " of " + instance;
  }
}
