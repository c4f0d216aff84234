package io.orbitkv.chaos.fault;

import io.orbitkv.chaos.Suite;
import io.orbitkv.core.ssd.device.SsdDevice;
import io.orbitkv.manager.LoopWiring;
import io.orbitkv.manager.workload.Children;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** What is wrong with a daemon on purpose, and the suite that has to find it. */
public enum Fault {
  /** Facts are appended some time after they were told. */
  REPLY_BEFORE_APPEND(Suite.CRASH, 6, true),
  /** A restore under a lease of an earlier epoch is answered as done. */
  DEAD_LEASE_HONOURED(Suite.CRASH, 8, false),
  /** A session that holds a lease is not closed when its engine dies. */
  DEAD_ENGINE_KEEPS_LEASE(Suite.ENGINES, 3, true),
  /** A cancelled publish counts as ended while bytes are still written into its extents. */
  COPY_NOT_DRAINED(Suite.ENGINES, 12, false),
  /** A publish that is refused takes memory. */
  REFUSED_PUBLISH_RESERVES(Suite.INPUT, 1_500, true),
  /** Some refusals are never sent. */
  REFUSAL_NOT_SENT(Suite.INPUT, 1_500, false),
  /** The loop goes on promising when the journal has no room. */
  FULL_JOURNAL_NOT_REFUSED(Suite.DISK, 1, true),
  /** A peer may take ten minutes for a frame. */
  SLOW_PEERS_STAY(Suite.CROWD, 100, true),
  /** The fact that the epoch has ended is told and not appended. */
  EPOCH_END_LOST(Suite.STOP, 1, true),
  /** Every engine gets the same namespace. */
  NAMESPACES_MIXED(Suite.MISMATCH, 1, true),
  /** A registration's format is not looked at. */
  FORMAT_NOT_COMPARED(Suite.MISMATCH, 1, false),
  /** The disk of the SSD tier says of some writes that they were done, and does not do them. */
  SSD_WRITES_LOST(Suite.SSD_CRASH, 3, true),
  /** Nobody compares the sums of what comes back from SSD or is restored. */
  SSD_READS_UNVERIFIED(Suite.SSD_FAULTS, 1, true),
  /** A disk that hangs is given ten minutes. */
  SSD_HANG_NOT_SEEN(Suite.SSD_FAULTS, 1, false);

  private static final int LOST_EVERY = 20;

  private final Suite suite;
  private final int rounds;
  private final boolean quick;

  /**
   * @param rounds of the suite within which it is found
   * @param quick whether it is part of a short run
   */
  Fault(Suite suite, int rounds, boolean quick) {
    this.suite = suite;
    this.rounds = rounds;
    this.quick = quick;
  }

  /** The suite that finds it. */
  public Suite suite() {
    return suite;
  }

  /** Whether it is part of a short run. */
  public boolean quick() {
    return quick;
  }

  /** Its word on the command line. */
  public String word() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /** Flags of the daemon that are part of the fault. */
  public List<String> flags() {
    return switch (this) {
      case SLOW_PEERS_STAY -> List.of("--hello-timeout", "10m");
      case SSD_READS_UNVERIFIED -> List.of("--verify", "off");
      case SSD_HANG_NOT_SEEN -> List.of("--ssd-hang", "10m");
      case REPLY_BEFORE_APPEND,
          DEAD_LEASE_HONOURED,
          DEAD_ENGINE_KEEPS_LEASE,
          COPY_NOT_DRAINED,
          REFUSED_PUBLISH_RESERVES,
          REFUSAL_NOT_SENT,
          FULL_JOURNAL_NOT_REFUSED,
          EPOCH_END_LOST,
          NAMESPACES_MIXED,
          FORMAT_NOT_COMPARED,
          SSD_WRITES_LOST ->
          List.of();
    };
  }

  int rounds() {
    return rounds;
  }

  LoopWiring wiring() {
    return switch (this) {
      case REPLY_BEFORE_APPEND -> LateLog.wiring();
      case DEAD_LEASE_HONOURED -> new DeadLeases();
      case DEAD_ENGINE_KEEPS_LEASE -> new KeptLeases();
      case COPY_NOT_DRAINED -> new UndrainedCopies();
      case REFUSED_PUBLISH_RESERVES -> new LeakingRefusals();
      case REFUSAL_NOT_SENT -> new LostRefusals();
      case FULL_JOURNAL_NOT_REFUSED -> EndlessLog.wiring();
      case SLOW_PEERS_STAY, SSD_HANG_NOT_SEEN -> LoopWiring.DIRECT;
      case EPOCH_END_LOST -> LostEnd.wiring();
      case NAMESPACES_MIXED -> new MixedNamespaces();
      case FORMAT_NOT_COMPARED -> new UncheckedFormats();
      case SSD_WRITES_LOST -> lostWrites();
      case SSD_READS_UNVERIFIED -> UnverifiedReads.wiring();
    };
  }

  private static LoopWiring lostWrites() {
    return new LoopWiring() {
      @Override
      public SsdDevice disk(SsdDevice device) {
        return new FaultyDisk(device, DiskControl.fixed(DiskFault.LOST_WRITES, LOST_EVERY));
      }
    };
  }

  /**
   * Starts a daemon that has a fault, or a faulty disk, or both.
   *
   * @param fault null for none
   * @param disk commands the disk; null for a sound one
   */
  public static Process launch(
      @Nullable Fault fault, @Nullable DiskControl disk, List<String> arguments, Path log) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home", ""), "bin", "java").toString());
    for (String flag : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
      if (flag.startsWith("--") || flag.startsWith("-D")) {
        command.add(flag);
      }
    }
    command.addAll(
        List.of(
            "-XX:+UseZGC",
            "-cp",
            System.getProperty("java.class.path", ""),
            FaultyManager.class.getName(),
            fault == null ? FaultyManager.NONE : fault.name(),
            disk == null ? FaultyManager.NONE : disk.path().toString()));
    command.addAll(arguments);
    return Children.start(new ProcessBuilder(command), log, false);
  }
}
