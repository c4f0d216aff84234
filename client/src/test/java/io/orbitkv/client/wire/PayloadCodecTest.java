package io.orbitkv.client.wire;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import java.util.function.ToIntFunction;
import org.junit.jupiter.api.Test;

/** Payloads come back as they were written, and what is almost one is refused. */
class PayloadCodecTest {
  private static final PayloadLimits LIMITS = PayloadLimits.STANDARD;

  @Test
  void shouldReadBackWhatItWrote() {
    Random random = Random64.seeded(PayloadCodecTest.class);
    PayloadSamples samples = new PayloadSamples(random);
    for (int i = 0; i < 500; i++) {
      QueryRequest query = samples.query();
      check(query, query.encodedBytes(), query::encode, in -> QueryRequest.decode(in, LIMITS));
      QueryAnswer answer = samples.answer();
      check(answer, answer.encodedBytes(), answer::encode, QueryAnswer::decode);
      PublishRequest publish = samples.publish();
      check(
          publish,
          publish.encodedBytes(),
          publish::encode,
          in -> PublishRequest.decode(in, LIMITS));
      PublishReply reply = samples.reply();
      check(reply, reply.encodedBytes(), reply::encode, PublishReply::decode);
      RestoreRequest restore = samples.restore();
      check(
          restore,
          restore.encodedBytes(),
          restore::encode,
          in -> RestoreRequest.decode(in, LIMITS));
      RefusalText text = samples.text();
      check(text, encode(text::encode).length, text::encode, RefusalText::decode);
    }
  }

  @Test
  void shouldRefuseMoreThanTheLimits() {
    PayloadLimits small = new PayloadLimits(1, 3);
    QueryRequest four =
        new QueryRequest(
            0, 0, "", List.of(new QueryRequest.GroupKeys(0, KeyRun.of(new byte[32], 8))));
    assertRefused(RefusalCode.TOO_MANY_KEYS, QueryRequest.decode(encode(four::encode), small));
    QueryRequest twoGroups =
        new QueryRequest(
            0,
            0,
            "",
            List.of(
                new QueryRequest.GroupKeys(0, KeyRun.of(new byte[8], 8)),
                new QueryRequest.GroupKeys(1, KeyRun.of(new byte[8], 8))));
    assertRefused(RefusalCode.BAD_GROUP, QueryRequest.decode(encode(twoGroups::encode), small));
    PublishRequest publish =
        new PublishRequest(0, "", KeyRun.of(new byte[32], 8), IntRun.range(0, 4));
    assertRefused(RefusalCode.TOO_MANY_KEYS, PublishRequest.decode(encode(publish::encode), small));
  }

  @Test
  void shouldRefuseCountsThatLie() {
    QueryRequest query =
        new QueryRequest(
            0, 0, "r", List.of(new QueryRequest.GroupKeys(0, KeyRun.of(new byte[16], 8))));
    byte[] good = encode(query::encode);
    assertRefused(RefusalCode.BAD_PAYLOAD, decodeQuery(with(good, 28, 3)));
    assertRefused(RefusalCode.TOO_MANY_KEYS, decodeQuery(with(good, 31, 0xFF)));
    assertRefused(RefusalCode.BAD_PAYLOAD, decodeQuery(with(good, 26, 0)));
    assertRefused(RefusalCode.BAD_PAYLOAD, decodeQuery(with(good, 26, 65)));
    assertRefused(RefusalCode.BAD_GROUP, decodeQuery(with(good, 8, 0)));
    assertRefused(RefusalCode.BAD_PAYLOAD, decodeQuery(with(good, 8, 2)));
    assertRefused(RefusalCode.BAD_REQUEST_NAME, decodeQuery(with(good, 10, 65)));
    assertRefused(RefusalCode.BAD_REQUEST_NAME, decodeQuery(with(good, 16, ' ')));
    assertRefused(RefusalCode.BAD_PAYLOAD, decodeQuery(with(good, 17, 1)));
    assertRefused(RefusalCode.BAD_PAYLOAD, decodeQuery(with(good, 11, 1)));
    assertRefused(RefusalCode.BAD_PAYLOAD, decodeQuery(Arrays.copyOf(good, good.length + 8)));
    assertRefused(RefusalCode.BAD_PAYLOAD, decodeQuery(Arrays.copyOf(good, good.length - 1)));
    assertRefused(RefusalCode.MISALIGNED, decodeQuery(with(good, 3, 2)));
  }

  @Test
  void shouldRefuseBlockIndicesBeyond31Bits() {
    PublishRequest publish = new PublishRequest(0, "", KeyRun.of(new byte[8], 8), IntRun.of(-1));
    assertRefused(
        RefusalCode.BLOCK_OUT_OF_RANGE, PublishRequest.decode(encode(publish::encode), LIMITS));
    RestoreRequest restore =
        new RestoreRequest("", List.of(new RestoreRequest.GroupPages(0, 0, IntRun.of(-1))));
    assertRefused(
        RefusalCode.BLOCK_OUT_OF_RANGE, RestoreRequest.decode(encode(restore::encode), LIMITS));
  }

  @Test
  void shouldNotBuildPayloadsThatWouldBeRefused() {
    assertThrows(
        IllegalArgumentException.class,
        () -> new PublishRequest(0, "", KeyRun.of(new byte[8], 8), IntRun.EMPTY));
    assertThrows(IllegalArgumentException.class, () -> KeyRun.of(new byte[65], 65));
    assertThrows(
        IllegalArgumentException.class, () -> encode(new RestoreRequest("a b", List.of())::encode));
  }

  private static <T> void check(
      T value,
      int bytes,
      ToIntFunction<MemorySegment> encode,
      Function<byte[], Decoded<T>> decode) {
    byte[] payload = encode(encode);
    assertEquals(bytes, payload.length);
    assertEquals(Decoded.good(value), decode.apply(payload));
    byte[] again = payload.clone();
    assertArrayEquals(payload, again);
  }

  private static byte[] encode(ToIntFunction<MemorySegment> encode) {
    byte[] out = new byte[1 << 16];
    return Arrays.copyOf(out, encode.applyAsInt(MemorySegment.ofArray(out)));
  }

  private static Decoded<QueryRequest> decodeQuery(byte[] payload) {
    return QueryRequest.decode(payload, LIMITS);
  }

  private static byte[] with(byte[] payload, int offset, int value) {
    byte[] copy = payload.clone();
    copy[offset] = (byte) value;
    return copy;
  }

  private static void assertRefused(RefusalCode code, Decoded<?> decoded) {
    assertEquals(code.name(), assertInstanceOf(Decoded.Bad.class, decoded).refusal().name());
  }
}
