package io.orbitkv.transfer.tcp;

import io.netty.buffer.ByteBuf;
import java.nio.ByteBuffer;
import java.util.random.RandomGenerator;

/** 32 bytes, in their order: a nonce or a proof. */
record Bits256(long a, long b, long c, long d) {
  static final int BYTES = 32;
  static final Bits256 ZERO = new Bits256(0, 0, 0, 0);

  static Bits256 random(RandomGenerator random) {
    return new Bits256(random.nextLong(), random.nextLong(), random.nextLong(), random.nextLong());
  }

  static Bits256 read(ByteBuf in) {
    return new Bits256(in.readLong(), in.readLong(), in.readLong(), in.readLong());
  }

  static Bits256 of(byte[] bytes) {
    ByteBuffer in = ByteBuffer.wrap(bytes);
    return new Bits256(in.getLong(), in.getLong(), in.getLong(), in.getLong());
  }

  void write(ByteBuf out) {
    out.writeLong(a).writeLong(b).writeLong(c).writeLong(d);
  }

  void put(ByteBuffer out) {
    out.putLong(a).putLong(b).putLong(c).putLong(d);
  }

  /** Compares in a time that does not depend on where they differ. */
  boolean matches(Bits256 other) {
    return ((a ^ other.a) | (b ^ other.b) | (c ^ other.c) | (d ^ other.d)) == 0;
  }
}
