package io.orbitkv.ffi;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A NUMA node of this host.
 *
 * @param id its number, as {@link MapOptions#withNumaNode} takes it
 * @param totalBytes its memory
 * @param freeBytes what of that is free
 * @param cpus the processors close to it
 */
public record NumaNode(int id, long totalBytes, long freeBytes, List<Integer> cpus) {
  private static final Path NODES = Path.of("/sys/devices/system/node");

  /** Copies the list. */
  public NumaNode {
    cpus = List.copyOf(cpus);
  }

  /** The nodes that are online; empty where the kernel knows none. */
  public static List<NumaNode> online() throws IOException {
    String online;
    try {
      online = Files.readString(NODES.resolve("online"));
    } catch (NoSuchFileException noNuma) {
      return List.of();
    }
    List<NumaNode> nodes = new ArrayList<>();
    for (int id : ProcFile.numberList(online)) {
      Path folder = NODES.resolve("node" + id);
      String meminfo = Files.readString(folder.resolve("meminfo"));
      nodes.add(
          new NumaNode(
              id,
              bytes(meminfo, "MemTotal"),
              bytes(meminfo, "MemFree"),
              ProcFile.numberList(Files.readString(folder.resolve("cpulist")))));
    }
    return List.copyOf(nodes);
  }

  private static long bytes(String meminfo, String name) throws IOException {
    Matcher matcher = Pattern.compile(name + ":\\s+(\\d+) kB").matcher(meminfo);
    if (!matcher.find()) {
      throw new IOException("meminfo of a node has no " + name);
    }
    return Long.parseLong(matcher.group(1)) * 1024;
  }
}
