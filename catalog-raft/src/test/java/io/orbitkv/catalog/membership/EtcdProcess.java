package io.orbitkv.catalog.membership;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** An etcd of its own on loopback. */
final class EtcdProcess {
  private final Path dir;
  final int port;
  private final int peerPort;
  private Process process;

  EtcdProcess(Path dir) throws IOException, InterruptedException {
    this.dir = dir;
    this.port = freePort();
    this.peerPort = freePort();
    this.process = start();
  }

  /** Whether there is one to run. */
  static boolean isInstalled() {
    for (String part : System.getenv().getOrDefault("PATH", "").split(":", -1)) {
      if (Files.isExecutable(Path.of(part, "etcd"))) {
        return true;
      }
    }
    return false;
  }

  static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  String uri() {
    return "http://127.0.0.1:" + port;
  }

  private Process start() throws IOException, InterruptedException {
    String client = "http://127.0.0.1:" + port;
    String peer = "http://127.0.0.1:" + peerPort;
    Process started =
        new ProcessBuilder(
                List.of(
                    "etcd",
                    "--name",
                    "one",
                    "--data-dir",
                    dir.resolve("data").toString(),
                    "--listen-client-urls",
                    client,
                    "--advertise-client-urls",
                    client,
                    "--listen-peer-urls",
                    peer,
                    "--initial-advertise-peer-urls",
                    peer,
                    "--initial-cluster",
                    "one=" + peer,
                    "--logger",
                    "zap"))
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.appendTo(dir.resolve("etcd.log").toFile()))
            .start();
    for (int i = 0; i < 400; i++) {
      if (etcdctl("get", "x") == 0) {
        return started;
      }
      Thread.sleep(50);
    }
    throw new IOException("etcd did not start: " + Files.readString(dir.resolve("etcd.log")));
  }

  /** Runs etcdctl and gives its exit code. */
  int etcdctl(String... arguments) throws IOException, InterruptedException {
    try (Socket _ = new Socket(InetAddress.getLoopbackAddress(), port)) {
      // It listens.
    } catch (IOException e) {
      return 1;
    }
    List<String> command =
        new ArrayList<>(List.of("etcdctl", "--endpoints", uri(), "--command-timeout=2s"));
    command.addAll(List.of(arguments));
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(dir.resolve("etcdctl.log").toFile());
    builder.environment().put("ETCDCTL_API", "3");
    Process run = builder.start();
    if (!run.waitFor(10, TimeUnit.SECONDS)) {
      run.destroyForcibly();
      return 1;
    }
    return run.exitValue();
  }

  void signal(String signal) throws IOException, InterruptedException {
    new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid())).start().waitFor();
  }

  void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  void restart() throws IOException, InterruptedException {
    process = start();
  }

  void close() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }
}
