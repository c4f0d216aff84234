package io.orbitkv.catalog.peer;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;

/** Certificates of a test's own authority, made with the JDK's keytool. */
final class Certificates {
  private static final String PASSWORD = "changeit";

  private final Path dir;

  Certificates(Path dir) throws IOException, InterruptedException {
    this.dir = dir;
    keytool(
        "-genkeypair",
        "-alias",
        "ca",
        "-dname",
        "CN=test authority",
        "-ext",
        "bc:c",
        "-keyalg",
        "EC");
    keytool("-exportcert", "-rfc", "-alias", "ca", "-file", dir.resolve("ca.pem").toString());
  }

  /** Files of a host, signed by the authority and naming the node. */
  PeerSecurity.TlsFiles issue(String node)
      throws IOException, InterruptedException, GeneralSecurityException {
    keytool("-genkeypair", "-alias", node, "-dname", "CN=" + node, "-keyalg", "EC");
    String request = dir.resolve(node + ".csr").toString();
    keytool("-certreq", "-alias", node, "-file", request);
    Path certificate = dir.resolve(node + ".pem");
    keytool(
        "-gencert",
        "-rfc",
        "-alias",
        "ca",
        "-infile",
        request,
        "-outfile",
        certificate.toString(),
        "-ext",
        "san=dns:" + node);
    KeyStore store = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(dir.resolve("store"))) {
      store.load(in, PASSWORD.toCharArray());
    }
    byte[] key = store.getKey(node, PASSWORD.toCharArray()).getEncoded();
    Path keyFile = dir.resolve(node + ".key");
    Files.writeString(
        keyFile,
        "-----BEGIN PRIVATE KEY-----\n"
            + Base64.getMimeEncoder().encodeToString(key)
            + "\n-----END PRIVATE KEY-----\n");
    return new PeerSecurity.TlsFiles(certificate, keyFile, dir.resolve("ca.pem"));
  }

  private void keytool(String... arguments) throws IOException, InterruptedException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
    command.addAll(Arrays.asList(arguments));
    command.addAll(List.of("-keystore", dir.resolve("store").toString(), "-storepass", PASSWORD));
    Path log = dir.resolve("keytool.log");
    Process process =
        new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile()).start();
    if (process.waitFor() != 0) {
      throw new IOException(command + ": " + Files.readString(log));
    }
  }
}
