package io.orbitkv.transfer.tcp;

import io.orbitkv.transfer.GrantTable;
import java.lang.foreign.MemorySegment;
import java.security.SecureRandom;

/** What every connection of a peer to this host's pool uses. */
record SourceSide(
    TcpOptions options,
    MemorySegment pool,
    GrantTable grants,
    SecureRandom random,
    Counters counters) {

  Bits256 nonce() {
    return Bits256.random(random);
  }

  TransferToken token() {
    return options.token();
  }

  boolean hasRoom() {
    return counters.inboundConnections.get() <= options.flow().maxConnections();
  }
}
