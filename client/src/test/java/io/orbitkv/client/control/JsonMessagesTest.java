package io.orbitkv.client.control;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.orbitkv.client.ProtocolText;
import io.orbitkv.client.wire.Decoded;
import io.orbitkv.client.wire.Refusal;
import io.orbitkv.client.wire.RefusalCode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The JSON of control frames: the text's examples, and everything that must be refused. */
class JsonMessagesTest {
  private record Codec<T>(Function<byte[], Decoded<T>> decode, Function<T, byte[]> encode) {
    void check(String json) {
      Decoded<T> first = decode.apply(json.getBytes(StandardCharsets.UTF_8));
      T value = get(first);
      byte[] written = encode.apply(value);
      assertEquals(first, decode.apply(written), new String(written, StandardCharsets.UTF_8));
      assertEquals(
          StrictJson.parse(json.getBytes(StandardCharsets.UTF_8)), StrictJson.parse(written));
    }

    private static <T> T get(Decoded<T> decoded) {
      return switch (decoded) {
        case Decoded.Good<T>(T value) -> value;
        case Decoded.Bad<T>(Refusal refusal) -> throw new AssertionError(refusal);
      };
    }
  }

  @Test
  void shouldReadAndWriteEveryExampleOfTheProtocolText() throws IOException {
    List<Codec<?>> codecs =
        List.of(
            new Codec<>(Hello::decode, Hello::encode),
            new Codec<>(HelloOk::decode, HelloOk::encode),
            new Codec<>(Register::decode, Register::encode),
            new Codec<>(Registered::decode, Registered::encode),
            new Codec<>(Health::decode, Health::encode),
            new Codec<>(Sessions::decode, Sessions::encode),
            new Codec<>(Unregister::decode, Unregister::encode),
            new Codec<>(Cleanup::decode, Cleanup::encode),
            new Codec<>(Cleaned::decode, Cleaned::encode),
            new Codec<>(Refused::decode, Refused::encode),
            new Codec<>(Closing::decode, Closing::encode));
    List<String> examples = ProtocolText.json();
    assertEquals(codecs.size(), examples.size());
    for (int i = 0; i < codecs.size(); i++) {
      codecs.get(i).check(examples.get(i));
    }
  }

  @Test
  void shouldFindTheExampleRegistrationConsistent() throws IOException {
    assertNull(problem(example()));
  }

  @Test
  void shouldRefuseWhatIsNotOneStrictObject() {
    for (String json :
        List.of(
            "",
            "{",
            "[]",
            "1",
            "{} {}",
            "{\"instance\":\"a\",\"instance\":\"b\"}",
            "{\"instance\":" + "[".repeat(20) + "]".repeat(20) + "}",
            "{\"instance\":\"" + "x".repeat(5000) + "\"}",
            "{'instance':\"a\"}",
            "{\"instance\":NaN}",
            "{\"instance\":12345678901234567890123}")) {
      assertEquals(RefusalCode.BAD_JSON.number(), refused(Cleanup.decode(utf8(json))).code(), json);
    }
    byte[] notUtf8 = {'{', '"', (byte) 0xC3, '"', ':', '1', '}'};
    assertEquals(RefusalCode.BAD_JSON.number(), refused(Cleanup.decode(notUtf8)).code());
  }

  @Test
  void shouldNameTheFieldThatIsWrong() throws IOException {
    assertField("UNKNOWN_FIELD instanse", "{\"instance\":\"a\",\"instanse\":1}");
    assertField("MISSING_FIELD instance", "{}");
    assertField("BAD_VALUE instance", "{\"instance\":\"a b\"}");
    assertField("BAD_VALUE instance", "{\"instance\":7}");
    assertField("BAD_VALUE expectSessionId", "{\"instance\":\"a\",\"expectSessionId\":0}");
    assertField("BAD_VALUE expectSessionId", "{\"instance\":\"a\",\"expectSessionId\":1.0}");
    assertField("BAD_VALUE expectSessionId", "{\"instance\":\"a\",\"expectSessionId\":null}");
    assertField("BAD_VALUE expectSessionId", "{\"instance\":\"a\",\"expectSessionId\":\"7\"}");
    assertRegister("BAD_VALUE groups[1].rule", "\"WINDOW\"", "\"SLIDING\"");
    assertRegister("UNKNOWN_FIELD groups[0].replicatd", "\"replicated\"", "\"replicatd\"");
    assertRegister("MISSING_FIELD format.dtype", "\"dtype\": \"bfloat16\", ", "");
    assertRegister("BAD_VALUE layers[0].blockCount", "\"blockCount\": 64", "\"blockCount\": 0");
    assertRegister("BAD_VALUE groups", "\"groups\": [", "\"groups\": [" + "{},".repeat(17));
    assertRegister(
        "UNKNOWN_FIELD format", "\"role\": \"LOAD\"", "\"role\":\"SAVE\",\"attachTo\":3");
  }

