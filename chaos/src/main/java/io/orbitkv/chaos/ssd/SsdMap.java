package io.orbitkv.chaos.ssd;

import io.orbitkv.journal.FactCursor;
import io.orbitkv.journal.JournalReader;
import io.orbitkv.state.Fact;
import io.orbitkv.state.HostEvent;
import io.orbitkv.state.HostEvent.LoadFailure;
import io.orbitkv.state.HostState;
import io.orbitkv.state.LongRanges;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/**
 * Which keys the facts of a journal say lie on SSD: a literal model of its own, which knows nothing
 * of {@link HostState}. Reads on as the journal grows over many daemon runs.
 */
final class SsdMap {
  private final JournalReader reader;
  private final Map<Long, String> keys = new HashMap<>();
  private final Set<Long> onSsd = new TreeSet<>();
  private long nextPosition = 1;

  SsdMap(Path journal) throws IOException {
    reader = JournalReader.open(journal);
  }

  /**
   * Reads what was appended since the last call.
   *
   * @throws AssertionError if the journal is damaged anywhere but at its torn tail
   */
  void readOn() throws IOException {
    try (FactCursor cursor = reader.from(nextPosition)) {
      for (FactCursor.Step step = cursor.next(); ; step = cursor.next()) {
        switch (step) {
          case FACT -> see(cursor.fact());
          case DAMAGED ->
              throw new AssertionError("the journal is damaged: " + cursor.corruption().describe());
          case END -> {
            return;
          }
        }
      }
    }
  }

  /** Facts read so far. */
  long facts() {
    return nextPosition - 1;
  }

  /** The keys, in hexadecimal digits. */
  Set<String> keys() {
    Set<String> hex = new TreeSet<>();
    for (long id : onSsd) {
      String key = keys.get(id);
      if (key == null) {
        throw new AssertionError("block " + id + " lies on SSD and was never reserved");
      }
      hex.add(key);
    }
    return hex;
  }

  /** The same of a fold. */
  static Set<String> keys(HostState state) {
    Set<String> hex = new TreeSet<>();
    state.forEachBlock(
        slot -> {
          if (state.onSsd(slot)) {
            byte[] key = new byte[state.keyBytes(slot)];
            state.copyKey(slot, key, 0);
            hex.add(HexFormat.of().formatHex(key));
          }
        });
    return hex;
  }

  private void see(Fact fact) {
    nextPosition = fact.position() + 1;
    switch (fact.event()) {
      case HostEvent.SlicesReserved reserved -> {
        int next = 0;
        for (int i = 0; i < reserved.blocks().size(); i++) {
          long id = reserved.blocks().idAt(i);
          if (id >= reserved.firstNewBlockId()) {
            keys.put(id, reserved.newKeys().hex(next++));
          }
        }
      }
      case HostEvent.SsdWritten written -> written.blocks().forEach(onSsd::add);
      case HostEvent.SsdEvicted evicted -> evicted.blocks().forEach(onSsd::remove);
      case HostEvent.LoadFailed failed -> {
        if (failed.reason() != LoadFailure.CANCELLED && failed.reason() != LoadFailure.RESTART) {
          failed.blocks().forEach(onSsd::remove);
        }
      }
      case HostEvent.BlocksEvicted evicted -> forget(evicted.blocks());
      case HostEvent.EpochStarted _,
          HostEvent.EpochEnded _,
          HostEvent.NamespaceBound _,
          HostEvent.NamespaceUnbound _,
          HostEvent.InstanceRegistered _,
          HostEvent.InstanceCleaned _,
          HostEvent.SessionOpened _,
          HostEvent.SessionClosed _,
          HostEvent.SlicesPublished _,
          HostEvent.PublishAborted _,
          HostEvent.LeaseGranted _,
          HostEvent.LeaseReleased _,
          HostEvent.TicketOpened _,
          HostEvent.TicketClosed _,
          HostEvent.RestoreStarted _,
          HostEvent.RestoreFinished _,
          HostEvent.TierFact _,
          HostEvent.PeerFact _,
          HostEvent.Observation _ -> {}
    }
  }

  private void forget(LongRanges blocks) {
    blocks.forEach(
        id -> {
          onSsd.remove(id);
          keys.remove(id);
        });
  }
}
