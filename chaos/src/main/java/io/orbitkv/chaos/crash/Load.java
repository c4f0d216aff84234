package io.orbitkv.chaos.crash;

import io.orbitkv.chaos.crash.Told.Promise;
import io.orbitkv.journal.JournalReader;
import io.orbitkv.journal.Replay;
import io.orbitkv.journal.ReplayHooks;
import io.orbitkv.journal.ReplayOptions;
import io.orbitkv.journal.Replayer;
import io.orbitkv.manager.workload.EngineShape;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/** Some load clients on one daemon, and the journal that has to bear out what they were told. */
public final class Load implements AutoCloseable {
  private static final int PAUSE_SECONDS = 60;
  private static final long DEEP_CHECKS = 2_000;

  private final long seed;
  private final Told told = new Told();
  private final List<LoadEngine> clients = new ArrayList<>();
  private final List<Thread> threads = new ArrayList<>();
  private final JournalWitness witness;
  private @Nullable LoadEngine python;
  private long promises;

  /** Starts clients on a daemon that serves. */
  public Load(String socket, Path journal, int count, long seed) throws IOException {
    this(socket, journal, count, LoadMix.MEMORY, seed);
  }

  /** Starts clients that ask for something else. */
  public Load(String socket, Path journal, int count, LoadMix mix, long seed) throws IOException {
    this.seed = seed;
    witness = new JournalWitness(journal);
    for (int i = 0; i < count; i++) {
      begin(new LoadClient(socket, i, mix, seed, told));
    }
  }

  private void begin(LoadEngine engine) {
    clients.add(engine);
    threads.add(Thread.ofPlatform().daemon().name("load-" + threads.size()).start(engine));
  }

  /**
   * Adds an engine that uses the Python client.
   *
   * @param dir where its script and its log go
   * @return false where there is no Python client
   */
  public boolean addPython(String socket, Path dir) throws IOException {
    Optional<Path> sources = PythonEngine.sources();
    if (sources.isPresent()) {
      python = PythonEngine.start(sources.get(), dir, socket, LoadMix.MEMORY, seed, told);
      begin(python);
    }
    return sources.isPresent();
  }

  /** Requests that the engine with the Python client completed, 0 if there is none. */
  public long pythonOperations() {
    LoadEngine engine = python;
    return engine == null ? 0 : engine.operations();
  }

  /** An engine whose blocks are those of the load. */
  public static EngineShape shape(String instance) {
    return LoadClient.shape(instance);
  }

  /**
   * Holds every client back after what it is at; returns when all are.
   *
   * @throws AssertionError if one does not come to an end
   */
  public void pause() throws InterruptedException {
    clients.forEach(client -> client.pause(true));
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PAUSE_SECONDS);
    while (!clients.stream().allMatch(LoadEngine::paused)) {
      check("a pause");
      if (System.nanoTime() > deadline) {
        throw new AssertionError("a client is at one request for " + PAUSE_SECONDS + " s");
      }
      Thread.sleep(1);
    }
  }

  /** Lets them go on. */
  public void resume() {
    clients.forEach(client -> client.pause(false));
  }

  /** Requests that were completed. */
  public long operations() {
    return sum(LoadEngine::operations);
  }

  /** Uses of a dead epoch's lease that were refused as STALE. */
  public long deadRefused() {
    return sum(LoadEngine::deadRefused);
  }

  /** Refusals because the journal's disk was full that the least refused client saw. */
  public long leastJournalFull() {
    return clients.stream().mapToLong(LoadEngine::journalFull).min().orElse(0);
  }

  /** Operations of the client that completed the fewest. */
  public long leastOperations() {
    return clients.stream().mapToLong(LoadEngine::operations).min().orElse(0);
  }

  /** Promises that were found in the journal. */
  public long promises() {
    return promises;
  }

  /** The oldest of the epochs in which the clients were last served. */
  public long servedEpoch() {
    return clients.stream().mapToLong(LoadEngine::servedEpoch).min().orElse(0);
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
    for (LoadEngine client : clients) {
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
    clients.forEach(LoadEngine::stop);
    for (Thread thread : threads) {
      thread.join(10_000);
    }
    check("at the end");
  }

  /**
   * Folds the whole journal with every check; of a long one the deep check of the whole state is
   * made at some thousand facts and not at each.
   *
   * @throws AssertionError if it does not fold to all that was read
   */
  public Replay fold(Path journal) throws IOException {
    ReplayOptions options =
        ReplayOptions.VERIFY.deepCheckEvery(Math.max(1, witness.facts() / DEEP_CHECKS));
    Replay replay = Replayer.run(JournalReader.open(journal), options, ReplayHooks.NONE);
    if (!replay.clean() || replay.state().position() != witness.facts()) {
      throw new AssertionError("seed " + seed + ": the journal does not fold: " + replay);
    }
    return replay;
  }

  private long sum(ToLongFunction<LoadEngine> figure) {
    return clients.stream().mapToLong(figure).sum();
  }

  @Override
  public void close() {
    clients.forEach(LoadEngine::close);
  }
}
