package io.orbitkv.catalog.membership;

import io.orbitkv.catalog.calls.Endpoint;
import io.orbitkv.catalog.inventory.OwnerRun;
import io.orbitkv.state.catalog.NodeId;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * What a live host says of itself, under a lease. In etcd it is text, one {@code name=value} a
 * line.
 *
 * @param node its node id
 * @param peer where peers call it
 * @param catalog where its Raft server listens
 * @param transfer where its bytes are read
 * @param carrier what moves them
 * @param runtime drawn at its start
 * @param epoch how often this node id was started, from 1
 * @param formatVersion the version of what it says to others
 */
public record MemberRecord(
    NodeId node,
    Endpoint peer,
    Endpoint catalog,
    Endpoint transfer,
    TransferCarrier carrier,
    UUID runtime,
    long epoch,
    int formatVersion) {

  /** The run that it describes. */
  public OwnerRun run() {
    return new OwnerRun(node, runtime, epoch);
  }

  String toText() {
    return Text.write(
        Map.of(
            "node", node.toString(),
            "peer", peer.toString(),
            "catalog", catalog.toString(),
            "transfer", transfer.toString(),
            "carrier", carrier.name(),
            "pool", Long.toUnsignedString(carrier.poolAddress(), 16),
            "runtime", runtime.toString(),
            "epoch", Long.toString(epoch),
            "format", Integer.toString(formatVersion)));
  }

  /** Reads a record; nothing when it is none. */
  static Optional<MemberRecord> parse(String text) {
    Map<String, String> fields = Text.read(text);
    try {
      return Optional.of(
          new MemberRecord(
              new NodeId(fields.getOrDefault("node", "")),
              Endpoint.parse(fields.getOrDefault("peer", "")).orElseThrow(),
              Endpoint.parse(fields.getOrDefault("catalog", "")).orElseThrow(),
              Endpoint.parse(fields.getOrDefault("transfer", "")).orElseThrow(),
              new TransferCarrier(
                  fields.getOrDefault("carrier", "tcp"),
                  Long.parseUnsignedLong(fields.getOrDefault("pool", "0"), 16)),
              UUID.fromString(fields.getOrDefault("runtime", "")),
              Long.parseLong(fields.getOrDefault("epoch", "")),
              Integer.parseInt(fields.getOrDefault("format", ""))));
    } catch (IllegalArgumentException | java.util.NoSuchElementException e) {
      return Optional.empty();
    }
  }
}
