package io.orbitkv.chaos;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.manager.workload.ManagerProcess;
import io.orbitkv.manager.workload.ScratchDir;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Another user of the host connects. */
class WrongUserTest {
  private static final int OTHER = 65534;

  /** Becomes the other user, says HELLO, and prints what comes of it. */
  private static final String PEER =
      """
      import os, socket, struct, sys
      os.setgroups([]); os.setgid(int(sys.argv[2])); os.setuid(int(sys.argv[2]))
      s = socket.socket(socket.AF_UNIX); s.settimeout(10)
      try:
          s.connect(sys.argv[1])
          body = b'{"client":"other","protocolVersions":[1]}'
          try:
              s.sendall(struct.pack('<IHHIIQ', 0x31564B4F, 1, 1, len(body), 0, 1) + body)
          except OSError:
              pass
          got = b''
          while True:
              part = s.recv(65536)
              got += part
              if not part or len(got) > 24:
                  break
          print(got[24:].decode())
      except OSError as e:
          print(type(e).__name__)
      """;

  @BeforeAll
  static void canBecomeAnother() throws Exception {
    Process probe =
        new ProcessBuilder("python3", "-c", "import os; os.setgid(65534); os.setuid(65534)")
            .redirectErrorStream(true)
            .start();
    String said = new String(probe.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    Assumptions.assumeTrue(
        probe.waitFor() == 0, "another user can only be tried by root: " + said.strip());
  }

  @Test
  void shouldKeepOthersOutByTheModeOfTheSocket() throws Exception {
    try (ScratchDir dir = open();
        ManagerProcess manager = start(dir, List.of())) {
      assertEquals("PermissionError", connectAsOther(manager));
    }
  }

  @Test
  void shouldRefuseOthersWhoseConnectionTheModeLetsIn() throws Exception {
    try (ScratchDir dir = open();
        ManagerProcess manager = start(dir, List.of())) {
      letIn(manager);
      String answer = connectAsOther(manager);
      assertTrue(answer.contains("PEER_NOT_ALLOWED"), answer);
      assertTrue(answer.contains("user " + OTHER), answer);
      assertEquals(0, manager.health().sessions());
    }
  }

  @Test
  void shouldServeOthersThatAreAllowed() throws Exception {
    try (ScratchDir dir = open();
        ManagerProcess manager = start(dir, List.of("--allow-uid", Integer.toString(OTHER)))) {
      letIn(manager);
      String answer = connectAsOther(manager);
      assertTrue(answer.contains("epoch"), answer);
    }
  }

  private static ManagerProcess start(ScratchDir dir, List<String> flags) {
    List<String> all = new java.util.ArrayList<>(List.of("--pool-size", "1mb"));
    all.addAll(flags);
    return ManagerProcess.start(dir.path(), all, List.of());
  }

  /** A folder that the other user can look into, so that only the socket stands in the way. */
  private static ScratchDir open() throws IOException {
    ScratchDir dir = ScratchDir.create("okv-chaos");
    Files.setPosixFilePermissions(dir.path(), PosixFilePermissions.fromString("rwx--x--x"));
    return dir;
  }

  private static void letIn(ManagerProcess manager) throws IOException {
    Files.setPosixFilePermissions(
        Path.of(manager.socket()), PosixFilePermissions.fromString("rw-rw-rw-"));
  }

  private static String connectAsOther(ManagerProcess manager)
      throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder("python3", "-c", PEER, manager.socket(), Integer.toString(OTHER))
            .redirectErrorStream(true)
            .start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertTrue(process.waitFor(20, TimeUnit.SECONDS));
    return said.strip();
  }
}
