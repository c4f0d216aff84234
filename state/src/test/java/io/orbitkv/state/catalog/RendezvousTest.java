package io.orbitkv.state.catalog;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RendezvousTest {
  @Test
  void shouldChooseTheSameForEveryoneWhateverTheOrder() {
    List<NodeId> hosts = new ArrayList<>(hosts(9));
    List<NodeId> members = Rendezvous.members(7, hosts, 3);
    Collections.shuffle(hosts, new Random(1));
    assertEquals(members, Rendezvous.members(7, hosts, 3));
    assertEquals(
        List.of(new NodeId("host-4"), new NodeId("host-3"), new NodeId("host-1")),
        Rendezvous.members(9, hosts(5), 3),
        "fixed for ever: every host computes it by itself");
  }

  @Test
  void shouldMoveOnlyWhatALostHostHeld() {
    List<NodeId> hosts = hosts(8);
    for (NodeId lost : hosts) {
      List<NodeId> left = hosts.stream().filter(host -> !host.equals(lost)).toList();
      for (int shard = 0; shard < CatalogShards.COUNT; shard++) {
        List<NodeId> before = Rendezvous.members(shard, hosts, 3);
        List<NodeId> after = Rendezvous.members(shard, left, 3);
        HashSet<NodeId> kept = new HashSet<>(before);
        kept.retainAll(after);
        assertEquals(before.contains(lost) ? 2 : 3, kept.size(), lost + " of shard " + shard);
      }
    }
  }

  @Test
  void shouldSpreadCatalogShards() {
    int[] held = new int[4];
    List<NodeId> hosts = hosts(4);
    for (int shard = 0; shard < CatalogShards.COUNT; shard++) {
      for (NodeId member : Rendezvous.members(shard, hosts, 3)) {
        held[hosts.indexOf(member)]++;
      }
    }
    assertEquals(48, IntStream.of(held).sum());
    assertTrue(IntStream.of(held).allMatch(each -> each >= 8), Arrays.toString(held));
  }

  @Test
  void shouldTakeAllHostsWhereThereAreFew() {
    assertEquals(2, Rendezvous.members(1, hosts(2), 3).size());
    assertThrows(
        IllegalArgumentException.class, () -> Rendezvous.members(1, List.of(), 3), "no host");
    assertThrows(IllegalArgumentException.class, () -> Rendezvous.members(1, hosts(1), 0));
  }

  static List<NodeId> hosts(int count) {
    return IntStream.range(0, count).mapToObj(i -> new NodeId("host-" + i)).toList();
  }
}
