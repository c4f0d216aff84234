package io.orbitkv.manager;

import io.orbitkv.client.ClientOptions;
import io.orbitkv.manager.config.DaemonConfig;
import io.orbitkv.manager.config.Setting;
import io.orbitkv.manager.config.Settings;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** A daemon in this process, in a folder of its own; fails the test if an invariant breaks. */
public final class RunningDaemon implements AutoCloseable {
  private final Map<Setting, String> flags;
  private final AtomicReference<@Nullable Throwable> broken = new AtomicReference<>();
  private final LoopWiring wiring;
  private Daemon daemon;

  public RunningDaemon(Path folder, Map<Setting, String> settings) throws StartFailure {
    this(folder, settings, LoopWiring.DIRECT);
  }

  public RunningDaemon(Path folder, Map<Setting, String> settings, LoopWiring loopWiring)
      throws StartFailure {
    wiring = loopWiring;
    flags = new EnumMap<>(Setting.class);
    flags.put(Setting.SOCKET, folder.resolve("s").toString());
    flags.put(Setting.JOURNAL, folder.resolve("journal").toString());
    flags.put(Setting.JOURNAL_PART_SIZE, "16mb");
    flags.put(Setting.POOL_SIZE, "32mb");
    flags.put(Setting.HTTP_ADDR, "127.0.0.1:0");
    flags.putAll(settings);
    daemon = start();
  }

  public RunningDaemon(Path folder) throws StartFailure {
    this(folder, Map.of());
  }

  public Daemon daemon() {
    return daemon;
  }

  public String socket() {
    return daemon.config().endpoint().socketPath();
  }

  public ClientOptions clientOptions() {
    return ClientOptions.of(socket());
  }

  public void stop() {
    if (!daemon.stop("test")) {
      throw new AssertionError("the daemon did not stop in order");
    }
  }

  public void startAgain() throws StartFailure {
    daemon = start();
  }

  @Override
  public void close() {
    stop();
    Throwable thrown = broken.get();
    if (thrown != null) {
      throw new AssertionError("the daemon broke", thrown);
    }
  }

  private Daemon start() throws StartFailure {
    return Daemon.start(DaemonConfig.of(Settings.of(flags)), wiring, broken::set);
  }
}
