package io.orbitkv.ffi;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ThreadNiceTest {

  @Test
  void shouldLowerThreadsByTheirName() throws Exception {
    CountDownLatch end = new CountDownLatch(1);
    Thread other = Thread.ofPlatform().name("nice-other").start(() -> await(end));
    Thread lowered = Thread.ofPlatform().name("nice-lowered-1").start(() -> await(end));
    int before = niceOf("nice-lowered");
    try {
      assertEquals(1, ThreadNice.lower("nice-lowered", 7));
      assertEquals(7, niceOf("nice-lowered"));
      assertEquals(before, niceOf("nice-other"));
      assertEquals(0, ThreadNice.lower("nice-nobody", 7));
    } finally {
      end.countDown();
      other.join();
      lowered.join();
    }
  }

  private static int niceOf(String namePrefix) throws Exception {
    try (Stream<Path> threads = Files.list(Path.of("/proc/self/task"))) {
      for (Path thread : threads.toList()) {
        if (Files.readString(thread.resolve("comm")).startsWith(namePrefix)) {
          String stat = Files.readString(thread.resolve("stat"));
          String[] behindName = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
          return Integer.parseInt(behindName[16]);
        }
      }
    }
    throw new AssertionError("no thread " + namePrefix);
  }

  private static void await(CountDownLatch end) {
    try {
      end.await();
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }
}
