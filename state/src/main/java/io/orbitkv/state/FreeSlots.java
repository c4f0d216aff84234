package io.orbitkv.state;

/**
 * The free slots of one shape (key length and number of slices), first freed first reused: the
 * blocks of an evicted prompt leave neighbouring slots, and the blocks of the next prompt fill them
 * in the same order, which is what {@link BlockTable} guesses on.
 */
final class FreeSlots {
  final int keyBytes;
  final int slices;
  int head = -1;
  int tail = -1;

  FreeSlots(int keyBytes, int slices) {
    this.keyBytes = keyBytes;
    this.slices = slices;
  }

  static long id(int keyBytes, int slices) {
    return ((long) keyBytes << 32) | slices;
  }
}
