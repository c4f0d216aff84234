package io.orbitkv.manager.config;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Everything that can be set, in the order and groups of the help. A setting {@code pool-size} is
 * the flag {@code --pool-size}, the variable {@code ORBITKV_POOL_SIZE} and the key {@code
 * pool-size} of the configuration file.
 */
public enum Setting {
  SOCKET(Group.SOCKET, "PATH", null, "Unix socket that engines connect to."),
  SOCKET_MODE(Group.SOCKET, "MODE", "0600", "Who may connect: 0600 (own user) or 0660 (group)."),
  ALLOW_UID(Group.SOCKET, "UID,...", "", "Users served besides the daemon's own and root."),
  ALLOW_GID(Group.SOCKET, "GID,...", "", "Groups served; a peer's effective group counts."),
  HELLO_TIMEOUT(
      Group.SOCKET, "TIME", "5s", "How long a peer may take to say HELLO, and to send a frame."),
  MAX_SESSIONS(Group.SOCKET, "N", "1024", "Open sessions, above which REGISTER is refused."),

  POOL_SIZE(Group.MEMORY, "SIZE", "4gb", "Memory that holds the cache."),
  POOL_PERSIST(
      Group.MEMORY,
      "PATH",
      "",
      "File on tmpfs or hugetlbfs, or a folder for one, that keeps the pool over a restart."),
  USE_HUGEPAGES(Group.MEMORY, null, "off", "Take 2 MiB huge pages; smaller ones if there are few."),
  LOCK_MEMORY(Group.MEMORY, null, "off", "Keep the pool out of swap (needs memlock)."),
  PREFAULT(Group.MEMORY, null, "off", "Have every page of the pool present before serving."),
  NUMA_NODE(Group.MEMORY, "NODE", "any", "Take the pool's memory from this node only."),
  EVICTION(
      Group.MEMORY,
      "POLICY",
      "lru",
      "What goes first when room is needed: lru, or tinylfu, which holds on to what was used"
          + " twice (decision 9)."),
  VERIFY(Group.MEMORY, "on|off", "on", "Compare checksums at every restore."),
  COPY_WORKERS(
      Group.MEMORY, "N", "auto", "Threads that copy; auto takes half the processors, 1 to 8."),
  INLINE_COPY(Group.MEMORY, "SIZE", "64kb", "Copies up to here run on the loop thread itself."),
  MAX_COPIES(Group.MEMORY, "N", "256", "Copies in flight, above which QUEUE_FULL is answered."),

  SSD_CACHE_PATH(
      Group.SSD,
      "PATH,...",
      "",
      "Files, or folders for one, that hold blocks beside memory; may be repeated."),
  SSD_CACHE_CAPACITY(Group.SSD, "SIZE", "", "What all of them hold together; reserved at start."),
  SSD_BACKEND(Group.SSD, "WAY", "auto", "How they are read and written: auto, uring or posix."),
  SSD_ADMISSION(
      Group.SSD, "WHICH", "all", "Blocks that go there: all when sealed, or reuse at a first hit."),
  SSD_WRITE_QUEUE(
      Group.SSD,
      "SIZE",
      "256mb",
      "Bytes under way to the disk, above which blocks wait their turn."),
  SSD_LOAD_QUEUE(
      Group.SSD, "SIZE", "half", "Bytes being read back at one time; half: half of the pool."),
  SSD_DEPTH(Group.SSD, "N", "64", "Operations of the disk in flight."),
  SSD_HANG(Group.SSD, "TIME", "2s", "How long the disk may end nothing before it is left alone."),

