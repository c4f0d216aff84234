package io.orbitkv.catalog.peer;

import java.nio.file.Path;
import java.util.Optional;

/**
 * What a host must show to be spoken with, and shows itself. The same on all hosts.
 *
 * @param token a shared secret in every call, or none
 * @param tls certificates for both sides of every connection, or none
 */
public record PeerSecurity(Optional<String> token, Optional<TlsFiles> tls) {
  /** Anybody who reaches the port is spoken with. */
  public static final PeerSecurity NONE = new PeerSecurity(Optional.empty(), Optional.empty());

  /** Refuses a token that is too short to be a secret. */
  public PeerSecurity {
    token.ifPresent(
        secret -> {
          if (secret.length() < 16 || !secret.chars().allMatch(c -> c > ' ' && c <= '~')) {
            throw new IllegalArgumentException(
                "the peer token needs at least 16 visible ASCII characters, without spaces");
          }
        });
  }

  /** Says what is set, without the token. */
  @Override
  public String toString() {
    return (token.isPresent() ? "token" : "no token") + (tls.isPresent() ? ", TLS" : ", no TLS");
  }

  /**
   * PEM files, read once at the start.
   *
   * @param certificate this host's certificate chain; its DNS names include its node id
   * @param privateKey its key in PKCS 8
   * @param authority the certificates that sign those of all hosts
   */
  public record TlsFiles(Path certificate, Path privateKey, Path authority) {}
}
