package io.orbitkv.client.wire;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.orbitkv.client.ProtocolText;
import io.orbitkv.client.control.FrameHeader;
import io.orbitkv.client.control.FrameType;
import io.orbitkv.client.control.FrameWriter;
import io.orbitkv.client.control.Hello;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.ToIntFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** The bytes in docs/protocol.md are those that the code writes and reads. */
class GoldenBytesTest {
  private static final int NO_SLOT = ChannelLayout.NO_SLOT;
  private static final QueryRequest QUERY =
      new QueryRequest(0, 0, "req-1", List.of(new QueryRequest.GroupKeys(0, keys())));
  private static final PublishRequest PUBLISH =
      new PublishRequest(0, "req-1", keys(), IntRun.of(3, 9));
  private static final RestoreRequest RESTORE =
      new RestoreRequest("req-1", List.of(new RestoreRequest.GroupPages(0, 0, IntRun.of(5, 4, 8))));
  private static final QueryAnswer ANSWER =
      new QueryAnswer(
          33,
          30_000,
          0,
          128,
          List.of(new QueryAnswer.GroupRange(0, 0, 128, 2)),
          IntRun.of(64, 128));
  private static final QueryAnswer MISS =
      new QueryAnswer(0, 0, 0, 0, List.of(new QueryAnswer.GroupRange(0, 0, 0, 0)), IntRun.EMPTY);
  private static final PublishReply REPLY =
      PublishReply.of(BlockOutcome.STORED, BlockOutcome.ALREADY, BlockOutcome.REFUSED);
  private static final RefusalText TEXT =
      new RefusalText("no evictable block in the pool", "retry later, or enlarge the pool");

  private static KeyRun keys() {
    byte[] packed = new byte[64];
    for (int i = 0; i < packed.length; i++) {
      packed[i] = (byte) i;
    }
    return KeyRun.of(packed, 32);
  }

  @Test
  void shouldWriteEveryExampleOfTheProtocolText() throws IOException {
    Map<String, byte[]> written = new TreeMap<>();
    written.put(
        "frame-hello",
        FrameWriter.encode(FrameType.HELLO, 1, new Hello("demo/1", List.of(1)).encode(), 0));
    written.put("frame-registered-header", header());
    written.put("submission-ping", submission(1, 0, NO_SLOT, 0, 0, 1, 0, 0, 0));
    written.put("submission-query", submission(2, 1, 0, QUERY.encodedBytes(), 1, 2, 1, 0, 2500));
    written.put("submission-poll", submission(3, 0, 0, 0, 2, 3, 2, 44, 0));
    written.put("submission-cancel", submission(4, 1, NO_SLOT, 0, 3, 4, 0, 2, 0));
    written.put("submission-publish", submission(5, 0, 1, PUBLISH.encodedBytes(), 4, 5, 1, 0, 0));
    written.put("submission-restore", submission(6, 3, 2, RESTORE.encodedBytes(), 5, 6, 1, 33, 0));
    written.put("submission-release", submission(7, 0, NO_SLOT, 0, 6, 7, 0, 33, 0));
    written.put("completion-pong", completion(1, 0, NO_SLOT, 0, 0, 1, Status.OK, 0, 0, 123456789));
    written.put(
        "completion-ready",
        completion(2, 0, 0, ANSWER.encodedBytes(), 1, 2, Status.READY, 1, 33, 128));
    written.put("completion-loading", completion(2, 1, 0, 0, 1, 2, Status.LOADING, 1, 44, 0));
    written.put("completion-notice", completion(2, 2, NO_SLOT, 0, 2, 2, Status.READY, 0, 44, 0));
    written.put(
        "completion-refused",
        completion(5, 4, 1, 72, 3, 5, Status.REFUSED, 1, RefusalCode.POOL_FULL, 50));
    written.put(
        "completion-failed",
        completion(6, 0, 2, 0, 4, 6, Status.FAILED, 1, RefusalCode.VERIFY_FAILED, 0));
    written.put("payload-query", payload(QUERY::encode));
    written.put("payload-answer", payload(ANSWER::encode));
    written.put("payload-miss", payload(MISS::encode));
    written.put("payload-publish", payload(PUBLISH::encode));
    written.put("payload-publish-reply", payload(REPLY::encode));
    written.put("payload-restore", payload(RESTORE::encode));
    written.put("payload-refusal-text", payload(TEXT::encode));
    written.put("channel-header", channelHeader());

    Map<String, byte[]> promised = ProtocolText.golden();
    assertEquals(new TreeSet<>(promised.keySet()), new TreeSet<>(written.keySet()));
    promised.forEach(
        (name, bytes) ->
            assertEquals(
                HexFormat.of().formatHex(bytes),
                HexFormat.of().formatHex(written.get(name)),
                name));
  }

  @Test
  void shouldReadEveryPayloadOfTheProtocolText() throws IOException {
    Map<String, byte[]> golden = ProtocolText.golden();
    PayloadLimits limits = PayloadLimits.STANDARD;
    assertEquals(Decoded.good(QUERY), QueryRequest.decode(get(golden, "payload-query"), limits));
    assertEquals(Decoded.good(ANSWER), QueryAnswer.decode(get(golden, "payload-answer")));
    assertEquals(Decoded.good(MISS), QueryAnswer.decode(get(golden, "payload-miss")));
    assertEquals(
        Decoded.good(PUBLISH), PublishRequest.decode(get(golden, "payload-publish"), limits));
    assertEquals(Decoded.good(REPLY), PublishReply.decode(get(golden, "payload-publish-reply")));
    assertEquals(
        Decoded.good(RESTORE), RestoreRequest.decode(get(golden, "payload-restore"), limits));
    assertEquals(Decoded.good(TEXT), RefusalText.decode(get(golden, "payload-refusal-text")));
    assertEquals(
        Decoded.good(new FrameHeader(FrameType.REGISTERED.code(), 300, 3, 2)),
        FrameHeader.decode(ByteBuffer.wrap(get(golden, "frame-registered-header"))));
  }

