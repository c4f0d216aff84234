package io.orbitkv.manager.http;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/**
 * A request's parameters and small body.
 *
 * @param query the parameters behind the question mark
 * @param body at most {@value #MAX_BODY_BYTES} bytes
 */
@SuppressWarnings("ArrayRecordComponent") // Compared by nobody.
record HttpRequest(Map<String, String> query, byte[] body) {
  static final int MAX_BODY_BYTES = 1 << 20;

  /** Refuses parameters that nobody reads, so that a misspelt one is not ignored. */
  void only(String... names) throws BadRequest {
    Set<String> known = Set.of(names);
    for (String name : query.keySet()) {
      if (!known.contains(name)) {
        throw new BadRequest(
            400,
            "UNKNOWN_PARAMETER",
            "there is no parameter " + name,
            known.isEmpty() ? "give none" : "use " + String.join(", ", names));
      }
    }
  }

  String required(String name) throws BadRequest {
    String value = query.get(name);
    if (value == null || value.isEmpty()) {
      throw new BadRequest(
          400, "MISSING_PARAMETER", name + " is missing", "add ?" + name + "=... to the path");
    }
    return value;
  }

  long number(String name, long fallback, long min, long max) throws BadRequest {
    String text = query.get(name);
    if (text == null) {
      return fallback;
    }
    try {
      long number = Long.parseLong(text);
      if (number >= min && number <= max) {
        return number;
      }
    } catch (NumberFormatException notANumber) {
      // answered below
    }
    throw new BadRequest(
        400,
        "BAD_PARAMETER",
        name + " is " + text,
        "give a number from %d to %d".formatted(min, max));
  }

  /** The body as a JSON object. */
  ObjectNode object() throws BadRequest {
    try {
      JsonNode node = HttpAnswer.JSON.readTree(body);
      if (node instanceof ObjectNode object) {
        return object;
      }
    } catch (JsonProcessingException malformed) {
      throw new BadRequest(
          400, "BAD_JSON", malformed.getOriginalMessage(), "send one JSON object as the body");
    } catch (IOException impossible) {
      throw new IllegalStateException(impossible);
    }
    throw new BadRequest(400, "BAD_JSON", "no JSON object", "send one JSON object as the body");
  }

  static Map<String, String> parse(String rawQuery) {
    Map<String, String> query = new HashMap<>();
    for (String pair : rawQuery.split("&", -1)) {
      if (!pair.isEmpty()) {
        int equals = pair.indexOf('=');
        String name = equals < 0 ? pair : pair.substring(0, equals);
        String value = equals < 0 ? "" : pair.substring(equals + 1);
        query.put(decode(name), decode(value));
      }
    }
    return query;
  }

  private static String decode(String text) {
    return URLDecoder.decode(text, StandardCharsets.UTF_8);
  }
}
