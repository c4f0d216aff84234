package io.orbitkv.ffi;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * How much of a processor that several threads want some threads of this process get, where the JVM
 * gives them no other way.
 */
public final class ThreadNice {
  private static final int PRIO_PROCESS = 0;
  private static final Path THREADS = Path.of("/proc/self/task");
  private static final MethodHandle SETPRIORITY =
      Linkage.link("setpriority", JAVA_INT, JAVA_INT, JAVA_INT, JAVA_INT);

  private ThreadNice() {}

  /**
   * Gives threads a smaller share, for good: it takes a privilege to have it back. Threads that
   * they start inherit it.
   *
   * @param namePrefix what the system's names of the threads begin with, at most 15 bytes
   * @param nice 1 to 19; 5 is a third of what others get
   * @return how many threads it was done to
   * @throws IOException if the threads cannot be listed
   */
  public static int lower(String namePrefix, int nice) throws IOException {
    int lowered = 0;
    try (DirectoryStream<Path> threads = Files.newDirectoryStream(THREADS)) {
      for (Path thread : threads) {
        if (Files.readString(thread.resolve("comm")).startsWith(namePrefix)) {
          int id = Integer.parseInt(thread.getFileName().toString());
          lowered += setPriority(id, nice) == 0 ? 1 : 0;
        }
      }
    }
    return lowered;
  }

  private static int setPriority(int threadId, int nice) {
    CallState state = CallState.get();
    try {
      return state.result((int) SETPRIORITY.invokeExact(state.errno, PRIO_PROCESS, threadId, nice));
    } catch (Throwable thrown) {
      throw Linkage.failure("setpriority", thrown);
    }
  }
}
