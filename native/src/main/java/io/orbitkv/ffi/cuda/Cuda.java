package io.orbitkv.ffi.cuda;

import io.orbitkv.ffi.Probe;
import io.orbitkv.ffi.SharedLibrary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Finds the CUDA driver. Nothing of it is loaded before the first call of {@link #find}, and
 * nothing at all where {@code libcuda.so.1} is not there.
 *
 * <p>The binding is JCuda's. Its native half is a resource of this module's jar, and it insists on
 * unpacking it under a fixed name into {@code java.io.tmpdir}, where another user could have put
 * something else: so that property names a folder of our own while it loads, which is deleted
 * again.
 */
public final class Cuda {
  private static final String LIBRARY = "libcuda.so.1";
  private static final String TEMPORARY = "java.io.tmpdir";

  private static @Nullable Found found;

  private Cuda() {}

  /** A driver, or why there is none. */
  public sealed interface Found {
    /** There is one, with at least one GPU. */
    record Present(CudaDriver driver) implements Found {}

    /**
     * There is none.
     *
     * @param reason in words
     * @param remedy what an operator can do
     */
    record Absent(String reason, String remedy) implements Found {}
  }

  /** Loads the driver, once a process. */
  public static synchronized Found find() {
    Found known = found;
    if (known == null) {
      known = load();
      found = known;
    }
    return known;
  }

  private static Found load() {
    String architecture = System.getProperty("os.arch", "").toLowerCase(Locale.ROOT);
    if (!architecture.equals("amd64") && !architecture.equals("x86_64")) {
      return new Found.Absent("no CUDA binding for " + architecture, "use HOST buffers");
    }
    Probe probe =
        SharedLibrary.probe(
            LIBRARY, "cuInit", "install the NVIDIA driver; in a container, run it with GPU access");
    if (!probe.present()) {
      return new Found.Absent(probe.detail(), probe.remedy());
    }
    try {
      loadBinding();
      JcudaDriver driver = JcudaDriver.initialize();
      return driver.gpus().isEmpty()
          ? new Found.Absent("the driver lists no GPU", "look at CUDA_VISIBLE_DEVICES")
          : new Found.Present(driver);
    } catch (CudaException refused) {
      return new Found.Absent(
          String.valueOf(refused.getMessage()), "look at what nvidia-smi says; restart the driver");
    } catch (IOException | LinkageError broken) {
      return new Found.Absent(
          "the CUDA binding does not load: " + broken,
          "set ORBITKV_TMPDIR to a folder that allows to execute");
    }
  }

  private static void loadBinding() throws IOException {
    String before = System.getProperty(TEMPORARY, "/tmp");
    Path folder = Files.createTempDirectory(Path.of(before), "orbitkv-cuda");
    System.setProperty(TEMPORARY, folder.toString());
    try {
      JcudaDriver.load();
    } finally {
      System.setProperty(TEMPORARY, before);
      try (var files = Files.list(folder)) {
        for (Path file : files.toList()) {
          Files.delete(file);
        }
      }
      Files.delete(folder);
    }
  }
}
