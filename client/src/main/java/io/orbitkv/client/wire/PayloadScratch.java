package io.orbitkv.client.wire;

/**
 * Where payloads are copied out of shared memory before they are read. The channels that one thread
 * serves share one, so that a large query costs the heap nothing.
 */
public final class PayloadScratch {
  private static final int FIRST_BYTES = 4_096;

  private byte[] array = new byte[FIRST_BYTES];

  /** The array, with room for so many bytes. */
  byte[] withRoom(int bytes) {
    if (array.length < bytes) {
      array = new byte[Math.max(bytes, array.length * 2)];
    }
    return array;
  }
}
