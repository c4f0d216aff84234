package io.orbitkv.manager.http;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.orbitkv.core.Command;
import io.orbitkv.state.Keys;
import java.util.HexFormat;
import java.util.Iterator;

/**
 * The body of {@code POST /cache/evict}. Nothing in it is guessed or converted: a field that is not
 * what it should be must never widen what is dropped.
 */
final class EvictBody {
  private static final int MAX_KEYS = 32_768;
  private static final int MAX_GROUP_ID = 65_535;

  private EvictBody() {}

  /** What the body selects. */
  static Command.EvictSelector selector(ObjectNode body) throws BadRequest {
    for (Iterator<String> names = body.fieldNames(); names.hasNext(); ) {
      String name = names.next();
      if (!name.matches("all|namespace|groupId|keys")) {
        throw bad("UNKNOWN_FIELD", "there is no field " + name);
      }
    }
    if (body.has("all")) {
      JsonNode all = body.get("all");
      if (body.size() != 1 || !all.isBoolean() || !all.booleanValue()) {
        throw bad("BAD_FIELD", "all goes alone and is true");
      }
      return new Command.EvictSelector.All();
    }
    JsonNode namespace = body.get("namespace");
    if (namespace == null) {
      throw bad("MISSING_FIELD", "namespace is missing");
    }
    if (!namespace.isTextual()) {
      throw bad("BAD_FIELD", "namespace is a string");
    }
    if (!body.has("keys")) {
      if (body.has("groupId")) {
        throw bad("BAD_FIELD", "groupId goes with keys: it alone selects nothing");
      }
      return new Command.EvictSelector.OfNamespace(namespace.textValue());
    }
    return new Command.EvictSelector.OfKeys(
        namespace.textValue(), groupId(body.get("groupId")), keys(body.get("keys")));
  }

  private static int groupId(JsonNode groupId) throws BadRequest {
    if (groupId == null) {
      throw bad("MISSING_FIELD", "groupId is missing");
    }
    if (!groupId.isInt() || groupId.intValue() < 0 || groupId.intValue() > MAX_GROUP_ID) {
      throw bad("BAD_FIELD", "groupId is a number from 0 to " + MAX_GROUP_ID);
    }
    return groupId.intValue();
  }

  private static Keys keys(JsonNode list) throws BadRequest {
    if (!list.isArray() || list.isEmpty() || list.size() > MAX_KEYS) {
      throw bad("BAD_FIELD", "keys is a list of 1 to " + MAX_KEYS + " keys");
    }
    byte[] packed = new byte[0];
    int keyBytes = 0;
    for (int i = 0; i < list.size(); i++) {
      byte[] key = key(list.get(i), i);
      if (i == 0) {
        keyBytes = key.length;
        packed = new byte[list.size() * keyBytes];
      }
      if (key.length == 0 || key.length > Keys.MAX_KEY_BYTES || key.length != keyBytes) {
        throw bad("BAD_FIELD", "keys have 1 to 64 bytes, all as many as the first");
      }
      System.arraycopy(key, 0, packed, i * keyBytes, keyBytes);
    }
    return Keys.ofPacked(keyBytes, packed);
  }

  private static byte[] key(JsonNode key, int index) throws BadRequest {
    if (key.isTextual()) {
      try {
        return HexFormat.of().parseHex(key.textValue());
      } catch (IllegalArgumentException notHex) {
        // answered below
      }
    }
    throw bad("BAD_FIELD", "keys[" + index + "] is not hexadecimal");
  }

  private static BadRequest bad(String code, String message) {
    return new BadRequest(
        400,
        code,
        message,
        "send {\"all\": true}, {\"namespace\": N} or {\"namespace\": N, \"groupId\": 0, \"keys\":"
            + " [hex, ...]}");
  }
}
