package io.orbitkv.catalog.inventory;

import io.orbitkv.state.catalog.NodeId;
import io.orbitkv.state.identity.BlockHash;
import io.orbitkv.state.identity.Namespace;
import io.orbitkv.state.identity.StateKey;
import java.nio.ByteBuffer;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;

/** What tests of inventories share. */
final class Rows {
  static final Namespace NAMESPACE = new Namespace("model@test");

  private Rows() {}

  static StateKey key(long n) {
    byte[] hash = ByteBuffer.allocate(8).putLong(n).array();
    return new StateKey(NAMESPACE, 0, BlockHash.read(hash, 0, 8));
  }

  static OwnerRun run(String node, long epoch) {
    return new OwnerRun(new NodeId(node), new UUID(node.hashCode(), epoch), epoch);
  }

  /** One row for each number, as key(number) in DRAM at a generation. */
  static RowBatch seals(long generation, int offset, long... numbers) {
    RowBatch.Builder rows = new RowBatch.Builder(numbers.length);
    for (long number : numbers) {
      Fingerprint key = Fingerprint.of(key(number));
      rows.add(key.high(), key.low(), generation, 4, offset, Tier.DRAM.code(), false);
    }
    return rows.build();
  }

  static RowBatch removals(long generation, int offset, long... numbers) {
    RowBatch.Builder rows = new RowBatch.Builder(numbers.length);
    for (long number : numbers) {
      Fingerprint key = Fingerprint.of(key(number));
      rows.add(key.high(), key.low(), generation, 0, offset, Tier.DRAM.code(), true);
    }
    return rows.build();
  }

  /** The rows that lookups see of a node: key and tier to generation. */
  static Map<String, Long> visible(InventoryTable table, NodeId node) {
    Map<String, Long> rows = new TreeMap<>();
    table.forEach(
        (owner, key, tier, generation, kib) -> {
          if (owner.node().equals(node) && rows.put(name(key, tier), generation) != null) {
            throw new AssertionError("twice: " + name(key, tier));
          }
        });
    return rows;
  }

  static String name(Fingerprint key, Tier tier) {
    return key + "/" + tier;
  }
}
