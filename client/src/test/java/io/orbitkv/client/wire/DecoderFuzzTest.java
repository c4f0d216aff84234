package io.orbitkv.client.wire;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.client.ProtocolText;
import io.orbitkv.client.control.Cleanup;
import io.orbitkv.client.control.FrameHeader;
import io.orbitkv.client.control.Hello;
import io.orbitkv.client.control.HelloOk;
import io.orbitkv.client.control.Refused;
import io.orbitkv.client.control.Register;
import io.orbitkv.client.control.RegisterCheck;
import io.orbitkv.client.control.Registered;
import io.orbitkv.client.control.Sessions;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import org.junit.jupiter.api.Test;

/**
 * Mutated payloads and frames: every decoder gives a value or a refusal, and never throws, hangs or
 * takes memory that the input does not account for. {@code -Dorbitkv.fuzz.cases} sets how many.
 */
class DecoderFuzzTest {
  private static final int CASES = Integer.getInteger("orbitkv.fuzz.cases", 100_000);
  private static final PayloadLimits LIMITS = new PayloadLimits(16, 1024);

  private static final class Target {
    final byte[] seed;
    final Function<byte[], Decoded<?>> decode;

    Target(byte[] seed, Function<byte[], Decoded<?>> decode) {
      this.seed = seed;
      this.decode = decode;
    }
  }

  @Test
  void shouldAnswerEveryMutationWithAValueOrARefusal() throws IOException {
    Random random = Random64.seeded(DecoderFuzzTest.class);
    List<Target> targets = targets(random);
    long refused = 0;
    for (int i = 0; i < CASES; i++) {
      Target target = targets.get(random.nextInt(targets.size()));
      byte[] mutated = mutate(target.seed, random);
      try {
        if (target.decode.apply(mutated) instanceof Decoded.Bad<?>(Refusal refusal)) {
          refused++;
          assertTrue(RefusalCode.of(refusal.code()) != null);
        }
      } catch (RuntimeException thrown) {
        throw new AssertionError(
            "case " + i + " threw on " + HexFormat.of().formatHex(mutated), thrown);
      }
    }
    System.out.printf("%,d mutations, %,d refused%n", CASES, refused);
    assertTrue(refused > CASES / 4, "most mutations are refused");
  }

  private static List<Target> targets(Random random) throws IOException {
    PayloadSamples samples = new PayloadSamples(random);
    List<Target> targets = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      targets.add(
          new Target(encode(samples.query()::encode), in -> QueryRequest.decode(in, LIMITS)));
      targets.add(
          new Target(encode(samples.publish()::encode), in -> PublishRequest.decode(in, LIMITS)));
      targets.add(
          new Target(encode(samples.restore()::encode), in -> RestoreRequest.decode(in, LIMITS)));
      targets.add(new Target(encode(samples.answer()::encode), QueryAnswer::decode));
      targets.add(new Target(encode(samples.reply()::encode), PublishReply::decode));
      targets.add(new Target(encode(samples.text()::encode), RefusalText::decode));
    }
    List<String> json = ProtocolText.json();
    targets.add(new Target(utf8(json.get(0)), Hello::decode));
    targets.add(new Target(utf8(json.get(1)), HelloOk::decode));
    targets.add(new Target(utf8(json.get(2)), DecoderFuzzTest::register));
    targets.add(new Target(utf8(json.get(3)), Registered::decode));
    targets.add(new Target(utf8(json.get(5)), Sessions::decode));
    targets.add(new Target(utf8(json.get(7)), Cleanup::decode));
    targets.add(new Target(utf8(json.get(9)), Refused::decode));
    byte[] header = new byte[FrameHeader.BYTES];
    new FrameHeader(3, 300, 2, 9).encode(ByteBuffer.wrap(header));
    targets.add(
        new Target(
            header,
            in -> FrameHeader.decode(ByteBuffer.wrap(Arrays.copyOf(in, FrameHeader.BYTES)))));
    return targets;
  }

  private static Decoded<Register> register(byte[] json) {
    Decoded<Register> decoded = Register.decode(json);
    if (decoded instanceof Decoded.Good<Register>(Register register)) {
      Refusal problem = RegisterCheck.problem(register);
      return problem == null ? decoded : new Decoded.Bad<>(problem);
    }
    return decoded;
  }

  private static byte[] mutate(byte[] seed, Random random) {
    byte[] bytes = seed.clone();
    for (int n = 1 + random.nextInt(3); n > 0 && bytes.length > 0; n--) {
      int at = random.nextInt(bytes.length);
      switch (random.nextInt(6)) {
        case 0 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
        case 1 -> bytes[at] = (byte) random.nextInt();
        case 2 -> bytes[at] = random.nextBoolean() ? 0 : (byte) 0xFF;
        case 3 -> bytes = Arrays.copyOf(bytes, random.nextInt(bytes.length + 1));
        case 4 -> bytes = Arrays.copyOf(bytes, bytes.length + 1 + random.nextInt(16));
        default -> Arrays.fill(bytes, at, Math.min(bytes.length, at + 4), (byte) 0xFF);
      }
    }
    return bytes;
  }

  private static byte[] encode(ToIntFunction<MemorySegment> encode) {
    byte[] out = new byte[1 << 16];
    return Arrays.copyOf(out, encode.applyAsInt(MemorySegment.ofArray(out)));
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
