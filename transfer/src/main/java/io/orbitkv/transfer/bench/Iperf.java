package io.orbitkv.transfer.bench;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** iperf3 over loopback: two processes, which send from and receive into one small buffer. */
final class Iperf {
  private static final Pattern RECEIVED =
      Pattern.compile("\"sum_received\"\\s*:\\s*\\{[^}]*\"bits_per_second\"\\s*:\\s*([0-9.eE+]+)");

  private Iperf() {}

  /** Bytes per second, over whole seconds; NaN where iperf3 is not installed. */
  static double run(int streams, int seconds) throws IOException, InterruptedException {
    int port = freePort();
    Process server;
    try {
      server = start("-s", "-1", "-B", "127.0.0.1", "-p", "" + port);
    } catch (IOException notInstalled) {
      return Double.NaN;
    }
    try {
      for (int tries = 0; tries < 50; tries++) {
        Thread.sleep(20);
        Process client =
            start("-c", "127.0.0.1", "-p", "" + port, "-P", "" + streams, "-t", "" + seconds, "-J");
        String text = new String(client.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (client.waitFor() == 0) {
          Matcher found = RECEIVED.matcher(text);
          if (!found.find()) {
            throw new IOException("iperf3 said no rate: " + text);
          }
          return Double.parseDouble(found.group(1)) / 8;
        }
      }
      throw new IOException("iperf3 does not answer on port " + port);
    } finally {
      server.destroy();
      if (!server.waitFor(5, TimeUnit.SECONDS)) {
        server.destroyForcibly().waitFor();
      }
    }
  }

  private static Process start(String... arguments) throws IOException {
    ProcessBuilder builder = new ProcessBuilder();
    builder.command().add("iperf3");
    builder.command().addAll(List.of(arguments));
    return builder.redirectError(ProcessBuilder.Redirect.DISCARD).start();
  }

  private static int freePort() throws IOException {
    try (ServerSocket any = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return any.getLocalPort();
    }
  }
}
