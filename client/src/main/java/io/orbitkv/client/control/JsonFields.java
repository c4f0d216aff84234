package io.orbitkv.client.control;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.orbitkv.client.wire.Decoded;
import io.orbitkv.client.wire.Refusal;
import io.orbitkv.client.wire.RefusalCode;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Takes typed fields out of an untrusted JSON object. The first thing wrong is remembered with the
 * field's path, and what is returned then is a harmless value; a decoder takes all fields and asks
 * once in {@link #result}.
 */
final class JsonFields {
  /** The highest integer that every JSON reader keeps exact. */
  static final long MAX_INTEGER = (1L << 53) - 1;

  /** Fields that nobody asked for. */
  enum Unknown {
    /** They are refused, as in requests. */
    REFUSED,
    /** They are ignored, as in replies of a later version. */
    IGNORED
  }

  private final ObjectNode object;
  private final String path;
  private final Unknown unknown;
  private final Problem problem;
  private final Set<String> taken = new HashSet<>();

  private static final class Problem {
    @Nullable Refusal first;

    void note(RefusalCode code, String field, String message) {
      if (first == null) {
        first = Refusal.ofField(code, field, message);
      }
    }
  }

  private JsonFields(ObjectNode object, String path, Unknown unknown, Problem problem) {
    this.object = object;
    this.path = path;
    this.unknown = unknown;
    this.problem = problem;
  }

  /** Parses bytes and builds a message of their fields. */
  static <T> Decoded<T> decode(byte[] json, Unknown unknown, Function<JsonFields, T> build) {
    return switch (StrictJson.parse(json)) {
      case Decoded.Bad<ObjectNode>(Refusal refusal) -> new Decoded.Bad<>(refusal);
      case Decoded.Good<ObjectNode>(ObjectNode object) ->
          new JsonFields(object, "", unknown, new Problem()).result(build);
    };
  }

  /** Whether a field is there. */
  boolean has(String field) {
    return object.has(field);
  }

  /** Notes something wrong with a field. */
  void refuse(RefusalCode code, String field, String message) {
    problem.note(code, path + field, message);
  }

  /** An integer from {@code min} to {@code max}. */
  long integer(String field, long min, long max) {
    JsonNode node = take(field);
    if (node == null) {
      return min;
    }
    if (!node.isIntegralNumber() || !node.canConvertToLong()) {
      return bad(field, "not an integer", min);
    }
    long value = node.longValue();
    return value >= min && value <= max
        ? value
        : bad(field, value + " is not from " + min + " to " + max, min);
  }

  /** An integer that fits an int. */
  int smallInteger(String field, int min, int max) {
    return (int) integer(field, min, max);
  }

  /** An integer, or null if the field is not there. */
  @Nullable Long optionalInteger(String field, long min, long max) {
    return has(field) ? integer(field, min, max) : null;
  }

  /** A boolean; {@code absent} if the field is not there. */
  boolean bool(String field, boolean absent) {
    if (!has(field)) {
      return absent;
    }
    JsonNode node = take(field);
    if (node == null || !node.isBoolean()) {
      return bad(field, "not a boolean", absent);
    }
    return node.booleanValue();
  }

  /** Any string of the length JSON allows here. */
  String text(String field) {
    JsonNode node = take(field);
    if (node == null) {
      return "";
    }
    return node.isTextual() ? node.textValue() : bad(field, "not a string", "");
  }

  /** 1 to {@code maxChars} visible ASCII characters. */
  String name(String field, int maxChars) {
    JsonNode node = take(field);
    if (node == null) {
      return "?";
    }
    String value = node.isTextual() ? node.textValue() : "";
    return isName(value, maxChars)
        ? value
        : bad(field, "not 1 to " + maxChars + " visible ASCII characters", "?");
  }

  /** The name of an enumeration's constant. */
  <E extends Enum<E>> E constant(String field, Class<E> type) {
    E[] constants = type.getEnumConstants();
    JsonNode node = take(field);
    if (node == null) {
      return constants[0];
    }
    for (E constant : constants) {
      if (node.isTextual() && constant.name().equals(node.textValue())) {
        return constant;
      }
    }
    return bad(field, "not one of " + List.of(constants), constants[0]);
  }

  /** An object. */
  <T> @Nullable T object(String field, Function<JsonFields, T> build) {
    JsonNode node = take(field);
    if (node == null) {
      return null;
    }
    if (!(node instanceof ObjectNode child)) {
      return bad(field, "not an object", null);
    }
    return new JsonFields(child, path + field + ".", unknown, problem).build(build);
  }

  /** An array of {@code min} to {@code max} objects. */
  <T> List<T> objects(String field, int min, int max, Function<JsonFields, T> build) {
    List<T> values = new ArrayList<>();
    for (JsonNode element : array(field, min, max)) {
      String at = path + field + "[" + values.size() + "]";
      if (!(element instanceof ObjectNode child)) {
        problem.note(RefusalCode.BAD_VALUE, at, "not an object");
        break;
      }
      values.add(new JsonFields(child, at + ".", unknown, problem).build(build));
      if (problem.first != null) {
        break;
      }
    }
    return values;
  }

  /** An array of {@code minCount} to {@code maxCount} integers. */
  List<Integer> integers(String field, int minCount, int maxCount, int min, int max) {
    List<Integer> values = new ArrayList<>();
    for (JsonNode element : array(field, minCount, maxCount)) {
      if (!element.isIntegralNumber()
          || !element.canConvertToInt()
          || element.intValue() < min
          || element.intValue() > max) {
        problem.note(
            RefusalCode.BAD_VALUE,
            path + field + "[" + values.size() + "]",
            "not an integer from " + min + " to " + max);
        break;
      }
      values.add(element.intValue());
    }
    return values;
  }

  /** An array of strings. */
  List<String> texts(String field, int maxCount) {
    List<String> values = new ArrayList<>();
    for (JsonNode element : array(field, 0, maxCount)) {
      if (!element.isTextual()) {
        problem.note(
            RefusalCode.BAD_VALUE, path + field + "[" + values.size() + "]", "not a string");
        break;
      }
      values.add(element.textValue());
    }
    return values;
  }

  private Iterable<JsonNode> array(String field, int min, int max) {
    JsonNode node = take(field);
    if (node == null) {
      return List.of();
    }
    if (!(node instanceof ArrayNode array)) {
      return bad(field, "not an array", List.of());
    }
    if (array.size() < min || array.size() > max) {
      return bad(field, array.size() + " elements, not " + min + " to " + max, List.of());
    }
    return array;
  }

  private <T> Decoded<T> result(Function<JsonFields, T> build) {
    T value = build(build);
    Refusal refusal = problem.first;
    return refusal == null ? Decoded.good(value) : new Decoded.Bad<>(refusal);
  }

  private <T> T build(Function<JsonFields, T> build) {
    T value = build.apply(this);
    for (Iterator<String> names = object.fieldNames();
        unknown == Unknown.REFUSED && names.hasNext(); ) {
      String name = names.next();
      if (!taken.contains(name)) {
        String shown = isName(name, 64) ? name : "(unprintable)";
        problem.note(RefusalCode.UNKNOWN_FIELD, path + shown, "no field of this message");
      }
    }
    return value;
  }

  private @Nullable JsonNode take(String field) {
    taken.add(field);
    JsonNode node = object.get(field);
    if (node == null) {
      problem.note(RefusalCode.MISSING_FIELD, path + field, "the field is required");
    }
    return node;
  }

  private <T extends @Nullable Object> T bad(String field, String message, T harmless) {
    problem.note(RefusalCode.BAD_VALUE, path + field, message);
    return harmless;
  }

  private static boolean isName(String value, int maxChars) {
    return !value.isEmpty()
        && value.length() <= maxChars
        && value.chars().allMatch(c -> c > ' ' && c <= '~');
  }
}
