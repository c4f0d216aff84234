package io.orbitkv.chaos;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.orbitkv.client.Lease;
import io.orbitkv.client.PublishResult;
import io.orbitkv.client.QueryResult;
import io.orbitkv.client.RestoreResult;
import io.orbitkv.client.Ticket;
import io.orbitkv.client.wire.IntRun;
import io.orbitkv.client.wire.PublishRequest;
import io.orbitkv.client.wire.QueryAnswer;
import io.orbitkv.client.wire.QueryRequest;
import io.orbitkv.client.wire.RestoreRequest;
import io.orbitkv.manager.workload.Children;
import io.orbitkv.manager.workload.Engine;
import io.orbitkv.manager.workload.EngineShape;
import io.orbitkv.manager.workload.ManagerProcess;
import io.orbitkv.manager.workload.ScratchDir;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The daemon as delivered, started under a profile that forbids io_uring, as containers are. */
class ForbiddenUringTest {
  private static final String WHY =
      "no io_uring: io_uring_setup failed with EPERM: forbidden by a seccomp profile";

  /**
   * Forbids io_uring_setup, io_uring_enter and io_uring_register (425 to 427) with EPERM for good,
   * then becomes the command that its arguments are. The filter is a classic BPF program that looks
   * at the call's number.
   */
  private static final String FILTER =
      """
      import ctypes, os, struct, sys
      allow, eperm = 0x7fff0000, 0x00050001
      program = b''.join(struct.pack('=HBBI', *each) for each in [
          (0x20, 0, 0, 0),       # load the number
          (0x35, 0, 2, 425),     # at least 425?
          (0x25, 1, 0, 427),     # more than 427?
          (0x06, 0, 0, eperm),
          (0x06, 0, 0, allow)])
      code = ctypes.create_string_buffer(program, len(program))
      header = struct.pack('@HP', len(program) // 8, ctypes.addressof(code))
      libc = ctypes.CDLL(None, use_errno=True)
      if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, ctypes.c_char_p(header), 0, 0):
          sys.exit('no filter: ' + os.strerror(ctypes.get_errno()))
      os.execvp(sys.argv[1], sys.argv[1:])
      """;

  /** Four times what the pool has room for. */
  private static final int BLOCKS = 320;

  private static final int BATCH = 16;
  private static final int TICKET_MILLIS = 20_000;
  private static final long WRITTEN_SECONDS = 20;

  @Test
  void shouldFallBackToPosixSayWhyAndWork() throws Exception {
    try (ScratchDir dir = ScratchDir.create("okv-chaos")) {
      List<String> flags =
          List.of(
              "--pool-size",
              "1mb",
              "--ssd-cache-path",
              dir.path().resolve("cache.ssd").toString(),
              "--ssd-cache-capacity",
              "8mb",
              "--http-addr",
              "127.0.0.1:0");
      try (ManagerProcess manager =
          ManagerProcess.start(
              dir.path(),
              flags,
              (arguments, log) ->
                  Children.start(filtered(Children.builder(arguments, List.of())), log, false))) {
        assertTrue(Files.readString(manager.log()).contains(" by posix: " + WHY), log(manager));
        try (Engine engine =
            Engine.connect(
                manager.socket(), new EngineShape("filtered", "filtered", 2, 4_096, 16, BATCH))) {
          publish(engine, Operator.of(manager));
          restore(engine);
        }
        JsonNode status = Operator.of(manager).status().required("ssd");
        assertTrue(
            status.required("backend").asText().startsWith("posix: " + WHY), status::toString);
        assertTrue(status.required("readBytes").asLong() > 0, status::toString);
        assertEquals(0, status.required("verifyFailures").asLong());
      }
      assertTrue(doctor(dir.path()).contains("posix: " + WHY));
    }
  }

  private static void publish(Engine engine, Operator operator)
      throws IOException, InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(WRITTEN_SECONDS);
    for (long first = 0; first < BLOCKS; first += BATCH) {
      for (int i = 0; i < BATCH; i++) {
        engine.fill(i, first + i);
      }
      assertInstanceOf(
          PublishResult.Published.class,
          engine
              .client()
              .publish(
                  new PublishRequest(0, "f", engine.keys(first, BATCH), IntRun.range(0, BATCH))));
      while (operator.status().required("ssd").required("blocks").asLong() < first + BATCH) {
        assertTrue(System.nanoTime() < deadline, "blocks do not go to SSD");
        Thread.sleep(2);
      }
    }
  }

  private static void restore(Engine engine) {
    for (long first = 0; first < BLOCKS; first += BATCH) {
      QueryRequest query =
          new QueryRequest(
              0, 0, "f", List.of(new QueryRequest.GroupKeys(0, engine.keys(first, BATCH))));
      QueryResult answer = engine.client().queryWaiting(query, TICKET_MILLIS);
      if (answer instanceof QueryResult.Loading(Ticket ticket)) {
        answer = engine.client().awaitAnswer(ticket, TICKET_MILLIS);
      }
      QueryResult.Ready ready = assertInstanceOf(QueryResult.Ready.class, answer);
      Lease lease = ready.lease();
      QueryAnswer found = ready.answer();
      assertEquals(BATCH, found.groups().getFirst().hitBlocks());
      for (int i = 0; i < BATCH; i++) {
        engine.wipe(i);
      }
      RestoreRequest pages =
          new RestoreRequest(
              "f", List.of(new RestoreRequest.GroupPages(0, 0, IntRun.range(0, BATCH))));
      assertInstanceOf(RestoreResult.Restored.class, engine.client().restore(lease, pages));
      for (int i = 0; i < BATCH; i++) {
        engine.verify(i, first + i, "f");
      }
      assertTrue(engine.client().release(lease).orThrow());
    }
  }

  private static String doctor(Path dir) throws IOException, InterruptedException {
    List<String> arguments = List.of("doctor", "--ssd-cache-path", dir.toString());
    Process process =
        filtered(Children.builder(arguments, List.of())).redirectErrorStream(true).start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertTrue(process.waitFor(60, TimeUnit.SECONDS));
    return said;
  }

  private static ProcessBuilder filtered(ProcessBuilder builder) {
    List<String> command = new ArrayList<>(List.of("python3", "-c", FILTER));
    command.addAll(builder.command());
    return builder.command(command);
  }

  private static String log(ManagerProcess manager) {
    return Children.tail(manager.log());
  }
}