  JOURNAL(Group.JOURNAL, "DIR", null, "Where the facts are."),
  JOURNAL_RETENTION(Group.JOURNAL, "SIZE|AGE", "20gb|7d", "How much is kept; keep for everything."),
  JOURNAL_SYNC(
      Group.JOURNAL,
      "WHEN",
      "100ms",
      "What a power cut may take: batch (nothing told), a time between flushes, or none."),
  JOURNAL_PART_SIZE(Group.JOURNAL, "SIZE", "64mb", "A part is closed before it exceeds this."),
  JOURNAL_PART_AGE(Group.JOURNAL, "TIME", "24h", "A part is closed when it is this old."),
  JOURNAL_MISS_KEYS(
      Group.JOURNAL, "N", "64", "Missing keys per group that a fact lists, for replay --why."),
  DIGEST_EVERY(Group.JOURNAL, "FACTS", "10000", "Facts between two recorded state digests."),

  QUERY_BUDGET(
      Group.LIMITS, "SIZE", "pool", "Bytes that all leases, tickets and restores may hold."),
  INSTANCE_QUERY_BUDGET(Group.LIMITS, "SIZE", "pool", "The same for one instance."),
  LEASE_TTL(Group.LIMITS, "TIME", "30s", "Life of a lease that nobody releases."),
  TICKET_TIMEOUT(Group.LIMITS, "TIME", "10s", "Life of a waiting query that names no time."),
  MAX_TICKET_TIMEOUT(Group.LIMITS, "TIME", "60s", "Longest life of a waiting query."),
  UNSEALED_TTL(Group.LIMITS, "TIME", "60s", "How long a block may lack a shard's slice."),
  REGISTER_WAIT(Group.LIMITS, "TIME", "5s", "How long a registration waits for its predecessor."),
  MAX_LEASES(Group.LIMITS, "N", "4096", "Open leases of one session."),
  MAX_TICKETS(Group.LIMITS, "N", "128", "Open tickets of one session."),

  NODE_ID(
      Group.CLUSTER,
      "NODE",
      "",
      "This host's name among others, such as host-1; without it the Manager works alone."),
  CLUSTER(Group.CLUSTER, "NAME", "default", "Hosts of one name find each other."),
  ETCD_ENDPOINTS(
      Group.CLUSTER, "URI,...", "", "Where they meet, such as http://10.0.0.1:2379; repeatable."),
  PEER_ADDR(
      Group.CLUSTER,
      "HOST:PORT",
      "",
      "Where this host listens for the others' calls, as they reach it; port 0 for any."),
  CATALOG_ADDR(
      Group.CLUSTER,
      "HOST:PORT",
      "",
      "Where its part of the catalog listens, as the others reach it; stays the same over"
          + " restarts."),
  CATALOG_DIR(
      Group.CLUSTER,
      "DIR",
      "",
      "Where that part is kept; beside the journal, as catalog, if not given."),
  TRANSFER_ADDR(
      Group.CLUSTER,
      "HOST:PORT",
      "",
      "Where they read its blocks, as they reach it; port 0 for any."),
  TRANSFER_ENGINE(
      Group.CLUSTER,
      "ENGINE",
      "auto",
      "What moves blocks: tcp, mooncake, or auto, which takes Mooncake where it loads."),
  MOONCAKE_LIB(
      Group.CLUSTER, "FILE", "", "Mooncake's libtransfer_engine.so; else it is looked for."),
  PEER_TOKEN_FILE(
      Group.CLUSTER,
      "FILE",
      "",
      "File with the secret that all hosts share, which nobody else may read."),
  PEER_CERT(Group.CLUSTER, "FILE", "", "This host's certificate (PEM), for mutual TLS."),
  PEER_KEY(Group.CLUSTER, "FILE", "", "The key of that certificate (PEM, PKCS 8)."),
  PEER_CA(Group.CLUSTER, "FILE", "", "The authority that signed the hosts' certificates (PEM)."),
  REPLICATION_FACTOR(
      Group.CLUSTER, "N", "3", "Hosts that hold each part of the catalog; 1 for a trial."),
  FETCH_BUDGET(
      Group.CLUSTER,
      "SIZE",
      "half",
      "Bytes being read from other hosts at one time, half of it from one; half: half of the"
          + " pool."),
  FETCH_TIMEOUT(
      Group.CLUSTER, "TIME", "5s", "How long such a read may take, the request for it included."),
  LOOKUP_TIMEOUT(
      Group.CLUSTER, "TIME", "500ms", "How long a query waits for the catalog's answer."),
  GRANT_BUDGET(
      Group.CLUSTER,
      "SIZE",
      "half",
      "Bytes that others may have pinned here at one time, half of it one of them."),
  GRANT_TTL(Group.CLUSTER, "TIME", "30s", "How long others may begin reads under a grant."),
  MAX_GRANTS(Group.CLUSTER, "N", "1024", "Grants that are open or draining."),
  AUTO_HANDOFF_AFTER(
      Group.CLUSTER,
      "TIME",
      "10m",
      "How long a member of the catalog is gone until another host takes its place; off for"
          + " never."),
  MEMBER_TTL(
      Group.CLUSTER, "TIME", "6s", "How long after its last renewal a host is taken for gone."),

