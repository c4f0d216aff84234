package io.orbitkv.journal;

import io.orbitkv.state.Fact;
import io.orbitkv.state.HostState;
import java.io.File;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A process of its own that appends to a journal: the child of tests that kill it or look at what
 * it leaves behind. It tells of facts, as a daemon tells its clients, by writing the last position
 * to a file.
 */
final class AppendingProcess {
  private AppendingProcess() {}

  /** Arguments: journal, file for the last position told of, seed, number of facts. */
  public static void main(String[] arguments) throws Exception {
    Path dir = Path.of(arguments[0]);
    long count = Long.parseLong(arguments[3]);
    Recovered recovered =
        Recovery.open(dir, TestJournals.small(), System.currentTimeMillis() * 1000);
    if (!(recovered
        instanceof Recovered.Opened(HostState state, Journal journal, RecoveryReport _))) {
      System.err.println(recovered);
      System.exit(3);
      return;
    }
    Workload workload = new Workload(Long.parseLong(arguments[2]), 64, state);
    ByteBuffer told = ByteBuffer.allocate(8);
    try (journal;
        FileChannel channel =
            FileChannel.open(
                Path.of(arguments[1]), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      for (long i = 0; i < count; i++) {
        while (!journal.hasRoom(1, 24 * 90)) {
          Thread.sleep(1);
        }
        Fact fact = workload.next(System.currentTimeMillis() * 1000);
        long position = journal.append(fact.atMicros(), fact.event());
        if (position % 10 == 0) {
          channel.write(told.clear().putLong(position).flip(), 0);
        }
      }
    }
  }

  static Process start(Path home, Path working, String... arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.add("--enable-native-access=ALL-UNNAMED");
    command.add("--sun-misc-unsafe-memory-access=allow");
    command.add("--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED");
    command.add("--add-opens=java.base/java.lang.reflect=ALL-UNNAMED");
    command.add("--add-opens=java.base/sun.nio.ch=ALL-UNNAMED");
    command.add("--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED");
    command.add("-XX:TieredStopAtLevel=1");
    command.add("-XX:-UsePerfData");
    command.add("-Duser.home=" + home);
    command.add("-Djava.io.tmpdir=" + home);
    command.add("-Dorg.slf4j.simpleLogger.defaultLogLevel=warn");
    command.add("-cp");
    command.add(absoluteClassPath());
    command.add(AppendingProcess.class.getName());
    command.addAll(Arrays.asList(arguments));
    ProcessBuilder builder = new ProcessBuilder(command).directory(working.toFile());
    builder.environment().put("HOME", home.toString());
    builder.redirectErrorStream(true);
    return builder.start();
  }

  private static String absoluteClassPath() {
    List<String> entries = new ArrayList<>();
    String path =
        System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    for (String entry : path.split(File.pathSeparator, -1)) {
      entries.add(Path.of(entry).toAbsolutePath().toString());
    }
    return String.join(File.pathSeparator, entries);
  }
}
