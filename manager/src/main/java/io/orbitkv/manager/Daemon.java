package io.orbitkv.manager;

import io.orbitkv.core.AdoptionReport;
import io.orbitkv.core.Clock;
import io.orbitkv.core.Inspection;
import io.orbitkv.core.LoopBroken;
import io.orbitkv.core.LoopThread;
import io.orbitkv.core.ManagerLoop;
import io.orbitkv.core.copy.CopyWorkers;
import io.orbitkv.core.copy.StagedCopies;
import io.orbitkv.core.pool.ExtentAllocator;
import io.orbitkv.core.pool.PinnedPool;
import io.orbitkv.core.pool.PoolFile;
import io.orbitkv.core.pool.PoolId;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.journal.Journal;
import io.orbitkv.journal.Recovered;
import io.orbitkv.journal.Recovery;
import io.orbitkv.journal.RecoveryReport;
import io.orbitkv.manager.cluster.Cluster;
import io.orbitkv.manager.config.DaemonConfig;
import io.orbitkv.manager.config.FileTrouble;
import io.orbitkv.manager.config.Quantity;
import io.orbitkv.manager.endpoint.Endpoint;
import io.orbitkv.manager.gpu.Gpus;
import io.orbitkv.manager.http.HttpEndpoint;
import io.orbitkv.manager.http.OperatorApi;
import io.orbitkv.manager.metrics.ChannelMetrics;
import io.orbitkv.manager.metrics.LatencyHistogram;
import io.orbitkv.state.HostState;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The Manager of a host, put together: journal, pool, loop, copy workers, endpoint.
 *
 * <p>It starts in the order in which each part needs the one before: the journal's lock and its
 * recovery, the pool, the loop and its epoch, and the socket last, so that whoever can connect is
 * served. It stops in the reverse order.
 */
