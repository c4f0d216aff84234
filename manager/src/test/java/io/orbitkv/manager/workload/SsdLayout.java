package io.orbitkv.manager.workload;

/** Where blocks lie on SSD, for comparing layouts on a trace. What is used least lately goes. */
interface SsdLayout {
  boolean holds(long block);

  /** The block, which is there, was used. */
  void touch(long block);

  /** The block, which is not there, comes. */
  void write(long block, int bytes);

  /** Bytes that the host wrote, those that were written again among them. */
  long writtenBytes();

  /** The most payload that was there at one time. */
  long peakLiveBytes();

  /**
   * Plays a trace: the leading blocks that are there are hits, and all of a request's are used.
   *
   * @return the blocks hit, and the payload that was written
   */
  default Played play(Trace trace, Sizes sizes) {
    long hits = 0;
    long payload = 0;
    for (TraceRequest request : trace.requests()) {
      boolean leading = true;
      for (int i = 0; i < request.blockCount(); i++) {
        long block = request.block(i);
        if (holds(block)) {
          hits += leading ? 1 : 0;
          touch(block);
        } else {
          leading = false;
          write(block, sizes.bytes(block));
          payload += sizes.bytes(block);
        }
      }
    }
    return new Played(hits, payload);
  }

  /** What playing came to. */
  record Played(long hits, long payloadBytes) {}

  /** How long each block is. */
  interface Sizes {
    int bytes(long block);
  }
}
