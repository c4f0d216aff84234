package io.orbitkv.transfer.tcp;

import io.orbitkv.transfer.PeerEndpoint;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The connections to peers, made when they are needed. */
final class PeerLinks {
  private final int stripes;
  private final Function<Stripes, PeerConnection> connect;
  private final ConcurrentHashMap<PeerEndpoint, Stripes> peers = new ConcurrentHashMap<>();

  PeerLinks(int stripes, Function<Stripes, PeerConnection> connect) {
    this.stripes = stripes;
    this.connect = connect;
  }

  Stripes to(PeerEndpoint peer) {
    return peers.computeIfAbsent(peer, Stripes::new);
  }

  int peers() {
    return peers.size();
  }

  /** The connections to one peer. */
  final class Stripes {
    private final PeerEndpoint peer;
    private final @Nullable PeerConnection[] connections = new PeerConnection[stripes];
    private final AtomicInteger next = new AtomicInteger();

    private Stripes(PeerEndpoint peer) {
      this.peer = peer;
    }

    PeerEndpoint peer() {
      return peer;
    }

    /** The place in the row to begin the next read at. */
    int next() {
      return next.getAndIncrement();
    }

    /** A connection that takes pieces, new if there is none at this place in the row. */
    synchronized PeerConnection connection(int number) {
      int index = Math.floorMod(number, connections.length);
      PeerConnection current = connections[index];
      if (current == null) {
        current = connect.apply(this);
        connections[index] = current;
      }
      return current;
    }

    /** A connection takes no more pieces. */
    synchronized void leave(PeerConnection connection) {
      boolean empty = true;
      for (int i = 0; i < connections.length; i++) {
        if (connections[i] == connection) {
          connections[i] = null;
        }
        empty &= connections[i] == null;
      }
      if (empty) {
        peers.remove(peer, this);
      }
    }
  }
}
