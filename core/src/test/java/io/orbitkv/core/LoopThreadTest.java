package io.orbitkv.core;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.core.Command.GroupKeys;
import io.orbitkv.core.Command.GroupTarget;
import io.orbitkv.core.Command.QueryMode;
import io.orbitkv.core.copy.CopyWorkers;
import io.orbitkv.core.pool.ExtentAllocator;
import io.orbitkv.state.Fact;
import io.orbitkv.state.HostEvent;
import io.orbitkv.state.HostEvent.SessionRole;
import io.orbitkv.state.HostInvariants;
import io.orbitkv.state.HostState;
import io.orbitkv.state.Keys;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class LoopThreadTest {
  private static final int CLIENTS = 3;
  private static final int ROUNDS = 60;

  /** Parks the loop's thread. */
  private static final class ParkIdle implements Idle {
    private volatile Thread parked = Thread.currentThread();

    @Override
    public void idle(int workCount, long maxNanos) {
      if (workCount == 0) {
        parked = Thread.currentThread();
        LockSupport.parkNanos(Math.min(maxNanos, 50_000_000));
      }
    }

    @Override
    public void wake() {
      LockSupport.unpark(parked);
    }
  }

  private final HostConfig config =
      TestLoop.config(40).maxCopiesInFlight(16).inlineCopyBytes(0).build();
  private final ArrayBlockingQueue<Command> commands = new ArrayBlockingQueue<>(64);
  private final ParkIdle idle = new ParkIdle();
  private final HostState state = new HostState();
  private final FakeLog log = new FakeLog(0);
  private final AtomicReference<LoopBroken> broken = new AtomicReference<>();

  private ManagerLoop loop(FactLog facts, CopyWorkers workers) {
    return new ManagerLoop(
        config,
        "test",
        state,
        facts,
        Clock.SYSTEM,
        (consumer, limit) -> {
          int polled = 0;
          for (Command command; polled < limit && (command = commands.poll()) != null; polled++) {
            consumer.accept(command);
          }
          return polled;
        },
        config.eviction().create(),
        new ExtentAllocator(config.poolBytes(), 1),
        MemorySegment.ofArray(new byte[(int) config.poolBytes()]),
        workers,
        SessionListener.NONE);
  }

  private Reply ask(Function<ReplySink, Command> command) throws Exception {
    CompletableFuture<Reply> answer = new CompletableFuture<>();
    commands.put(command.apply(answer::complete));
    idle.wake();
    return answer.get(10, TimeUnit.SECONDS);
  }

  @Test
  @Timeout(60)
  void shouldServeSeveralEnginesWithRealThreads() throws Exception {
    try (CopyWorkers workers = new CopyWorkers(2, 16, idle::wake)) {
      ManagerLoop loop = loop(log, workers);
      LoopThread thread = new LoopThread(loop, idle, broken::set);
      thread.start();
      List<CompletableFuture<Void>> clients = new ArrayList<>();
      for (int client = 0; client < CLIENTS; client++) {
        int number = client;
        CompletableFuture<Void> done = new CompletableFuture<>();
        clients.add(done);
        Thread.ofPlatform()
            .start(
                () -> {
                  try {
                    play(number);
                    done.complete(null);
                  } catch (Exception | AssertionError e) {
                    done.completeExceptionally(e);
                  }
                });
      }
      for (CompletableFuture<Void> client : clients) {
        client.get(50, TimeUnit.SECONDS);
      }
      assertInstanceOf(Reply.ShutDown.class, ask(sink -> new Command.Shutdown("stop", sink)));
      assertTrue(thread.join(Duration.ofSeconds(5)));
    }
    assertEquals(null, broken.get());
    HostInvariants.checkDeep(state);
    assertEquals(0, state.openLeases());
  }

  private void play(int client) throws Exception {
    FakeBuffers pages = FakeBuffers.of(1, Formats.LAYERS, 32, Formats.LAYER_BYTES);
    Reply.Registered session =
        (Reply.Registered)
            ask(
                sink ->
                    new Command.Register(
                        "engine" + client,
                        "ns" + client,
                        Formats.of(Formats.prefix(0)),
                        0,
                        1,
                        SessionRole.LOAD,
                        1,
                        1,
                        0,
                        pages,
                        sink));
    long id = session.sessionId();
    int[] sources = {0, 1, 2, 3};
    int[] targets = {16, 17, 18, 19};
    for (int round = 0; round < ROUNDS; round++) {
      int first = 4 * (round % 3);
      Keys keys = TestLoop.numbered(first, first + 1, first + 2, first + 3);
      for (int page : sources) {
        pages.fill(0, page, 10 * client + first + page);
      }
      ask(sink -> new Command.Publish(id, "p", 0, keys, sources, sink));
      Reply found =
          ask(
              sink ->
                  new Command.Query(
                      id,
                      "q",
                      0,
                      0,
                      List.of(new GroupKeys(0, keys)),
                      QueryMode.LEASE,
                      0,
                      false,
                      sink));
      if (found instanceof Reply.Ready ready && ready.boundaryToken() == 16) {
        Reply restored =
            ask(
                sink ->
                    new Command.Restore(
                        id,
                        "r",
                        ready.leaseId(),
                        List.of(new GroupTarget(0, 0, targets)),
                        true,
                        null,
                        sink));
        assertInstanceOf(Reply.Restored.class, restored);
        for (int page : sources) {
          assertEquals(10 * client + first + page, pages.read(0, 16 + page));
        }
      }
    }
  }

  @Test
  void shouldStopAtABrokenInvariantNamingThePosition() {
    FactLog skipping =
        new FactLog() {
          private long position;

          @Override
          public long append(long atMicros, HostEvent event) {
            position++;
            return log.append(atMicros, event) + (position > 2 ? 1 : 0);
          }

          @Override
          public boolean hasRoom(int facts, long columnBytes) {
            return true;
          }

          @Override
          public void endBatch() {}
        };
    try (CopyWorkers workers = new CopyWorkers(1, 1, idle::wake)) {
      ManagerLoop loop = loop(skipping, workers);
      while (!loop.serving()) {
        loop.doWork();
      }
      commands.add(
          new Command.Register(
              "engine",
              "ns",
              Formats.of(Formats.prefix(0)),
              0,
              1,
              SessionRole.LOAD,
              1,
              1,
              0,
              null,
              reply -> {
                throw new AssertionError("nothing may be answered: " + reply);
              }));
      LoopBroken stop = assertThrows(LoopBroken.class, loop::doWork);
      assertEquals(4, stop.position());
      assertFalse(loop.serving());
      assertEquals(0, loop.doWork());
    }
    List<Fact> facts = log.facts;
    assertEquals(3, facts.size());
  }
}
