package io.orbitkv.manager.config;

import io.orbitkv.client.control.HelloOk;
import io.orbitkv.core.HostConfig;
import io.orbitkv.core.eviction.Eviction;
import io.orbitkv.core.ssd.SsdSettings;
import io.orbitkv.core.ssd.SsdSettings.SsdAdmission;
import io.orbitkv.core.ssd.device.SsdBackend;
import io.orbitkv.core.ssd.device.SsdDevice;
import io.orbitkv.core.ssd.device.SsdFileSpec;
import io.orbitkv.ffi.MapOptions;
import io.orbitkv.journal.JournalOptions;
import io.orbitkv.journal.Retention;
import io.orbitkv.journal.SyncMode;
import io.orbitkv.manager.Version;
import io.orbitkv.manager.endpoint.EndpointOptions;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The settings in the types of those who use them.
 *
 * @param endpoint how the socket is kept
 * @param host the loop's bounds
 * @param poolOptions what kind of memory the pool is asked to be
 * @param poolPersist the file, or folder of one, that keeps the pool; empty for memory that dies
 *     with the daemon
 * @param ssd the SSD tier; empty for none
 * @param journalDir where the journal is
 * @param journal how it is kept
 * @param copyWorkers threads that copy
 * @param spinNanos how long the loop looks for more before it sleeps
 * @param http where operators are served; empty for nowhere
 * @param cluster how it works with other hosts; empty if it works alone
 * @param logLevel of the program's log
 * @param settings the texts they were made of
 */
