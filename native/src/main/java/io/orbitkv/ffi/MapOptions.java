package io.orbitkv.ffi;

/**
 * What a {@link Mapping} should be like. All but {@code writable} are wishes: what is not granted
 * is a {@link Shortfall} in the mapping's report.
 *
 * @param writable whether it can be written
 * @param hugePages ask for 2 MiB pages, else for transparent ones
 * @param populate have every page present before the mapping is returned
 * @param lock keep the pages out of swap
 * @param numaNode the node to take memory from, or {@link #ANY_NODE}
 */
public record MapOptions(
    boolean writable, boolean hugePages, boolean populate, boolean lock, int numaNode) {
  /** No NUMA binding. */
  public static final int ANY_NODE = -1;

  /** Read and write, nothing else. */
  public static final MapOptions READ_WRITE = new MapOptions(true, false, false, false, ANY_NODE);

  /** Read only. */
  public static final MapOptions READ_ONLY = new MapOptions(false, false, false, false, ANY_NODE);

  /** Checks the node. */
  public MapOptions {
    if (numaNode < ANY_NODE || numaNode >= Numa.MAX_NODES) {
      throw new IllegalArgumentException("no such NUMA node: " + numaNode);
    }
  }

  public MapOptions withHugePages(boolean wanted) {
    return new MapOptions(writable, wanted, populate, lock, numaNode);
  }

  public MapOptions withPopulate(boolean wanted) {
    return new MapOptions(writable, hugePages, wanted, lock, numaNode);
  }

  public MapOptions withLock(boolean wanted) {
    return new MapOptions(writable, hugePages, populate, wanted, numaNode);
  }

  public MapOptions withNumaNode(int node) {
    return new MapOptions(writable, hugePages, populate, lock, node);
  }
}
