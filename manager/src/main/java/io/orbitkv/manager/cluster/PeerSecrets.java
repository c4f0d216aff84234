package io.orbitkv.manager.cluster;

import io.orbitkv.catalog.peer.PeerSecurity;
import io.orbitkv.manager.StartFailure;
import io.orbitkv.manager.config.ClusterConfig;
import io.orbitkv.manager.config.FileTrouble;
import io.orbitkv.transfer.tcp.TransferToken;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * What this host shows to others and asks of them, read once at the start.
 *
 * @param calls for calls
 * @param reads for reads of blocks
 */
record PeerSecrets(PeerSecurity calls, TransferToken reads) {
  private static final Set<PosixFilePermission> OTHERS =
      EnumSet.of(
          PosixFilePermission.GROUP_WRITE,
          PosixFilePermission.OTHERS_READ,
          PosixFilePermission.OTHERS_WRITE);

  static PeerSecrets read(ClusterConfig config) throws StartFailure {
    String token = token(config.tokenFile());
    if (config.tls().isPresent()) {
      ClusterConfig.Tls tls = config.tls().get();
      for (Path file : List.of(tls.certificate(), tls.privateKey(), tls.authority())) {
        if (!Files.isReadable(file)) {
          throw new StartFailure(
              "%s cannot be read".formatted(file),
              "name PEM files that this user can read, with --peer-cert, --peer-key, --peer-ca");
        }
      }
    }
    try {
      return new PeerSecrets(
          new PeerSecurity(
              Optional.of(token),
              config
                  .tls()
                  .map(
                      tls ->
                          new PeerSecurity.TlsFiles(
                              tls.certificate(), tls.privateKey(), tls.authority()))),
          new TransferToken(token.getBytes(StandardCharsets.US_ASCII)));
    } catch (IllegalArgumentException weak) {
      throw new StartFailure(
          "the peer token in %s cannot be used: %s"
              .formatted(config.tokenFile(), weak.getMessage()),
          "make one with: head -c 32 /dev/urandom | base64 > FILE",
          weak);
    }
  }

  private static String token(Path file) throws StartFailure {
    try {
      Set<PosixFilePermission> loose = EnumSet.copyOf(OTHERS);
      loose.retainAll(Files.getPosixFilePermissions(file));
      if (!loose.isEmpty()) {
        throw new StartFailure(
            "the peer token in %s is open to others".formatted(file), "chmod 600 " + file);
      }
      return Files.readString(file).strip();
    } catch (IOException unreadable) {
      throw new StartFailure(
          "the peer token in %s cannot be read: %s".formatted(file, FileTrouble.text(unreadable)),
          "make one with: head -c 32 /dev/urandom | base64 > FILE, and copy it to all hosts",
          unreadable);
    }
  }
}
