package io.orbitkv.catalog.membership;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** A TCP forwarder that can swallow everything, as a partition does, or cut its connections. */
final class CuttableProxy implements AutoCloseable {
  private final ServerSocket listener = new ServerSocket(0, 16, InetAddress.getLoopbackAddress());
  private final int target;
  private final List<Socket> sockets = new CopyOnWriteArrayList<>();
  private volatile boolean swallowing;

  CuttableProxy(int target) throws IOException {
    this.target = target;
    Thread.ofVirtual().start(this::accept);
  }

  String uri() {
    return "http://127.0.0.1:" + listener.getLocalPort();
  }

  void swallow(boolean on) {
    swallowing = on;
  }

  void cut() {
    sockets.forEach(CuttableProxy::closeQuietly);
    sockets.clear();
  }

  private void accept() {
    while (!listener.isClosed()) {
      try {
        Socket in = listener.accept();
        Socket out = new Socket(InetAddress.getLoopbackAddress(), target);
        sockets.add(in);
        sockets.add(out);
        Thread.ofVirtual().start(() -> pump(in, out));
        Thread.ofVirtual().start(() -> pump(out, in));
      } catch (IOException e) {
        // The target is away, or this proxy closes.
      }
    }
  }

  private void pump(Socket from, Socket to) {
    byte[] buffer = new byte[8192];
    try (InputStream in = from.getInputStream();
        OutputStream out = to.getOutputStream()) {
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
        if (!swallowing) {
          out.write(buffer, 0, n);
          out.flush();
        }
      }
    } catch (IOException e) {
      // The other side is told below.
    }
    closeQuietly(from);
    closeQuietly(to);
  }

  private static void closeQuietly(Socket socket) {
    try {
      socket.close();
    } catch (IOException e) {
      // It is closed, then.
    }
  }

  @Override
  public void close() throws IOException {
    listener.close();
    cut();
  }
}
