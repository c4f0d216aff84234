package io.orbitkv.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.state.HostEvent.EvictionCause;
import io.orbitkv.state.Totals.Counter;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * Random legal facts, applied to the state and to {@link ModelHost}, must lead to the same; random
 * facts that mostly are not legal must be refused or leave a state that passes every deep check.
 *
 * <p>{@code -Dorbitkv.test.seed=N} plays one seed, {@code -Dorbitkv.test.runs=N} plays more.
 */
class HostStateFuzzTest {
  private static final int FACTS = 1000;
  private static final int DEFAULT_RUNS = 4;

  @Test
  void shouldAgreeWithTheModel() throws IOException {
    Long seed = Long.getLong("orbitkv.test.seed");
    int runs = seed != null ? 1 : Integer.getInteger("orbitkv.test.runs", DEFAULT_RUNS);
    Set<String> kinds = new HashSet<>();
    for (int run = 0; run < runs; run++) {
      long used = seed != null ? seed : run;
      try {
        new Run(used, kinds).play();
      } catch (AssertionError | RuntimeException e) {
        throw new AssertionError(
            "repeat: ./mvnw -pl state test -Dtest=HostStateFuzzTest -Dorbitkv.test.seed=" + used,
            e);
      }
    }
    if (seed == null) {
      // RegistrationRefused, VerifyFailed and EpochEnded are for the transcripts, LayersBound for
      // its own test.
      assertEquals(40, kinds.size(), () -> "kinds of facts drawn: " + kinds);
    }
  }

  private static final class Run {
    private final Random random;
    private final Set<String> kinds;
    private final ModelHost model = new ModelHost();
    private final FactGenerator facts;
    private final List<String> freed = new ArrayList<>();
    private final ExtentAudit audit = new ExtentAudit();
    private HostState state = new HostState();

    /** Folds the same without keeping the digest, as a replay does. */
    private final HostState deferred = new HostState();

    private long position;
    private final Map<Integer, Long> lastBlockOfSlot = new HashMap<>();
    private int reusedSlots;

    Run(long seed, Set<String> kinds) {
      this.random = new Random(seed);
      this.kinds = kinds;
      this.facts = new FactGenerator(random, model);
    }

    void play() throws IOException {
      for (int i = 0; i < FACTS; i++) {
        HostEvent event = facts.next();
        kinds.add(event.getClass().getSimpleName());
        model.apply(event);
        freed.clear();
        Fact fact = new Fact(++position, position * 10, event);
        audit.before(fact, state);
        state.apply(fact, new Freed());
        freed.sort(null);
        assertEquals(model.freed, freed, () -> "freed by " + event);
        compare();
        assertEquals(state.digestFromScratch(), state.digest(), () -> "digest after " + event);
        foldDeferred(fact, i);
        if (i % 25 == 0) {
          HostInvariants.checkDeep(state);
          HostState copy = copy(state);
          HostInvariants.checkDeep(copy);
          tryWild();
          state = copy;
        }
      }
      assertTrue(reusedSlots > 0, "no slot was used again");
    }

    private void foldDeferred(Fact fact, int number) {
      if (number % 7 == 0) {
        deferred.deferDigest();
      }
      deferred.apply(fact, Effects.NONE);
      if (number % 10 == 0) {
        assertEquals(state.digest(), deferred.digest(), () -> "deferred digest at " + fact);
        HostInvariants.checkDeep(deferred);
      }
    }

    private final class Freed implements Effects {
      @Override
      public void extentFreed(long offset, int bytes, long generation) {
        audit.extentFreed(offset, bytes, generation);
        facts.freed(offset);
        freed.add("@" + offset + "+" + bytes + " gen " + generation);
      }

      @Override
      public void ssdExtentFreed(int file, long offset, int bytes, long generation) {
        audit.ssdExtentFreed(file, offset, bytes, generation);
        facts.freedOnSsd(file, offset);
        freed.add("ssd " + file + "@" + offset + "+" + bytes + " gen " + generation);
      }
    }