public record DaemonConfig(
    EndpointOptions endpoint,
    HostConfig host,
    MapOptions poolOptions,
    Optional<Path> poolPersist,
    Optional<SsdConfig> ssd,
    Path journalDir,
    JournalOptions journal,
    int copyWorkers,
    long spinNanos,
    Optional<InetSocketAddress> http,
    Optional<ClusterConfig> cluster,
    String logLevel,
    Settings settings) {
  private static final Set<String> LOG_LEVELS = Set.of("error", "warn", "info", "debug", "trace");
  private static final long AUTO_SPIN_NANOS = 40_000;
  private static final int SPARE_CONNECTIONS = 256;
  private static final long MIN_SSD_FILE_BYTES = 1 << 20;
  private static final long MAX_SSD_FILE_BYTES = 1L << 43;

  /**
   * Checks every setting.
   *
   * @throws BadSetting naming the first one that cannot be used
   */
  public static DaemonConfig of(Settings settings) {
    SettingReader in = new SettingReader(settings);
    long poolBytes = in.bytes(Setting.POOL_SIZE, 1 << 20, 1L << 40);
    HostConfig host = host(in, poolBytes);
    Path journalDir = Path.of(in.text(Setting.JOURNAL)).toAbsolutePath().normalize();
    return new DaemonConfig(
        endpoint(in, host),
        host,
        MapOptions.READ_WRITE
            .withHugePages(in.onOff(Setting.USE_HUGEPAGES))
            .withLock(in.onOff(Setting.LOCK_MEMORY))
            .withPopulate(in.onOff(Setting.PREFAULT))
            .withNumaNode(
                in.text(Setting.NUMA_NODE).equals("any")
                    ? MapOptions.ANY_NODE
                    : in.number(Setting.NUMA_NODE, 0, 1_023)),
        in.text(Setting.POOL_PERSIST).isEmpty()
            ? Optional.empty()
            : Optional.of(Path.of(in.text(Setting.POOL_PERSIST)).toAbsolutePath().normalize()),
        ssd(in, poolBytes),
        journalDir,
        journal(in),
        in.text(Setting.COPY_WORKERS).equals("auto")
            ? Math.clamp(Runtime.getRuntime().availableProcessors() / 2, 1, 8)
            : in.number(Setting.COPY_WORKERS, 1, 256),
        spinNanos(in),
        http(in),
        ClusterConfig.of(in, journalDir, poolBytes),
        in.oneOf(Setting.LOG_LEVEL, LOG_LEVELS),
        settings);
  }

  private static HostConfig host(SettingReader in, long poolBytes) {
    long ticketMillis = in.millis(Setting.TICKET_TIMEOUT);
    long maxTicketMillis = in.millis(Setting.MAX_TICKET_TIMEOUT);
    if (maxTicketMillis < ticketMillis) {
      throw in.bad(Setting.MAX_TICKET_TIMEOUT, "is shorter than ticket-timeout");
    }
    return HostConfig.forPool(poolBytes)
        .eviction(
            Eviction.valueOf(
                in.oneOf(Setting.EVICTION, Set.of("lru", "tinylfu")).toUpperCase(Locale.ROOT)))
        .verify(in.onOff(Setting.VERIFY))
        .globalBudgetBytes(budget(in, Setting.QUERY_BUDGET, poolBytes))
        .instanceBudgetBytes(budget(in, Setting.INSTANCE_QUERY_BUDGET, poolBytes))
        .leaseTtlMillis(in.millis(Setting.LEASE_TTL))
        .ticketMillis(ticketMillis)
        .maxTicketMillis(maxTicketMillis)
        .unsealedTtlMillis(in.millis(Setting.UNSEALED_TTL))
        .registerWaitMillis(in.millis(Setting.REGISTER_WAIT))
        .inlineCopyBytes(in.bytes(Setting.INLINE_COPY, 0, 1 << 30))
        .digestEveryFacts(in.number(Setting.DIGEST_EVERY, 1, 1 << 30))
        .journalMissKeys(in.number(Setting.JOURNAL_MISS_KEYS, 0, 32_768))
        .maxSessions(in.number(Setting.MAX_SESSIONS, 1, 65_536))
        .maxTicketsPerSession(in.number(Setting.MAX_TICKETS, 1, 65_536))
        .maxLeasesPerSession(in.number(Setting.MAX_LEASES, 1, 1 << 20))
        .maxCopiesInFlight(in.number(Setting.MAX_COPIES, 1, 65_536))
        .build();
  }

  private static long budget(SettingReader in, Setting setting, long poolBytes) {
    return in.text(setting).equals("pool") ? poolBytes : in.bytes(setting, 1, 1L << 50);
  }

  private static Optional<SsdConfig> ssd(SettingReader in, long poolBytes) {
    List<Path> paths = new ArrayList<>();
    for (String each : in.text(Setting.SSD_CACHE_PATH).split(",", -1)) {
      if (!each.isBlank()) {
        paths.add(Path.of(each.strip()).toAbsolutePath().normalize());
      }
    }
    if (paths.isEmpty()) {
      if (!in.text(Setting.SSD_CACHE_CAPACITY).isEmpty()) {
        throw in.bad(Setting.SSD_CACHE_CAPACITY, "needs " + Setting.SSD_CACHE_PATH.flag());
      }
      return Optional.empty();
    }
    if (in.text(Setting.SSD_CACHE_CAPACITY).isEmpty()) {
      throw in.bad(Setting.SSD_CACHE_PATH, "needs " + Setting.SSD_CACHE_CAPACITY.flag());
    }
    long capacity = in.bytes(Setting.SSD_CACHE_CAPACITY, 1 << 20, 1L << 50);
    long each = capacity / paths.size() / SsdDevice.ALIGNMENT_BYTES * SsdDevice.ALIGNMENT_BYTES;
    if (each < MIN_SSD_FILE_BYTES || each > MAX_SSD_FILE_BYTES) {
      throw in.bad(
          Setting.SSD_CACHE_CAPACITY,
          "is 1mb to 8tb for each of the %d paths".formatted(paths.size()));
    }
    long queue = Math.min(in.bytes(Setting.SSD_WRITE_QUEUE, 4096, 1L << 40), poolBytes / 2);
    SsdSettings standard = SsdSettings.forPool(poolBytes);
    return Optional.of(
        new SsdConfig(
            paths.stream().map(path -> new SsdFileSpec(path, each)).toList(),
            in.parsed(
                Setting.SSD_BACKEND,
                text ->
                    SsdBackend.parse(text)
                        .orElseThrow(
                            () -> new IllegalArgumentException("is auto, uring or posix"))),
            in.number(Setting.SSD_DEPTH, 1, 4_096),
            new SsdSettings(
                SsdAdmission.valueOf(
                    in.oneOf(Setting.SSD_ADMISSION, Set.of("all", "reuse"))
                        .toUpperCase(Locale.ROOT)),
                queue,
                in.text(Setting.SSD_LOAD_QUEUE).equals("half")
                    ? standard.maxLoadingBytes()
                    : in.bytes(Setting.SSD_LOAD_QUEUE, 4096, 1L << 40),
                in.millis(Setting.SSD_HANG),
                standard.retryMillis())));
  }

  private static EndpointOptions endpoint(SettingReader in, HostConfig host) {
    HelloOk.Limits standard = HelloOk.Limits.STANDARD;
    HelloOk.Limits limits =
        new HelloOk.Limits(
            standard.maxControlBytes(),
            standard.maxBuffers(),
            standard.maxGroups(),
            standard.maxLayers(),
            host.maxBlocksPerRequest(),
            standard.maxOutstanding(),
            (int) host.leaseTtlMillis(),
            (int) host.ticketMillis(),
            (int) host.maxTicketMillis(),
            (int) in.millis(Setting.HELLO_TIMEOUT));
    return new EndpointOptions(
        in.text(Setting.SOCKET),
        Integer.parseInt(in.oneOf(Setting.SOCKET_MODE, Set.of("0600", "0660", "600", "660")), 8),
        in.ids(Setting.ALLOW_UID),
        in.ids(Setting.ALLOW_GID),
        host.maxSessions() + SPARE_CONNECTIONS,
        limits,
        "orbitkv/" + Version.TEXT);
  }

  private static JournalOptions journal(SettingReader in) {
    return JournalOptions.DEFAULT
        .withPartBytes(in.bytes(Setting.JOURNAL_PART_SIZE, 256 << 10, 1 << 30))
        .withPartAge(Duration.ofMillis(in.millis(Setting.JOURNAL_PART_AGE)))
        .withRetention(in.parsed(Setting.JOURNAL_RETENTION, Retention::parse))
        .withSync(
            switch (in.text(Setting.JOURNAL_SYNC)) {
              case "batch" -> new SyncMode.EachBatch();
              case "none" -> new SyncMode.None();
              default -> {
                long millis = in.millis(Setting.JOURNAL_SYNC);
                if (millis > 60_000) {
                  throw in.bad(Setting.JOURNAL_SYNC, "is batch, none, or a time of 1ms to 60s");
                }
                yield new SyncMode.Background((int) millis);
              }
            });
  }

  /** Spinning on the only processor would keep the client from answering. */
  private static long spinNanos(SettingReader in) {
    boolean oneProcessor = Runtime.getRuntime().availableProcessors() == 1;
    if (in.text(Setting.SPIN).equals("auto")) {
      return oneProcessor ? 0 : AUTO_SPIN_NANOS;
    }
    Duration spin = in.parsed(Setting.SPIN, Quantity::time);
    if (spin.compareTo(Duration.ofMillis(10)) > 0) {
      throw in.bad(Setting.SPIN, "is at most 10ms");
    }
    return oneProcessor ? 0 : spin.toNanos();
  }

  private static Optional<InetSocketAddress> http(SettingReader in) {
    String text = in.text(Setting.HTTP_ADDR);
    if (text.equals("off")) {
      return Optional.empty();
    }
    return Optional.of(in.parsed(Setting.HTTP_ADDR, HttpAddress::parse));
  }

  /** A configuration for tests and tools: the defaults but for these. */
  public static DaemonConfig with(Map<Setting, String> flags) {
    return of(Settings.of(flags));
  }
}
