package io.orbitkv.manager.http;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializationFeature;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.nio.charset.StandardCharsets;

/**
 * What a request is answered with.
 *
 * @param status of HTTP
 * @param contentType of the body
 */
@SuppressWarnings("ArrayRecordComponent") // Compared by nobody.
record HttpAnswer(int status, String contentType, byte[] body) {
  static final ObjectMapper JSON =
      JsonMapper.builder()
          .enable(SerializationFeature.INDENT_OUTPUT)
          .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
          .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
          .build();

  /** A JSON object. */
  static HttpAnswer json(int status, ObjectNode body) {
    try {
      String text = JSON.writeValueAsString(body) + "\n";
      return new HttpAnswer(status, "application/json", text.getBytes(StandardCharsets.UTF_8));
    } catch (JsonProcessingException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  static HttpAnswer text(String contentType, String text) {
    return new HttpAnswer(200, contentType, text.getBytes(StandardCharsets.UTF_8));
  }

  /** A refusal that says what to do. */
  static HttpAnswer error(int status, String code, String message, String remedy) {
    ObjectNode error = JSON.createObjectNode();
    error.putObject("error").put("code", code).put("message", message).put("remedy", remedy);
    return json(status, error);
  }
}
