package io.orbitkv.manager.replay;

import io.orbitkv.journal.JournalOptions;
import io.orbitkv.state.HostEvent;
import io.orbitkv.state.HostEvent.AbortReason;
import io.orbitkv.state.HostEvent.CleanupReason;
import io.orbitkv.state.HostEvent.EvictionCause;
import io.orbitkv.state.HostEvent.LeaseEnd;
import io.orbitkv.state.HostEvent.Operation;
import io.orbitkv.state.HostEvent.RefusalCategory;
import io.orbitkv.state.HostEvent.RestoreOutcome;
import io.orbitkv.state.HostEvent.SessionEnd;
import io.orbitkv.state.Keys;
import io.orbitkv.state.LongRanges;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Writes the journal of a busy host: conversations whose prompts grow turn by turn, two engines, an
 * exact LRU, restores, a crash in the middle, now and then a refusal. The same seed gives the same
 * facts. {@code main} writes one of any length to look at.
 */
final class BusyJournal {
  private static final int CONVERSATIONS = 60;
  private static final int DIGEST_EVERY = 2_000;

  private final JournalScript script;
  private final Random random;
  private final long[] sessions = new long[2];
  private final Map<Long, Long> lru = new LinkedHashMap<>(16, 0.75f, true);
  private final List<List<Long>> conversations = new ArrayList<>();
  private long nextKey = 1;
  private long nextRequest = 1;
  private long sinceDigest;

  private BusyJournal(JournalScript script, long seed) {
    this.script = script;
    this.random = new Random(seed);
    for (int i = 0; i < CONVERSATIONS; i++) {
      conversations.add(new ArrayList<>());
    }
  }

  /** Writes at least so many facts. */
  static void write(Path dir, long seed, long facts, JournalOptions options) throws IOException {
    write(dir, seed, facts, options, () -> {});
  }

  static void write(Path dir, long seed, long facts, JournalOptions options, Runnable beforeClose)
      throws IOException {
    try (JournalScript script = JournalScript.open(dir, options, 128L << 20)) {
      BusyJournal journal = new BusyJournal(script, seed);
      journal.start();
      boolean crashed = false;
      while (script.state.position() < facts) {
        if (!crashed && script.state.position() > facts * 6 / 10) {
          crashed = true;
          journal.crash();
        }
        journal.turn((double) script.state.position() / facts);
      }
      script.digest();
      beforeClose.run();
    }
  }

  /** Writes a journal to look at: DIR FACTS. */
  public static void main(String[] arguments) throws IOException {
    write(
        Path.of(arguments[0]),
        1,
        Long.parseLong(arguments[1]),
        JournalOptions.DEFAULT.withPartBytes(64 << 20));
  }

  private void start() {
    script.epoch();
    int namespace = script.bind("llama-70b", "bf16", 1, 1);
    for (int i = 0; i < 2; i++) {
      sessions[i] = script.connect(script.register("vllm-" + i, namespace), 0);
    }
  }

  private void crash() {
    if (script.freeExtents() == 0) {
      long victim = lru.values().iterator().next();
      script.evict(victim, 1, EvictionCause.CAPACITY, sessions[0], "cut");
    }
    long copying = script.reserve(sessions[0], "cut", 0, 0, key(nextKey++));
    script.pass(3_000_000);
    script.epoch();
    script.abort(copying, AbortReason.RESTART);
    for (long session : sessions) {
      script.add(new HostEvent.SessionClosed(session, SessionEnd.RESTART));
    }
    script.add(
        new HostEvent.BlocksEvicted(script.state.liveBlockIds(), EvictionCause.RESTART, 0, ""));
    script
        .state
        .instances()
        .forEach(
            each -> script.add(new HostEvent.InstanceCleaned(each.id(), CleanupReason.RESTART)));
    script
        .state
        .namespaces()
        .forEach(each -> script.add(new HostEvent.NamespaceUnbound(each.id())));
    lru.clear();
    int namespace = script.bind("llama-70b", "bf16", 1, 1);
    for (int i = 0; i < 2; i++) {
      sessions[i] = script.connect(script.register("vllm-" + i, namespace), 0);
    }
  }