  HTTP_ADDR(
      Group.OPERATION,
      "HOST:PORT",
      "127.0.0.1:9091",
      "HTTP for operators; off for none, port 0 for any."),
  SPIN(
      Group.OPERATION,
      "TIME",
      "auto",
      "How long the loop looks for more before it sleeps; 0 never."),
  LOG_LEVEL(Group.OPERATION, "LEVEL", "info", "error, warn, info, debug or trace."),
  CONFIG(Group.OPERATION, "FILE", "", "TOML file with any of these, without the dashes.");

  /** Headings of the help. */
  public enum Group {
    SOCKET("Socket"),
    MEMORY("Memory and copies"),
    SSD("SSD tier"),
    JOURNAL("Journal"),
    LIMITS("Budgets and deadlines"),
    CLUSTER("Many hosts"),
    OPERATION("Operation");

    private final String title;

    Group(String title) {
      this.title = title;
    }

    public String title() {
      return title;
    }
  }

  private final Group group;
  private final @Nullable String label;
  private final @Nullable String fallback;
  private final String description;

  /**
   * @param label what stands for the value in the help; null for a switch
   * @param fallback the default; null where it depends on the user, see {@link DefaultPaths}
   */
  Setting(Group group, @Nullable String label, @Nullable String fallback, String description) {
    this.group = group;
    this.label = label;
    this.fallback = fallback;
    this.description = description;
  }

  /** The name in the file: {@code pool-size}. */
  public String key() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** The flag: {@code --pool-size}. */
  public String flag() {
    return "--" + key();
  }

  /** The environment variable: {@code ORBITKV_POOL_SIZE}. */
  public String variable() {
    return "ORBITKV_" + name();
  }

  public Group group() {
    return group;
  }

  /** Whether the flag alone means {@code on}. */
  public boolean isSwitch() {
    return label == null;
  }

  /** Whether the flag may be given several times; its texts are joined by commas. */
  public boolean isRepeatable() {
    return this == SSD_CACHE_PATH || this == ETCD_ENDPOINTS;
  }

  /** What stands for the value in the help. */
  public String label() {
    return label == null ? "on|off" : label;
  }

  public String description() {
    return description;
  }

  /** The default, as text. */
  public String defaultText() {
    return switch (this) {
      case SOCKET -> DefaultPaths.socket(System.getenv());
      case JOURNAL -> DefaultPaths.journal(System.getenv());
      default -> fallback == null ? "" : fallback;
    };
  }

  /** What the help says of the default. */
  public String defaultHelp() {
    return switch (this) {
      case SOCKET -> "$XDG_RUNTIME_DIR/orbitkv.sock, else /tmp/orbitkv-UID/orbitkv.sock";
      case JOURNAL -> "~/.local/state/orbitkv/journal, as root /var/lib/orbitkv/journal";
      default -> fallback == null || fallback.isEmpty() ? "none" : fallback;
    };
  }
}
