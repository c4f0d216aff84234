package io.orbitkv.manager;

import io.orbitkv.ffi.Errno;
import io.orbitkv.ffi.MapOptions;
import io.orbitkv.ffi.NativeException;
import io.orbitkv.ffi.NumaNode;
import io.orbitkv.ffi.UnixListener;
import io.orbitkv.manager.config.DaemonConfig;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.util.List;

/**
 * What can be seen to be in a daemon's way before it changes anything: a start that is refused for
 * it leaves no directory and no fact behind. Each part still finds out for itself when its turn
 * comes, since what is free now may be taken then.
 */
final class StartChecks {
  private StartChecks() {}

  static void run(DaemonConfig config) throws StartFailure {
    checkSocket(config.endpoint().socketPath());
    if (config.http().isPresent()) {
      checkHttp(config.http().get());
    }
    checkNode(config.poolOptions());
  }

  private static void checkSocket(String path) throws StartFailure {
    try {
      UnixListener.requireFree(path);
    } catch (NativeException refused) {
      throw socketRefused(refused);
    }
  }

  private static void checkHttp(InetSocketAddress address) throws StartFailure {
    if (address.isUnresolved()) {
      throw httpRefused(address, "there is no host of that name");
    }
    try (ServerSocket probe = new ServerSocket()) {
      probe.setReuseAddress(true);
      probe.bind(address);
    } catch (IOException refused) {
      throw httpRefused(address, String.valueOf(refused.getMessage()));
    }
  }

  private static void checkNode(MapOptions options) throws StartFailure {
    int node = options.numaNode();
    if (node == MapOptions.ANY_NODE) {
      return;
    }
    List<Integer> online;
    try {
      online = NumaNode.online().stream().map(NumaNode::id).toList();
    } catch (IOException unknown) {
      return; // the mapping says what it got
    }
    if (!online.isEmpty() && !online.contains(node)) {
      throw new StartFailure(
          "this host has no NUMA node " + node,
          "choose one of %s with --numa-node, or any".formatted(online));
    }
  }

  static StartFailure socketRefused(NativeException refused) {
    String remedy =
        refused.is(Errno.EADDRINUSE)
            ? "stop the other daemon, or give this one a --socket and --journal of its own"
            : "choose another --socket: a path of at most 107 bytes, in a folder that this user can"
                + " write, where nothing but a socket lies";
    return new StartFailure(
        "the socket cannot be served: " + refused.getMessage(), remedy, refused);
  }

  static StartFailure httpRefused(InetSocketAddress address, String why) {
    return new StartFailure(
        "HTTP cannot be served at %s:%d: %s"
            .formatted(address.getHostString(), address.getPort(), why),
        "choose another --http-addr, port 0 for any, or off");
  }
}