  private void turn(double share) {
    double load = 1.2 + Math.sin(share * 25);
    script.pass((long) (random.nextInt(40_000) / load) + 500);
    List<Long> prompt = conversations.get(random.nextInt(CONVERSATIONS));
    if (prompt.size() > 80) {
      prompt.clear();
    }
    int grown = 1 + random.nextInt(12);
    for (int i = 0; i < grown; i++) {
      prompt.add(nextKey++);
    }
    long session = sessions[random.nextInt(2)];
    String request = "req-%06d".formatted(nextRequest++);
    if (random.nextInt(400) == 0) {
      script.add(
          new HostEvent.RequestRefused(
              session,
              request,
              Operation.QUERY,
              RefusalCategory.RESOURCE,
              "BUDGET_INSTANCE: too much"));
    }
    int hit = query(session, request, prompt);
    publish(session, request, prompt.subList(hit, prompt.size()));
    if (script.state.position() - sinceDigest > DIGEST_EVERY) {
      sinceDigest = script.state.position();
      script.digest();
    }
  }

  private int query(long session, String request, List<Long> prompt) {
    LongRanges.Builder found = new LongRanges.Builder();
    int hit = 0;
    while (hit < prompt.size()) {
      Long block = lru.get(prompt.get(hit));
      if (block == null) {
        break;
      }
      found.add(block);
      hit++;
    }
    int most = Math.min(prompt.size(), hit + 64);
    var answer =
        new HostEvent.GroupAnswer(
            0, prompt.size(), hit, keys(prompt.subList(hit, most)), prompt.size() - most);
    if (hit == 0) {
      script.add(new HostEvent.QueryMissed(session, request, List.of(answer)));
      return 0;
    }
    long lease = script.lease(session, request, found.build(), answer);
    long restore = script.restore(session, lease, hit);
    long micros = 60L * hit + random.nextInt(400) + (random.nextInt(50) == 0 ? 9_000 : 0);
    script.pass(micros);
    script.add(
        new HostEvent.RestoreFinished(
            restore, RestoreOutcome.DONE, (long) hit * JournalScript.EXTENT_BYTES, micros));
    script.release(lease, random.nextInt(300) == 0 ? LeaseEnd.EXPIRED : LeaseEnd.RELEASED);
    return hit;
  }

  private void publish(long session, String request, List<Long> fresh) {
    List<Long> wanted = fresh.stream().filter(key -> !lru.containsKey(key)).toList();
    if (wanted.isEmpty()) {
      return;
    }
    int lacking = wanted.size() - script.freeExtents();
    if (lacking > 0) {
      LongRanges.Builder victims = new LongRanges.Builder();
      var oldest = lru.values().iterator();
      for (int i = 0; i < lacking; i++) {
        victims.add(oldest.next());
        oldest.remove();
      }
      script.add(
          new HostEvent.BlocksEvicted(victims.build(), EvictionCause.CAPACITY, session, request));
    }
    long first = script.state.nextBlockId();
    long publish = script.reserve(session, request, 0, 0, keys(wanted));
    script.pass(150L * wanted.size() + random.nextInt(2_000));
    if (random.nextInt(500) == 0) {
      script.abort(publish, AbortReason.COPY_FAILED);
      return;
    }
    script.published(publish);
    for (Long key : wanted) {
      lru.put(key, first++);
    }
  }

  private static Keys key(long key) {
    return keys(List.of(key));
  }

  private static Keys keys(List<Long> keys) {
    if (keys.isEmpty()) {
      return Keys.EMPTY;
    }
    ByteBuffer packed = ByteBuffer.allocate(keys.size() * 16);
    for (long key : keys) {
      packed.putLong(key * 0x9E3779B97F4A7C15L).putLong(key);
    }
    return Keys.ofPacked(16, packed.array());
  }
}