public final class Daemon implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(Daemon.class);

  private static final Duration EPOCH_LIMIT = Duration.ofSeconds(60);

  /** What a stop may spend on sparing the next start its fold. */
  private static final Duration CHECKPOINT_LIMIT = Duration.ofSeconds(1);

  private final DaemonConfig config;
  private final ChannelMetrics metrics = new ChannelMetrics();
  private final LatencyHistogram appends = new LatencyHistogram();
  private final Deque<AutoCloseable> toClose = new ArrayDeque<>();
  private final long startedNanos = System.nanoTime();

  private final HostState state;
  private final Journal journal;
  private final RecoveryReport recovery;
  private final PinnedPool pool;
  private final Endpoint endpoint;
  private final Gpus gpus;
  private final Optional<SsdParts> ssd;

  /** Asked by {@code isPresent} only: a method reference would load the class. */
  private final Optional<Cluster> cluster;

  private final AdoptionReport adoption;
  private @Nullable RunningLoop running;
  private final LoopClient loop;
  private final HealthCheck health;
  private final long epoch;
  private final Optional<HttpEndpoint> http;
  private boolean stopped;
  private boolean endedInOrder;

  /**
   * Starts a daemon; when this returns it serves.
   *
   * @param fatal told when the daemon cannot go on; it should end the process
   */
  public static Daemon start(DaemonConfig config, Consumer<Throwable> fatal) throws StartFailure {
    return start(config, LoopWiring.DIRECT, fatal);
  }

  /** Like {@link #start(DaemonConfig, Consumer)}, with what a harness puts around the loop. */
  public static Daemon start(DaemonConfig config, LoopWiring wiring, Consumer<Throwable> fatal)
      throws StartFailure {
    return new Daemon(config, wiring, fatal);
  }

  private Daemon(DaemonConfig config, LoopWiring wiring, Consumer<Throwable> fatal)
      throws StartFailure {
    this.config = config;
    boolean started = false;
    try {
      StartChecks.run(config);
      LOG.info(
          "starting journal={} pool={}: reading the journal",
          config.journalDir(),
          Quantity.bytesText(config.host().poolBytes()));
      Recovered.Opened opened = openJournal(config);
      state = opened.state();
      journal = opened.journal();
      recovery = opened.report();
      toClose.push(this::closeJournal);
      logRecovery(recovery);
      pool = PoolParts.map(config, state);
      toClose.push(pool);
      endpoint = createEndpoint(config, metrics);
      toClose.push(endpoint);
      loop = new LoopClient(endpoint.commands());
      health = new HealthCheck(journal, endpoint.idle(), config.host(), this::uptimeMillis);
      CopyWorkers copies =
          new CopyWorkers(
              config.copyWorkers(), config.host().maxCopiesInFlight(), endpoint.idle()::wake);
      toClose.push(copies);
      StagedCopies staged =
          new StagedCopies(copies, config.host().maxCopiesInFlight(), endpoint.idle()::wake);
      gpus =
          new Gpus(
              wiring::cuda,
              pool.memory(),
              config.ssd().isPresent()
                  ? ExtentAllocator.DIRECT_GRANULE_BYTES
                  : ExtentAllocator.GRANULE_BYTES,
              config.host().maxCopiesInFlight(),
              staged::ended);
      toClose.push(gpus);
      endpoint.offer(gpus);
      health.watch(gpus::problems);
      ssd = openSsd(config, wiring, fatal);
      ssd.ifPresent(toClose::push);
      health.watch(ssd);
      watchFiles();
      TimedLog log = new TimedLog(journal, appends);
      cluster = prepareCluster(log);
      if (cluster.isPresent()) {
        toClose.push(cluster.get());
        health.watch(cluster.get());
      }
      ManagerLoop managerLoop =
          new ManagerLoop(
              config.host(),
              Version.TEXT,
              state,
              wiring.log(log),
              Clock.SYSTEM,
              wiring.commands(endpoint.source(), pool.extents()),
              config.host().eviction().create(),
              pool.extents(),
              pool.memory(),
              wiring.copies(staged, pool.memory()),
              endpoint.listener(),
              ssd.map(parts -> parts.tier(state)).orElse(null),
              pool.id(),
              cluster.isPresent() ? cluster.get().peers() : null);
      adoption = managerLoop.adoption();
      LoopThread thread =
          new LoopThread(managerLoop, endpoint.idle(), broken -> broke(broken, fatal));
      thread.start();
      running = new RunningLoop(thread, loop);
      epoch = awaitEpoch();
      if (cluster.isPresent()) {
        cluster.get().begin();
      }
      http = serveHttp();
      bind(fatal);
      ssd.ifPresent(SsdParts::begin);
      started = true;
      logServing();
    } finally {
      if (!started) {
        abandon();
      }
    }
  }

  /** Gives back what a failed start took. */
  private void abandon() {
    RunningLoop started = running;
    if (started == null || started.end("failed start")) {
      closeAll();
    }
  }

  // ---- parts -----------------------------------------------------------------------------------

  private static Recovered.Opened openJournal(DaemonConfig config) throws StartFailure {
    Path dir = config.journalDir();
    try {
      long nowMicros = Clock.SYSTEM.wallMicros();
      return switch (Recovery.open(
          dir, config.journal().withReserver(new DiskSpace()), nowMicros)) {
        case Recovered.Opened opened -> opened;
        case Recovered.Refused refused ->
            throw new StartFailure(refused.code() + ": " + refused.message(), refused.remedy());
      };
    } catch (IOException failed) {
      throw new StartFailure(
          "the journal in %s cannot be opened: %s".formatted(dir, reason(failed)),
          reason(failed).contains("Too many open files")
              ? "raise the limit of open files (ulimit -n; LimitNOFILE in a unit of systemd)"
              : "choose a directory that this user can write, with --journal",
          failed);
    }
  }

  private static String reason(IOException failed) {
    return switch (failed) {
      case NoSuchFileException missing -> missing.getFile() + " cannot be made";
      case AccessDeniedException denied -> denied.getFile() + " is not this user's to write";
      case FileAlreadyExistsException file -> file.getFile() + " is no directory";
      default -> FileTrouble.text(failed);
    };
  }

  private void watchFiles() {
    String meaning = "nothing in it outlives this process";
    ssd.ifPresent(
        parts -> parts.paths().forEach(path -> health.files().watch("SSD tier", path, meaning)));
    config
        .poolPersist()
        .ifPresent(path -> health.files().watch("pool", PoolFile.at(path), meaning));
  }

  private Optional<SsdParts> openSsd(
      DaemonConfig settings, LoopWiring wiring, Consumer<Throwable> fatal) throws StartFailure {
    if (settings.ssd().isPresent()) {
      return Optional.of(
          SsdParts.open(
              settings.ssd().get(), state, pool.memory(), wiring, endpoint.idle()::wake, fatal));
    }
    if (state.ssdExtents() > 0) {
      LOG.warn(
          "NO SSD TIER, but the journal has one with {} in {} extents: it is dropped; give"
              + " --ssd-cache-path to keep it",
          Quantity.bytesText(state.ssdBytes()),
          state.ssdExtents());
    }
    return Optional.empty();
  }

  private Optional<Cluster> prepareCluster(TimedLog log) throws StartFailure {
    return config.cluster().isEmpty()
        ? Optional.empty()
        : Optional.of(
            Cluster.prepare(
                config.cluster().get(),
                config.journalDir(),
                log::written,
                pool.memory(),
                endpoint.commands()::offer,
                endpoint.idle()::wake));
  }

  private static Endpoint createEndpoint(DaemonConfig config, ChannelMetrics metrics)
      throws StartFailure {
    try {
      return new Endpoint(config.endpoint(), Clock.SYSTEM, config.spinNanos(), metrics);
    } catch (NativeException scarce) {
      throw new StartFailure(
          "no descriptors for the endpoint: " + scarce.getMessage(),
          "raise the limit of open files (ulimit -n)",
          scarce);
    }
  }

  private long awaitEpoch() throws StartFailure {
    Optional<Inspection.Answer> answer = loop.inspect(new Inspection.Status(), EPOCH_LIMIT);
    if (answer.isPresent() && answer.get() instanceof Inspection.StatusAnswer status) {
      return status.epoch();
    }
    throw new StartFailure(
        "the loop did not begin its epoch within " + EPOCH_LIMIT.toSeconds() + " s",
        "look at the log above; the journal's disk may be too slow");
  }

  private Optional<HttpEndpoint> serveHttp() throws StartFailure {
    if (config.http().isEmpty()) {
      return Optional.empty();
    }
    InetSocketAddress address = config.http().get();
    try {
      HttpEndpoint endpointOfOperators = new HttpEndpoint(address);
      toClose.push(endpointOfOperators);
      new OperatorApi(this).addTo(endpointOfOperators);
      endpointOfOperators.start();
      return Optional.of(endpointOfOperators);
    } catch (IOException refused) {
      throw StartChecks.httpRefused(address, String.valueOf(refused.getMessage()));
    }
  }

  private void bind(Consumer<Throwable> fatal) throws StartFailure {
    String path = config.endpoint().socketPath();
    try {
      Path folder = Path.of(path).toAbsolutePath().getParent();
      if (folder != null && !Files.isDirectory(folder)) {
        Files.createDirectories(
            folder,
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
      }
      endpoint.serve(epoch, health::report, fatal);
      health.files().watch("socket", Path.of(path), "no engine can connect any more");
    } catch (NativeException refused) {
      throw StartChecks.socketRefused(refused);
    } catch (IOException failed) {
      throw new StartFailure(
          "the folder of " + path + " cannot be made: " + failed,
          "choose a --socket in a folder that this user can write",
          failed);
    }
  }

  // ---- what others see -------------------------------------------------------------------------

  public DaemonConfig config() {
    return config;
  }

  /** This run's number. */
  public long epoch() {
    return epoch;
  }

  /** The way to ask the loop. */
  public LoopClient loop() {
    return loop;
  }

  /** How the daemon is, without asking the loop. */
  public HealthCheck health() {
    return health;
  }

  public Journal journal() {
    return journal;
  }

  /** How the journal was recovered at the start. */
  public RecoveryReport recovery() {
    return recovery;
  }

  /** What kind of memory the pool is. */
  public String poolDescription() {
    return pool.description();
  }

  /** What the journal knows the pool by; {@link PoolId#NONE} if it dies with the daemon. */
  public PoolId poolId() {
    return pool.id();
  }

  /** How far this run is with the blocks that an earlier one left in the pool. */
  public AdoptionReport adoption() {
    return adoption;
  }

  /** The SSD tier; empty if there is none. */
  public Optional<SsdParts> ssd() {
    return ssd;
  }

  /** This host among others; empty if it works alone. */
  public Optional<Cluster> cluster() {
    return cluster;
  }

  /** The GPUs; none is open until an engine on it registers. */
  public Gpus gpus() {
    return gpus;
  }

  public ChannelMetrics metrics() {
    return metrics;
  }

  /** How long appends to the journal took. */
  public LatencyHistogram appends() {
    return appends;
  }

  /** Where HTTP is served; empty if it is not. */
  public Optional<InetSocketAddress> httpAddress() {
    return http.map(HttpEndpoint::address);
  }

  public Endpoint endpoint() {
    return endpoint;
  }

  /** The folded state; to be looked at on the loop thread only, see {@link LoopClient}. */
  public HostState stateOnLoop() {
    return state;
  }

  public long uptimeMillis() {
    return (System.nanoTime() - startedNanos) / 1_000_000;
  }

  // ---- end -------------------------------------------------------------------------------------

  /** Drains, ends the epoch and gives everything back; at most about 4 seconds. Idempotent. */
  @Override
  public void close() {
    stop("stopped");
  }

  /**
   * Like {@link #close}.
   *
   * @param reason for the journal
   * @return whether the epoch ended in order
   */
  public synchronized boolean stop(String reason) {
    if (stopped) {
      return true;
    }
    stopped = true;
    health.drain();
    if (cluster.isPresent()) {
      cluster.get().drain();
    }
    RunningLoop started = running;
    if (started != null && !started.end(reason)) {
      return false;
    }
    endedInOrder = started != null;
    closeAll();
    return true;
  }

  private void closeJournal() {
    if (!endedInOrder) {
      journal.close();
    } else if (!journal.close(state, CHECKPOINT_LIMIT)) {
      LOG.info("no checkpoint at the end: the next start folds the last facts");
    }
  }

  private void closeAll() {
    for (AutoCloseable part; (part = toClose.poll()) != null; ) {
      try {
        part.close();
      } catch (Exception failed) {
        LOG.error("a part of the daemon did not close", failed);
      }
    }
  }

  private void broke(LoopBroken broken, Consumer<Throwable> fatal) {
    LOG.error(
        "BROKEN INVARIANT at journal position {}: {}. The daemon stops; keep {} and run: orbitkv"
            + " replay {} --verify",
        broken.position(),
        broken.getMessage(),
        config.journalDir(),
        config.journalDir(),
        broken);
    fatal.accept(broken);
  }

  private static void logRecovery(RecoveryReport report) {
    report.tail().ifPresent(tail -> LOG.warn("journal: cut a torn tail: {}", tail.describe()));
    report.corruptions().forEach(each -> LOG.warn("journal: damage: {}", each.describe()));
    report
        .damagedCheckpoints()
        .forEach(each -> LOG.warn("journal: a checkpoint cannot be used: {}", each));
    report
        .wrongDigests()
        .forEach(each -> LOG.error("journal: a recorded digest differs from the fold: {}", each));
  }

  private void logServing() {
    List<String> facts = new ArrayList<>();
    facts.add("socket=" + config.endpoint().socketPath());
    facts.add("pool=" + Quantity.bytesText(config.host().poolBytes()));
    facts.add("journal=" + config.journalDir());
    facts.add("position=" + journal.lastPosition());
    facts.add("epoch=" + epoch);
    httpAddress()
        .ifPresent(
            at -> facts.add("http=" + at.getAddress().getHostAddress() + ":" + at.getPort()));
    facts.add("folded=" + recovery.foldedFacts());
    facts.add("recoveryMillis=" + recovery.millis());
    facts.add("startMillis=" + uptimeMillis());
    LOG.info("serving {}", String.join(" ", facts));
  }
}
