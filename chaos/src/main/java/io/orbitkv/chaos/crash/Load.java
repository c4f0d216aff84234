package io.orbitkv.chaos.crash;

import io.orbitkv.chaos.crash.Told.Promise;
import io.orbitkv.journal.JournalReader;
import io.orbitkv.journal.Replay;
import io.orbitkv.journal.ReplayHooks;
import io.orbitkv.journal.ReplayOptions;
import io.orbitkv.journal.Replayer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.ToLongFunction;

/** Some load clients on one daemon, and the journal that has to bear out what they were told. */
public final class Load implements AutoCloseable {
  private final long seed;
  private final Told told = new Told();
  private final List<LoadClient> clients = new ArrayList<>();
  private final List<Thread> threads = new ArrayList<>();
  private final JournalWitness witness;
  private long promises;

  /** Starts clients on a daemon that serves. */
  public Load(String socket, Path journal, int count, long seed) throws IOException {
    this.seed = seed;
    witness = new JournalWitness(journal);
    for (int i = 0; i < count; i++) {
      LoadClient client = new LoadClient(socket, i, seed, told);
      clients.add(client);
      threads.add(Thread.ofPlatform().daemon().name("load-" + i).start(client));
    }
  }

  /** Requests that were completed. */
  public long operations() {
    return sum(LoadClient::operations);
  }

  /** Uses of a dead epoch's lease that were refused as STALE. */
  public long deadRefused() {
    return sum(LoadClient::deadRefused);
  }

  /** Refusals because the journal's disk was full that the least refused client saw. */
  public long leastJournalFull() {
    return clients.stream().mapToLong(LoadClient::journalFull).min().orElse(0);
  }

  /** Operations of the client that completed the fewest. */
  public long leastOperations() {
    return clients.stream().mapToLong(LoadClient::operations).min().orElse(0);
  }

  /** Promises that were found in the journal. */
  public long promises() {
    return promises;
  }

  /** The oldest of the epochs in which the clients were last served. */
  public long servedEpoch() {
    return clients.stream().mapToLong(LoadClient::servedEpoch).min().orElse(0);
  }

  /** What clients were told so far, to be looked for later. */
  List<Promise> take() {
    return told.take();
  }

  /**
   * Says if a client saw a broken promise by itself.
   *
   * @throws AssertionError with the reason
   */
  public void check(String when) {
    for (LoadClient client : clients) {
      Throwable failure = client.failure();
      if (failure != null) {
        throw new AssertionError(
            "seed %d, %s: a client saw a broken promise".formatted(seed, when), failure);
      }
    }
  }

  /**
   * Looks in the journal for everything that was told. The daemon must have ended, or the clients.
   *
   * @throws AssertionError naming what is missing
   */
  public void checkJournal(String when) throws IOException {
    List<Promise> now = told.take();
    witness.readOn();
    List<Promise> missing = witness.missing(now);
    if (!missing.isEmpty()) {
      throw new AssertionError(
          "seed %d, %s: told and not in the journal: %s".formatted(seed, when, missing));
    }
    promises += now.size();
  }

  /** Ends the clients. */
  public void stop() throws InterruptedException {
    clients.forEach(LoadClient::stop);
    for (Thread thread : threads) {
      thread.join(10_000);
    }
    check("at the end");
  }

  /**
   * Folds the whole journal with every check.
   *
   * @throws AssertionError if it does not fold to all that was read
   */
  public Replay fold(Path journal) throws IOException {
    Replay replay =
        Replayer.run(JournalReader.open(journal), ReplayOptions.VERIFY, ReplayHooks.NONE);
    if (!replay.clean() || replay.state().position() != witness.facts()) {
      throw new AssertionError("seed " + seed + ": the journal does not fold: " + replay);
    }
    return replay;
  }

  private long sum(ToLongFunction<LoadClient> figure) {
    return clients.stream().mapToLong(figure).sum();
  }

  @Override
  public void close() {
    clients.forEach(LoadClient::close);
  }
}
