package io.orbitkv.chaos.crash;

import io.orbitkv.chaos.crash.Told.Promise;
import io.orbitkv.journal.FactCursor;
import io.orbitkv.journal.JournalReader;
import io.orbitkv.state.Fact;
import io.orbitkv.state.HostEvent;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.LongStream;

/** Reads a journal as it grows over many daemon runs and remembers which promises stand in it. */
final class JournalWitness {
  private final JournalReader reader;
  private final Set<Long> sessions = new HashSet<>();
  private final Set<Long> leases = new HashSet<>();
  private final Set<Long> released = new HashSet<>();

  /** How often a key was published in an epoch and nobody was told of it yet. */
  private final Map<StoredKey, Integer> stored = new HashMap<>();

  private final Map<Long, List<String>> keysOfPublish = new HashMap<>();
  private final Map<Long, Long> leaseOfRestore = new HashMap<>();
  private final Set<Long> restoredLeases = new HashSet<>();
  private long nextPosition = 1;
  private long epoch;

  private record StoredKey(String hex, long epoch) {}

  JournalWitness(Path journal) throws IOException {
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

  long facts() {
    return nextPosition - 1;
  }

  /** The promises that do not stand in the journal. */
  List<Promise> missing(List<Promise> promises) {
    List<Promise> missing = new ArrayList<>();
    for (Promise promise : promises) {
      boolean stands =
          switch (promise) {
            case Promise.SessionOpened(long id, _) -> sessions.contains(id);
            case Promise.Stored(String key, long first, long last) ->
                LongStream.rangeClosed(first, last).anyMatch(at -> takeStored(key, at));
            case Promise.Leased(long id, _) -> leases.contains(id);
            case Promise.Restored(long id, _) -> restoredLeases.contains(id);
            case Promise.Released(long id, _) -> released.contains(id);
          };
      if (!stands) {
        missing.add(promise);
      }
    }
    return missing;
  }

  /** One publish is the proof of one promise only. */
  private boolean takeStored(String key, long atEpoch) {
    StoredKey at = new StoredKey(key, atEpoch);
    int left = stored.getOrDefault(at, 0);
    if (left > 0) {
      stored.put(at, left - 1);
    }
    return left > 0;
  }

  private void see(Fact fact) {
    nextPosition = fact.position() + 1;
    switch (fact.event()) {
      case HostEvent.EpochStarted started -> {
        epoch = started.epoch();
        keysOfPublish.clear();
        leaseOfRestore.clear();
      }
      case HostEvent.SessionOpened opened -> sessions.add(opened.sessionId());
      case HostEvent.SlicesReserved reserved -> {
        List<String> keys = new ArrayList<>();
        for (int i = 0; i < reserved.newKeys().size(); i++) {
          keys.add(reserved.newKeys().hex(i));
        }
        keysOfPublish.put(reserved.publishId(), keys);
      }
      case HostEvent.SlicesPublished published -> {
        List<String> keys = keysOfPublish.remove(published.publishId());
        if (keys != null) {
          keys.forEach(key -> stored.merge(new StoredKey(key, epoch), 1, Integer::sum));
        }
      }
      case HostEvent.PublishAborted aborted -> keysOfPublish.remove(aborted.publishId());
      case HostEvent.LeaseGranted granted -> leases.add(granted.leaseId());
      case HostEvent.LeaseReleased end -> released.add(end.leaseId());
      case HostEvent.RestoreStarted started ->
          leaseOfRestore.put(started.restoreId(), started.leaseId());
      case HostEvent.RestoreFinished finished -> {
        Long lease = leaseOfRestore.remove(finished.restoreId());
        if (lease != null && finished.outcome() == HostEvent.RestoreOutcome.DONE) {
          restoredLeases.add(lease);
        }
      }
      case HostEvent.EpochEnded _,
          HostEvent.NamespaceBound _,
          HostEvent.NamespaceUnbound _,
          HostEvent.InstanceRegistered _,
          HostEvent.InstanceCleaned _,
          HostEvent.SessionClosed _,
          HostEvent.BlocksEvicted _,
          HostEvent.TicketOpened _,
          HostEvent.TicketClosed _,
          HostEvent.TierFact _,
          HostEvent.PeerFact _,
          HostEvent.Observation _ -> {}
    }
  }
}
