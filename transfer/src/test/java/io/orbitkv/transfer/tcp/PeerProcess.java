package io.orbitkv.transfer.tcp;

import io.orbitkv.transfer.Grant;
import io.orbitkv.transfer.PeerEndpoint;
import io.orbitkv.transfer.PoolRange;
import io.orbitkv.transfer.Secret;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/** A source or a reader in a process of its own, spoken to by lines. */
final class PeerProcess implements AutoCloseable {
  private final Process process;
  private final BufferedReader out;
  private final BufferedWriter in;

  private PeerProcess(Process process) {
    this.process = process;
    this.out = process.inputReader();
    this.in = process.outputWriter();
  }

  static PeerProcess start(String role, String... arguments) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(
        List.of(
            "--enable-native-access=ALL-UNNAMED",
            "--sun-misc-unsafe-memory-access=allow",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-cp",
            System.getProperty("java.class.path"),
            PeerMain.class.getName(),
            role));
    command.addAll(List.of(arguments));
    return new PeerProcess(
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start());
  }

  String line() throws IOException {
    String line = out.readLine();
    if (line == null) {
      throw new IOException("the process ended");
    }
    return line;
  }

  void send(String line) throws IOException {
    in.write(line);
    in.newLine();
    in.flush();
  }

  /** What a source says first: its endpoint, and a grant of all of its pool. */
  Peer peer() throws IOException {
    String[] words = line().split(" ", -1);
    UUID runtime = UUID.fromString(words[1]);
    return new Peer(
        new PeerEndpoint("127.0.0.1", Integer.parseInt(words[0]), runtime),
        new Grant(
            UUID.fromString(words[2]),
            new Secret(Long.parseLong(words[3]), Long.parseLong(words[4])),
            runtime,
            List.of(new PoolRange(0, Long.parseLong(words[5]))),
            Duration.ofMinutes(1)));
  }

  record Peer(PeerEndpoint endpoint, Grant grant) {}

  void signal(String name) throws IOException, InterruptedException {
    Process kill = new ProcessBuilder("kill", "-" + name, "" + process.pid()).start();
    if (!kill.waitFor(10, TimeUnit.SECONDS) || kill.exitValue() != 0) {
      throw new IOException("cannot send " + name);
    }
  }

  void kill() {
    process.destroyForcibly().onExit().join();
  }

  @Override
  public void close() {
    kill();
  }
}
