package io.orbitkv.client.control;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.orbitkv.client.wire.Decoded;
import io.orbitkv.client.wire.RefusalCode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;

/**
 * The JSON of control frames: exactly one object in UTF-8, no duplicate fields, and bounds on depth
 * and string length that hold before anything is built from it.
 */
final class StrictJson {
  static final int MAX_DEPTH = 8;
  static final int MAX_STRING_CHARS = 4096;

  private static final ObjectMapper MAPPER =
      JsonMapper.builder(
              JsonFactory.builder()
                  .streamReadConstraints(
                      StreamReadConstraints.builder()
                          .maxNestingDepth(MAX_DEPTH)
                          .maxStringLength(MAX_STRING_CHARS)
                          .maxNameLength(MAX_STRING_CHARS)
                          .maxNumberLength(20)
                          .build())
                  .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                  .build())
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .defaultPropertyInclusion(
              JsonInclude.Value.construct(
                  JsonInclude.Include.NON_NULL, JsonInclude.Include.NON_NULL))
          .build();

  private StrictJson() {}

  /** Reads untrusted bytes. */
  static Decoded<ObjectNode> parse(byte[] json) {
    try {
      // Jackson guesses among the UTF encodings; this protocol has one.
      String text = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(json)).toString();
      JsonNode node = MAPPER.readTree(text);
      return node instanceof ObjectNode object
          ? Decoded.good(object)
          : Decoded.bad(RefusalCode.BAD_JSON, "not a JSON object");
    } catch (CharacterCodingException notUtf8) {
      return Decoded.bad(RefusalCode.BAD_JSON, "not UTF-8");
    } catch (JsonProcessingException malformed) {
      return Decoded.bad(RefusalCode.BAD_JSON, malformed.getOriginalMessage());
    }
  }

  /** Writes a record of this package. */
  static byte[] write(Object message) {
    try {
      return MAPPER.writeValueAsBytes(message);
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }
}
