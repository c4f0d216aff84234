package io.orbitkv.manager;

import io.orbitkv.core.eviction.LruPolicy;
import io.orbitkv.core.ssd.SsdCounters;
import io.orbitkv.core.ssd.SsdExtents;
import io.orbitkv.core.ssd.SsdReport;
import io.orbitkv.core.ssd.SsdStore;
import io.orbitkv.core.ssd.SsdTier;
import io.orbitkv.core.ssd.SsdWorker;
import io.orbitkv.core.ssd.device.OpenSsdDevice;
import io.orbitkv.core.ssd.device.SsdDevices;
import io.orbitkv.core.ssd.device.SsdFiles;
import io.orbitkv.core.ssd.device.SsdOpening;
import io.orbitkv.core.ssd.device.SsdRefusal;
import io.orbitkv.ffi.DiskFile;
import io.orbitkv.manager.config.Quantity;
import io.orbitkv.manager.config.SsdConfig;
import io.orbitkv.state.HostState;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import java.util.UUID;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The SSD tier of a daemon, put together: its files, the device over them, and the worker. */
public final class SsdParts implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(SsdParts.class);

  private final SsdConfig config;
  private final SsdFiles files;
  private final OpenSsdDevice device;
  private final SsdWorker worker;
  private final SsdStore store;
  private final SsdReport report = new SsdReport();

  private SsdParts(
      SsdConfig config, SsdFiles files, OpenSsdDevice device, SsdWorker worker, SsdStore store) {
    this.config = config;
    this.files = files;
    this.device = device;
    this.worker = worker;
    this.store = store;
  }

  /**
   * Opens the tier.
   *
   * @param wiring what a harness puts around the parts
   * @param wakeLoop called when blocks came or went
   * @param fatal told when the worker cannot go on
   */
  static SsdParts open(
      SsdConfig config,
      HostState state,
      MemorySegment pool,
      LoopWiring wiring,
      Runnable wakeLoop,
      Consumer<Throwable> fatal)
      throws StartFailure {
    SsdFiles files = opened(SsdFiles.open(config.files(), UUID.randomUUID()));
    try {
      OpenSsdDevice device = opened(SsdDevices.open(config.backend(), files, pool, config.depth()));
      SsdWorker worker = new SsdWorker(wiring.disk(device.device()), pool, wakeLoop, fatal);
      SsdParts parts = new SsdParts(config, files, device, worker, wiring.ssd(worker));
      parts.log(state);
      return parts;
    } catch (StartFailure refused) {
      files.close();
      throw refused;
    }
  }

  private static <T> T opened(SsdOpening<T> opening) throws StartFailure {
    return switch (opening) {
      case SsdOpening.Opened<T>(T value) -> value;
      case SsdOpening.Refused<T>(SsdRefusal refusal) ->
          throw new StartFailure("no SSD tier: " + refusal.message(), refusal.remedy());
    };
  }

  private void log(HostState state) {
    LOG.info(
        "SSD tier {}: {} in {} files by {}: {}",
        files.tierId(),
        Quantity.bytesText(files.capacityBytes()),
        files.count(),
        device.chosen(),
        device.reason());
    device.shortfalls().forEach(each -> LOG.warn("SSD tier: wanted {}", each));
    boolean another =
        state.tierIdHigh() != files.tierId().getMostSignificantBits()
            || state.tierIdLow() != files.tierId().getLeastSignificantBits();
    if (another && state.ssdExtents() > 0) {
      LOG.warn(
          "SSD tier: ANOTHER TIER than the journal's {}: {}. What that one held, {} in {} extents,"
              + " is dropped",
          new UUID(state.tierIdHigh(), state.tierIdLow()),
          files.fresh() ? files.freshBecause() : "the files belong to " + files.tierId(),
          Quantity.bytesText(state.ssdBytes()),
          state.ssdExtents());
    }
  }

  /** For a loop that starts with this state. */
  SsdTier tier(HostState state) {
    long[] bytes = new long[files.count()];
    for (int file = 0; file < bytes.length; file++) {
      bytes[file] = files.bytes(file);
    }
    return new SsdTier(
        config.settings(),
        files.tierId().getMostSignificantBits(),
        files.tierId().getLeastSignificantBits(),
        bytes,
        new SsdExtents(bytes, SsdFiles.FIRST_OFFSET, state.nextSsdGeneration()),
        new LruPolicy(),
        store,
        report);
  }

  /** The daemon serves: the disk may begin. */
  void begin() {
    worker.start();
  }

  /** What does not work, for people. */
  public List<String> problems() {
    return report.problems();
  }

  /** Which backend was chosen, and why. */
  public String backend() {
    return device.chosen() + ": " + device.reason();
  }

  public UUID tierId() {
    return files.tierId();
  }

  public SsdConfig config() {
    return config;
  }

  /** What the device did since the start. */
  public SsdCounters counters() {
    return worker.counters();
  }

  /** The files as they lie on their disks. */
  public List<Path> paths() {
    return files.files().stream().map(DiskFile::path).toList();
  }

  @Override
  public void close() {
    worker.close();
    files.close();
  }
}