  @Test
  void shouldRefuseFieldsThatContradictEachOther() throws IOException {
    assertRegister("BAD_VALUE shard", "\"shard\": 0", "\"shard\": 2");
    assertRegister(
        "BAD_GROUP groups[1].groupId", "\"groupId\": 1, \"comp", "\"groupId\": 0, \"comp");
    assertRegister("MISSING_FIELD groups[1].windowTokens", "\"windowTokens\": 100, ", "");
    assertRegister(
        "BAD_VALUE groups[0].windowTokens", "\"PREFIX\"", "\"PREFIX\",\"windowTokens\":9");
    assertRegister("BAD_VALUE groups[0].rule", "\"PREFIX\"", "\"CHECKPOINT\"");
    assertRegister("BUFFER_KIND buffers[0].kind", "\"HOST\"", "\"CUDA_IPC\"");
    assertRegister("MISSING_FIELD staging", "\"HOST\"", "\"CUDA_STAGED\"");
    String staging =
        "\"staging\": {\"deviceUuid\": \"GPU-0\", \"handle\": \"%s\", \"offset\": 0, \"slotBytes\":"
            + " %d, \"loadSlots\": 1, \"saveSlots\": 1}, \"buffers\": [";
    String good = "0".repeat(128);
    assertRegister("BAD_VALUE staging", "\"buffers\": [", staging.formatted(good, 1 << 20));
    assertRegister(
        "BAD_VALUE staging.slotBytes", "\"buffers\": [", staging.formatted(good, 1 << 10));
    assertRegister(
        "BAD_VALUE groups[0].bytesPerBlock", "\"bytesPerBlock\": 4096", "\"bytesPerBlock\": 4095");
    assertRegister("BAD_VALUE buffers", "\"role\": \"LOAD\"", "\"role\": \"QUERY\"");
    assertRegister(
        "BAD_GROUP layers[0].groupId", "{\"groupId\": 0, \"layer\"", "{\"groupId\": 5, \"layer\"");
    assertRegister(
        "BAD_VALUE layers[0].buffer",
        "\"buffer\": 0, \"baseOffset\": 0",
        "\"buffer\": 1, \"baseOffset\": 0");
    assertRegister("LAYER_OUT_OF_RANGE layers[1].baseOffset", "262144", "786433");
    assertRegister("LAYER_OUT_OF_RANGE layers[1].baseOffset", "262144", "9007199254740991");
    assertRegister(
        "LAYER_OUT_OF_RANGE layers[0].baseOffset",
        "\"blockStride\": 4096",
        "\"blockStride\": 9007199254740991");
    assertRegister(
        "LAYER_OVERLAP layers[0].segmentStride", "\"blockStride\": 4096", "\"blockStride\": 4095");
    assertRegister(
        "LAYER_OVERLAP layers[0].segmentStride",
        "\"segmentStride\": 2048",
        "\"segmentStride\": 2047");
    assertNull(
        problem(
            example()
                .replace(
                    "\"blockStride\": 4096,\n"
                        + "             \"segmentCount\": 2, \"segmentStride\": 2048",
                    "\"blockStride\": 2048,\n"
                        + "             \"segmentCount\": 2, \"segmentStride\": 131072")),
        "separate planes of keys and values are legal");
  }

  @Test
  void shouldIgnoreUnknownFieldsInReplies() {
    byte[] json =
        utf8("{\"sessionId\":1,\"later\":{\"x\":[1]},\"reason\":\"SHUTDOWN\",\"message\":\"\"}");
    assertInstanceOf(Decoded.Good.class, Closing.decode(json));
  }

  private static void assertField(String expected, String json) {
    Refusal refusal = refused(Cleanup.decode(utf8(json)));
    assertEquals(expected, refusal.name() + " " + refusal.field());
  }

  private static void assertRegister(String expected, String from, String to) throws IOException {
    String json = example();
    String changed = json.replaceFirst(Pattern.quote(from), to);
    assertEquals(false, changed.equals(json), from + " is in the example");
    Refusal refusal = problem(changed);
    assertEquals(expected, refusal == null ? "none" : refusal.name() + " " + refusal.field());
  }

  private static String example() throws IOException {
    return ProtocolText.json().get(2);
  }

  private static @Nullable Refusal problem(String json) {
    return switch (Register.decode(utf8(json))) {
      case Decoded.Bad<Register>(Refusal refusal) -> refusal;
      case Decoded.Good<Register>(Register register) -> RegisterCheck.problem(register);
    };
  }

  private static Refusal refused(Decoded<?> decoded) {
    return assertInstanceOf(Decoded.Bad.class, decoded).refusal();
  }

  private static byte[] utf8(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }
}
