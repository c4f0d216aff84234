package io.orbitkv.ffi;

import java.util.EnumSet;
import java.util.Set;

/** A promise about a memfd that nobody, its creator included, can take back. */
public enum Seal {
  /** No seal can be added. */
  SEAL(0x1),
  /** It cannot get shorter: without this, a peer's truncation kills whoever touches the mapping. */
  SHRINK(0x2),
  /** It cannot get longer. */
  GROW(0x4),
  /** Its contents cannot change. */
  WRITE(0x8),
  /** No new writable mapping can be made; the present ones stay writable. */
  FUTURE_WRITE(0x10),
  /** Its executable bits cannot change. */
  EXEC(0x20);

  private final int bit;

  Seal(int bit) {
    this.bit = bit;
  }

  static int bits(Set<Seal> seals) {
    int bits = 0;
    for (Seal seal : seals) {
      bits |= seal.bit;
    }
    return bits;
  }

  static Set<Seal> fromBits(int bits) {
    Set<Seal> seals = EnumSet.noneOf(Seal.class);
    for (Seal seal : values()) {
      if ((bits & seal.bit) != 0) {
        seals.add(seal);
      }
    }
    return seals;
  }
}
