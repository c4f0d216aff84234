package io.orbitkv.ffi;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Set;
import java.util.TreeSet;

/**
 * The processors.
 *
 * @param architecture {@code amd64} or {@code aarch64}
 * @param model the vendor's name, or the architecture where the kernel gives none
 * @param usableCores how many this process may run on
 * @param features the instruction set extensions, in the kernel's words, such as {@code avx2}
 */
public record CpuFacts(String architecture, String model, int usableCores, Set<String> features) {
  private static final Path CPUINFO = Path.of("/proc/cpuinfo");

  /** Copies the set. */
  public CpuFacts {
    features = Set.copyOf(features);
  }

  static CpuFacts read() throws IOException {
    String architecture = System.getProperty("os.arch", "");
    boolean x86 = Abi.CURRENT == Abi.X86_64;
    String flags = ProcFile.line(CPUINFO, x86 ? "flags" : "Features");
    return new CpuFacts(
        architecture,
        x86 ? ProcFile.line(CPUINFO, "model name") : architecture,
        Runtime.getRuntime().availableProcessors(),
        new TreeSet<>(Arrays.asList(flags.split(" ", -1))));
  }
}
