package io.orbitkv.state;

/** A registered instance. */
public final class KnownInstance {
  private final long id;
  private final String name;
  private final int namespaceId;
  private final long position;
  private final long atMicros;
  int openSessions;

  KnownInstance(long id, String name, int namespaceId, long position, long atMicros) {
    this.id = id;
    this.name = name;
    this.namespaceId = namespaceId;
    this.position = position;
    this.atMicros = atMicros;
  }

  public long id() {
    return id;
  }

  public String name() {
    return name;
  }

  public int namespaceId() {
    return namespaceId;
  }

  /** The position of the fact that registered it. */
  public long position() {
    return position;
  }

  /** When it registered, microseconds since 1970. */
  public long atMicros() {
    return atMicros;
  }

  /** Open sessions, superseded ones that still drain among them. */
  public int openSessions() {
    return openSessions;
  }

  long digestPart() {
    long hash = Mix.chain(Mix.chain(Mix.chain(id ^ 0x1A57A9CEL, name), namespaceId), position);
    return Mix.mix(Mix.chain(hash, atMicros));
  }

  @Override
  public String toString() {
    return "instance " + id + " " + name;
  }
}