    private void compare() {
      Map<BlockState, Long> states = new TreeMap<>();
      long extents = 0;
      for (Map.Entry<Long, ModelHost.Block> entry : model.blocks.entrySet()) {
        states.merge(entry.getValue().state, 1L, Long::sum);
        extents += entry.getValue().slice.size();
        compare(entry.getKey(), entry.getValue());
      }
      assertEquals(states.getOrDefault(BlockState.RESERVED, 0L), (Long) state.reservedBlocks());
      assertEquals(states.getOrDefault(BlockState.SEALED, 0L), (Long) state.sealedBlocks());
      assertEquals(states.getOrDefault(BlockState.EVICTED, 0L), (Long) state.evictedBlocks());
      assertEquals(extents, state.extents());
      assertEquals(extents * FactGenerator.EXTENT_BYTES, state.extentBytes());
      assertEquals(List.copyOf(model.leases.keySet()), ids(state.leases(), OpenLease::id));
      assertEquals(List.copyOf(model.tickets.keySet()), ids(state.tickets(), OpenTicket::id));
      assertEquals(List.copyOf(model.restores.keySet()), ids(state.restores(), OpenRestore::id));
      assertEquals(List.copyOf(model.publishes.keySet()), ids(state.publishes(), OpenPublish::id));
      assertEquals(List.copyOf(model.peers.grants.keySet()), ids(state.grants(), OpenGrant::id));
      assertEquals(
          List.copyOf(model.peers.reads.keySet()), ids(state.remoteReads(), OpenRemoteRead::id));
      assertEquals(List.copyOf(model.sessions.keySet()), ids(state.sessions(), OpenSession::id));
      assertEquals(
          List.copyOf(model.instances.keySet()), ids(state.instances(), KnownInstance::id));
      Totals totals = state.totals();
      assertEquals(model.counted("queries"), totals.get(Counter.QUERIES));
      assertEquals(model.counted("asked"), totals.get(Counter.ASKED_BLOCKS));
      assertEquals(model.counted("hit"), totals.get(Counter.HIT_BLOCKS));
      assertEquals(model.counted("sealed"), totals.get(Counter.SEALED_BLOCKS));
      assertEquals(model.counted("bytes"), totals.get(Counter.PUBLISHED_BYTES));
      long evicted = 0;
      for (EvictionCause cause : EvictionCause.values()) {
        evicted += totals.evictedBlocks(cause);
      }
      assertEquals(model.counted("evicted"), evicted);
    }

    private void compare(long id, ModelHost.Block block) {
      int slot = state.slotOf(id);
      assertTrue(slot >= 0, () -> "block " + id + " is missing");
      Long before = lastBlockOfSlot.put(slot, id);
      reusedSlots += before != null && before < id ? 1 : 0;
      assertEquals(block.state, state.blockState(slot));
      assertEquals(model.pins(id), state.pins(slot), () -> "pins of block " + id);
      byte[] key = ModelHost.bytes(block.key);
      int found = state.findSlot(block.namespaceId, block.groupId, key, 0, key.length);
      Long expected = facts.findable(block.namespaceId, block.groupId, block.key);
      assertEquals(expected == null ? -1 : state.slotOf(expected), found);
      int[] slots = new int[1];
      int run =
          state.findPrefix(
              block.namespaceId, block.groupId, Keys.ofPacked(key.length, key), 0, slots);
      assertEquals(found >= 0 && state.sealed(found) ? 1 : 0, run);
      for (int shard = 0; shard < block.slices; shard++) {
        ModelHost.Slice slice = block.slice.get(shard);
        assertEquals(slice != null, state.reserved(slot, shard));
        ModelTier.Copy onSsd = block.ssd.get(shard);
        assertEquals(onSsd != null, state.onSsd(slot));
        if (onSsd != null) {
          assertEquals(onSsd.file(), state.ssdFile(slot, shard));
          assertEquals(onSsd.offset(), state.ssdOffset(slot, shard));
          assertEquals(onSsd.generation(), state.ssdGeneration(slot, shard));
          assertEquals(onSsd.checksum(), state.checksum(slot, shard));
        }
        if (slice != null) {
          assertEquals(slice.published(), state.present(slot, shard));
          assertEquals(slice.offset(), state.extentOffset(slot, shard));
          assertEquals(slice.generation(), state.extentGeneration(slot, shard));
          assertEquals(slice.checksum(), state.checksum(slot, shard));
        }
      }
    }

    private void tryWild() throws IOException {
      HostState copy = copy(state);
      for (int i = 0; i < 10; i++) {
        Fact fact = new Fact(copy.position() + 1, 0, facts.wild());
        try {
          copy.apply(fact, Effects.NONE);
        } catch (BrokenInvariant refused) {
          assertEquals(fact.position(), refused.position());
          copy = copy(state);
          continue;
        }
        try {
          HostInvariants.checkDeep(copy);
        } catch (BrokenInvariant broken) {
          // Extents are whoever decides' to choose: only the audit sees an overlap at once.
          assertTrue(broken.toString().contains("overlaps"), broken::toString);
          copy = copy(state);
        }
      }
    }
  }

  private static <T> List<Long> ids(List<T> entries, java.util.function.ToLongFunction<T> id) {
    return entries.stream().mapToLong(id).boxed().toList();
  }

  private static HostState copy(HostState state) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    state.writeTo(new DataOutputStream(bytes));
    HostState copy =
        HostState.readFrom(new DataInputStream(new ByteArrayInputStream(bytes.toByteArray())));
    assertEquals(state.digest(), copy.digest());
    assertEquals(StateText.print(state), StateText.print(copy));
    return copy;
  }
}
