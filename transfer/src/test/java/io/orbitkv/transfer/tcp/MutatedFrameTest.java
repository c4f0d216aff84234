package io.orbitkv.transfer.tcp;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.orbitkv.transfer.Grant;
import io.orbitkv.transfer.GrantTable;
import io.orbitkv.transfer.Pattern;
import io.orbitkv.transfer.PoolRange;
import io.orbitkv.transfer.Refusal;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.SplittableRandom;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/**
 * A source that gets mutated hellos and requests: it refuses, closes or serves exactly what the
 * grant covers, and holds nothing afterwards. Repeat a failure with {@code ./orbitkv test transfer
 * -Dtest=MutatedFrameTest -Dorbitkv.seed=SEED}.
 */
class MutatedFrameTest {
  private static final int FRAMES = 20_000;
  private static final long POOL_BYTES = 1 << 16;
  private static final PoolRange GRANTED = new PoolRange(4096, 8192);

  private final MemorySegment pool = Pattern.pool(Arena.global(), POOL_BYTES);
  private final TcpOptions options = TcpTransferContract.options();
  private final Counters counters = new Counters();
  private final GrantTable grants =
      new GrantTable(options.runtime(), POOL_BYTES, 8, System::nanoTime, new SecureRandom());
  private final SourceSide source =
      new SourceSide(options, pool, grants, new SecureRandom(), counters);
  private final Grant grant = grants.open(List.of(GRANTED), Duration.ofHours(1)).orElseThrow();

  @Test
  void shouldServeNothingButWhatTheGrantCovers() {
    long seed = Long.getLong("orbitkv.seed", new SecureRandom().nextLong());
    SplittableRandom random = new SplittableRandom(seed);
    int served = 0;
    int refused = 0;
    int closed = 0;
    try {
      for (int i = 0; i < FRAMES; i++) {
        EmbeddedChannel channel = new EmbeddedChannel(new SourceConnection(source));
        ByteBuf challenge = channel.readOutbound();
        ByteBuf hello = hello(challenge);
        boolean goodHello = random.nextInt(8) > 0;
        ByteBuf shown = goodHello ? hello : mutated(hello, random);
        ByteBuf sent = mutated(request(random), random);
        for (ByteBuf part : split(shown, random)) {
          if (channel.isOpen()) {
            channel.writeInbound(part);
          } else {
            part.release();
          }
        }
        if (channel.isOpen()) {
          channel.writeInbound(sent.retainedDuplicate());
        }
        channel.checkException();
        served += answersTo(sent, channel);
        closed += channel.isOpen() ? 0 : 1;
        refused += (int) (refusals() - refused);
        sent.release();
        channel.finishAndReleaseAll();
        assertEquals(0, grants.readsInFlight(), "held after the connection");
      }
      assertTrue(served > 100, served + " were served: the mutations are too coarse");
      assertTrue(closed > 1000, closed + " connections were closed");
      assertTrue(refused > 1000, refused + " were refused");
      assertTrue(counters.badFrames.sum() > 1000);
    } catch (RuntimeException | AssertionError e) {
      throw new AssertionError(
          "seed "
              + seed
              + ": ./orbitkv test transfer -Dtest=MutatedFrameTest -Dorbitkv.seed="
              + seed,
          e);
    }
  }

  private long refusals() {
    return counters.snapshot(grants).refusals().values().stream().mapToLong(Long::longValue).sum();
  }

  /** How many reads were answered with bytes; each of them was covered, and the bytes are right. */
  private int answersTo(ByteBuf sent, EmbeddedChannel channel) {
    int served = 0;
    ByteBuf out = Unpooled.buffer();
    for (ByteBuf part = channel.readOutbound(); part != null; part = channel.readOutbound()) {
      out.writeBytes(part);
      part.release();
    }
    if (out.readableBytes() < Wire.WELCOME_BYTES) {
      return 0;
    }
    out.skipBytes(Wire.WELCOME_BYTES);
    while (out.isReadable()) {
      Wire.Answer answer = Wire.Answer.read(out);
      if (answer.refusal() != 0) {
        assertTrue(Refusal.of(answer.refusal()).isPresent());
        assertEquals(0, answer.payloadBytes());
        sent.skipBytes(frameBytes(sent));
        continue;
      }
      served++;
      Wire.Read read = Wire.Read.read(sent, frameBytes(sent));
      assertEquals(grant.id(), read.grant());
      assertEquals(grant.secret(), read.secret());
      assertEquals(grant.runtime(), read.runtime());
      for (PoolRange range : read.ranges()) {
        assertTrue(GRANTED.covers(range), range + " was served");
        for (long at = range.offset(); at < range.end(); at++) {
          assertEquals(pool.get(JAVA_BYTE, at), out.readByte());
        }
      }
    }
    return served;
  }

  private static int frameBytes(ByteBuf sent) {
    return (int) sent.getUnsignedIntLE(sent.readerIndex());
  }

  private ByteBuf hello(ByteBuf challenge) {
    Bits256 nonce = Wire.Challenge.read(challenge).nonce();
    challenge.release();
    UUID reader = new UUID(1, 2);
    Bits256 own = new Bits256(1, 2, 3, 4);
    ByteBuf out = Unpooled.buffer();
    new Wire.Hello(
            Wire.MAGIC,
            Wire.VERSION,
            reader,
            options.runtime(),
            own,
            options.token().ofReader(nonce, own, reader, options.runtime()))
        .write(out);
    return out;
  }

  private ByteBuf request(SplittableRandom random) {
    ByteBuf out = Unpooled.buffer();
    int count = 1 + random.nextInt(3);
    for (int i = 0; i < count; i++) {
      long length = 1L + random.nextInt(512);
      new Wire.Read(
              i,
              grant.id(),
              grant.secret(),
              grant.runtime(),
              List.of(
                  new PoolRange(4096 + random.nextInt(4096), length),
                  new PoolRange(4096 + random.nextInt(4096), length)))
          .write(out);
    }
    return out;
  }

  private static ByteBuf mutated(ByteBuf frame, SplittableRandom random) {
    int changes = random.nextInt(3);
    for (int i = 0; i < changes; i++) {
      int at = random.nextInt(frame.readableBytes());
      switch (random.nextInt(5)) {
        case 0 -> frame.setByte(at, frame.getByte(at) ^ (1 << random.nextInt(8)));
        case 1 -> frame.setByte(at, random.nextInt(256));
        case 2 -> frame.setLongLE(Math.min(at, frame.readableBytes() - 8), extreme(random));
        case 3 -> frame.writerIndex(Math.max(1, at));
        default -> frame.writeByte(random.nextInt(256));
      }
      if (frame.readableBytes() < 9) {
        return frame;
      }
    }
    return frame;
  }

  private static long extreme(SplittableRandom random) {
    long[] values = {0, -1, Long.MAX_VALUE, Long.MIN_VALUE, POOL_BYTES, 1L << 32, 12_287, 12_288};
    return values[random.nextInt(values.length)];
  }

  private static List<ByteBuf> split(ByteBuf frame, SplittableRandom random) {
    int at = random.nextInt(frame.readableBytes() + 1);
    return List.of(frame.readRetainedSlice(at), frame.readRetainedSlice(frame.readableBytes()));
  }
}
