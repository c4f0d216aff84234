package io.orbitkv.chaos.sim;

import io.orbitkv.state.Keys;
import java.nio.ByteBuffer;

/**
 * A key as the models know it.
 *
 * @param key the first eight bytes of the hash, which tell all keys of a simulation apart
 */
record Name(String namespace, int groupId, long key) {

  static Name of(String namespace, int groupId, Keys keys, int index) {
    return new Name(namespace, groupId, number(keys, index));
  }

  static long number(Keys keys, int index) {
    return ByteBuffer.wrap(keys.packed(), keys.offset(index), Long.BYTES).getLong();
  }

  /** Keys of that many bytes, at least eight, that begin with the numbers. */
  static Keys keys(int keyBytes, long[] numbers) {
    ByteBuffer packed = ByteBuffer.allocate(keyBytes * numbers.length);
    for (int i = 0; i < numbers.length; i++) {
      packed.putLong(i * keyBytes, numbers[i]);
    }
    return Keys.ofPacked(keyBytes, packed.array());
  }

  @Override
  public String toString() {
    return namespace + "/" + groupId + "/" + key;
  }
}