  @Test
  void shouldReadEveryDescriptorOfTheProtocolTextBack() throws IOException {
    for (Map.Entry<String, byte[]> example : ProtocolText.golden().entrySet()) {
      byte[] out = new byte[64];
      MemorySegment in = aligned(example.getValue());
      if (example.getKey().startsWith("submission-")) {
        Submission submission = new Submission();
        submission.readFrom(in, 0);
        MemorySegment copy = Arena.ofAuto().allocate(64, 8);
        submission.writeTo(copy, 0, submission.sequence());
        out = copy.toArray(ValueLayout.JAVA_BYTE);
      } else if (example.getKey().startsWith("completion-")) {
        Completion completion = new Completion();
        completion.readFrom(in, 0);
        MemorySegment copy = Arena.ofAuto().allocate(64, 8);
        completion.writeTo(copy, 0, completion.sequence());
        out = copy.toArray(ValueLayout.JAVA_BYTE);
      } else {
        continue;
      }
      assertArrayEquals(example.getValue(), out, example.getKey());
    }
  }

  @Test
  void shouldListTheSameRefusalsAsTheProtocolText() throws IOException {
    String text = ProtocolText.read();
    text = text.substring(text.indexOf("## 4. Refusals"), text.indexOf("## 5."));
    Matcher rows =
        Pattern.compile("^\\| (\\d{3}) \\| ([A-Z_]+) \\|.*\\| (.+?) \\|$", Pattern.MULTILINE)
            .matcher(text);
    int count = 0;
    while (rows.find()) {
      RefusalCode code = RefusalCode.valueOf(rows.group(2));
      assertEquals(rows.group(1), Integer.toString(code.number()));
      assertEquals(code, RefusalCode.of(code.number()));
      assertEquals(rows.group(3), code.remedy());
      count++;
    }
    assertEquals(RefusalCode.values().length, count);
  }

  private static byte[] get(Map<String, byte[]> golden, String name) {
    byte[] bytes = golden.get(name);
    if (bytes == null) {
      throw new AssertionError("no example " + name);
    }
    return bytes;
  }

  private static byte[] header() {
    ByteBuffer out = ByteBuffer.allocate(FrameHeader.BYTES);
    new FrameHeader(FrameType.REGISTERED.code(), 300, 3, 2).encode(out);
    return out.array();
  }

  private static byte[] submission(
      int op,
      int flags,
      int slot,
      int payloadBytes,
      long sequence,
      long requestId,
      long generation,
      long handle,
      int timeoutMillis) {
    Submission submission = new Submission();
    submission.set(
        op, flags, slot, payloadBytes, requestId, 7, 12, generation, handle, timeoutMillis);
    MemorySegment out = Arena.ofAuto().allocate(64, 8);
    submission.writeTo(out, 0, sequence);
    return out.toArray(ValueLayout.JAVA_BYTE);
  }

  private static byte[] completion(
      int op,
      int flags,
      int slot,
      int payloadBytes,
      long sequence,
      long requestId,
      Status status,
      long generation,
      long handle,
      long value) {
    Completion completion = new Completion();
    completion.set(op, flags, slot, payloadBytes, requestId, 7, generation, status);
    completion.setResult(handle, value);
    return bytes(completion, sequence);
  }

  private static byte[] completion(
      int op,
      int flags,
      int slot,
      int payloadBytes,
      long sequence,
      long requestId,
      Status status,
      long generation,
      RefusalCode code,
      int retryAfterMillis) {
    Completion completion = new Completion();
    completion.set(op, flags, slot, payloadBytes, requestId, 7, generation, status);
    completion.setReason(code.category().code(), code.number(), retryAfterMillis);
    return bytes(completion, sequence);
  }

  private static byte[] bytes(Completion completion, long sequence) {
    MemorySegment out = Arena.ofAuto().allocate(64, 8);
    completion.writeTo(out, 0, sequence);
    return out.toArray(ValueLayout.JAVA_BYTE);
  }

  private static byte[] payload(ToIntFunction<MemorySegment> encode) {
    byte[] out = new byte[4096];
    return Arrays.copyOf(out, encode.applyAsInt(MemorySegment.ofArray(out)));
  }

  private static byte[] channelHeader() {
    ChannelGeometry geometry = ChannelGeometry.STANDARD;
    MemorySegment out = Arena.ofAuto().allocate(geometry.arenaOffset(), 4096);
    geometry.writeHeader(out, 7, 12);
    return out.asSlice(0, 72).toArray(ValueLayout.JAVA_BYTE);
  }

  private static MemorySegment aligned(byte[] bytes) {
    MemorySegment out = Arena.ofAuto().allocate(bytes.length, 8);
    MemorySegment.copy(bytes, 0, out, ValueLayout.JAVA_BYTE, 0, bytes.length);
    return out;
  }
}
