package io.orbitkv.manager.cluster;

import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** An etcd of its own on loopback. */
public final class EtcdServer implements AutoCloseable {
  private final Path folder;
  private final int port = freePort();
  private final int peerPort = freePort();
  private Process process;

  public EtcdServer(Path folder) throws IOException, InterruptedException {
    this.folder = folder;
    this.process = launch();
  }

  /** Whether there is one to run. */
  public static boolean isInstalled() {
    for (String part : System.getenv().getOrDefault("PATH", "").split(":", -1)) {
      if (Files.isExecutable(Path.of(part, "etcd"))) {
        return true;
      }
    }
    System.out.println("SKIPPED: no etcd on the PATH (apt-get install etcd-server)");
    return false;
  }

  public static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  public String uri() {
    return "http://127.0.0.1:" + port;
  }

  public void kill() throws InterruptedException {
    process.destroyForcibly().waitFor();
  }

  public void restart() throws IOException, InterruptedException {
    process = launch();
  }

  private Process launch() throws IOException, InterruptedException {
    String peer = "http://127.0.0.1:" + peerPort;
    Process started =
        new ProcessBuilder(
                List.of(
                    "etcd",
                    "--name",
                    "one",
                    "--data-dir",
                    folder.resolve("etcd").toString(),
                    "--listen-client-urls",
                    uri(),
                    "--advertise-client-urls",
                    uri(),
                    "--listen-peer-urls",
                    peer,
                    "--initial-advertise-peer-urls",
                    peer,
                    "--initial-cluster",
                    "one=" + peer))
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.appendTo(folder.resolve("etcd.log").toFile()))
            .start();
    for (int i = 0; i < 600; i++) {
      if (answers()) {
        return started;
      }
      Thread.sleep(50);
    }
    started.destroyForcibly();
    throw new IOException("etcd did not start: " + Files.readString(folder.resolve("etcd.log")));
  }

  private boolean answers() {
    try {
      HttpURLConnection health =
          (HttpURLConnection) URI.create(uri() + "/health").toURL().openConnection();
      health.setConnectTimeout(500);
      health.setReadTimeout(1000);
      return health.getResponseCode() == 200;
    } catch (IOException notYet) {
      return false;
    }
  }

  @Override
  public void close() {
    process.destroyForcibly().onExit().join();
  }
}
