package io.orbitkv.manager.doctor;

import io.orbitkv.ffi.Probe;
import io.orbitkv.transfer.TransferEngine;
import io.orbitkv.transfer.mooncake.MooncakeLibrary;
import io.orbitkv.transfer.tcp.TcpTransferEngine;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What a host needs to work with others: something that moves blocks, and an etcd. */
final class ClusterCheck {
  private static final int WAIT_MILLIS = 1_000;

  private ClusterCheck() {}

  static List<Finding> of(Optional<Path> mooncakeLibrary, List<String> etcdEndpoints) {
    List<Finding> findings = new ArrayList<>();
    findings.add(transfer());
    findings.add(mooncake(mooncakeLibrary));
    if (etcdEndpoints.isEmpty()) {
      findings.add(Finding.ok("etcd", "none named; a Manager alone needs none"));
    }
    etcdEndpoints.forEach(endpoint -> findings.add(etcd(endpoint)));
    return findings;
  }

  /** What the built-in engine would use. */
  private static Finding transfer() {
    TransferEngine.Carrier carrier = TcpTransferEngine.automatic();
    String detail = carrier.name() + ": " + carrier.reason();
    return carrier.name().endsWith("/io_uring")
        ? Finding.ok("transfer", detail)
        : Finding.warn(
            "transfer", detail, "allow io_uring (kernel.io_uring_disabled, the seccomp profile)");
  }

  private static Finding mooncake(Optional<Path> library) {
    Probe probe =
        library
            .map(MooncakeLibrary::probe)
            .orElseGet(() -> MooncakeLibrary.discover(System.getenv()));
    return probe.present()
        ? Finding.ok("mooncake", probe.detail())
        : library.isPresent()
            ? Finding.warn("mooncake", probe.detail(), probe.remedy())
            : Finding.ok("mooncake", probe.detail() + "; the built-in engine needs none");
  }

  private static Finding etcd(String endpoint) {
    String name = "etcd " + endpoint;
    String plain = endpoint.replaceFirst("^https?://", "").replaceFirst("/$", "");
    try {
      if (endpoint.startsWith("https://")) {
        int colon = plain.lastIndexOf(':');
        try (Socket socket = new Socket()) {
          socket.connect(
              new InetSocketAddress(
                  plain.substring(0, colon), Integer.parseInt(plain.substring(colon + 1))),
              WAIT_MILLIS);
        }
        return Finding.ok(name, "accepts connections");
      }
      HttpURLConnection health =
          (HttpURLConnection) URI.create("http://" + plain + "/health").toURL().openConnection();
      health.setConnectTimeout(WAIT_MILLIS);
      health.setReadTimeout(WAIT_MILLIS);
      return health.getResponseCode() == HttpURLConnection.HTTP_OK
          ? Finding.ok(name, "is healthy")
          : Finding.fail(name, "says that it is not healthy", "look at etcd: it may lack a leader");
    } catch (IOException | IndexOutOfBoundsException | IllegalArgumentException unreachable) {
      return Finding.fail(
          name,
          "does not answer: " + unreachable.getMessage(),
          "start it, or correct the address (HOST:PORT)");
    }
  }
}
