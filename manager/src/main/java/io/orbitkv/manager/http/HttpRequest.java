package io.orbitkv.manager.http;

import com.fasterxml.jackson.core.JsonLocation;
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
      throw new BadRequest(400, "BAD_JSON", where(malformed), "send one JSON object as the body");
    } catch (IOException impossible) {
      throw new IllegalStateException(impossible);
    }
    throw new BadRequest(400, "BAD_JSON", "no JSON object", "send one JSON object as the body");
  }

  /** Where a body is no JSON, without the parser's own words about itself. */
  private static String where(JsonProcessingException malformed) {
    JsonLocation at = malformed.getLocation();
    String duplicate = malformed.getOriginalMessage();
    return duplicate != null && duplicate.startsWith("Duplicate field")
        ? "the body has a field twice"
        : at == null
            ? "the body is not one JSON value"
            : "the body is not one JSON value: line %d, column %d"
                .formatted(at.getLineNr(), at.getColumnNr());
  }

  static Map<String, String> parse(String rawQuery) throws BadRequest {
    Map<String, String> query = new HashMap<>();
    for (String pair : rawQuery.split("&", -1)) {
      if (!pair.isEmpty()) {
        int equals = pair.indexOf('=');
        String name = equals < 0 ? pair : pair.substring(0, equals);
        String value = equals < 0 ? "" : pair.substring(equals + 1);
        if (query.put(decode(name), decode(value)) != null) {
          throw new BadRequest(
              400, "BAD_PARAMETER", decode(name) + " is there twice", "give it once");
        }
      }
    }
    return query;
  }

  private static String decode(String text) {
    return URLDecoder.decode(text, StandardCharsets.UTF_8);
  }
}
