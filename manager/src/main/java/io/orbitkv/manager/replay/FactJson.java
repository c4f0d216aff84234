package io.orbitkv.manager.replay;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.SerializerProvider;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.ser.std.StdSerializer;
import io.orbitkv.manager.replay.Links.Scope;
import io.orbitkv.state.Fact;
import io.orbitkv.state.HostEvent;
import io.orbitkv.state.Keys;
import io.orbitkv.state.LongRanges;
import io.orbitkv.state.Longs;
import io.orbitkv.state.PeerId;
import io.orbitkv.state.identity.StateFormat;
import java.io.IOException;
import java.util.UUID;
import java.util.function.BiConsumer;

/**
 * A fact as one JSON object: {@code position}, {@code at}, {@code type}, then the fact's fields by
 * their names. Blocks are pairs of first and last id, keys are hexadecimal, and 64-bit sums are
 * hexadecimal text because many readers of JSON keep only 53 bits of a number. {@code instance} and
 * {@code request} are added where the fact itself names only a lease, publish or restore.
 */
final class FactJson {
  private static final ObjectMapper MAPPER = mapper();

  private final Names names;

  FactJson(Names names) {
    this.names = names;
  }

  private static ObjectMapper mapper() {
    SimpleModule module = new SimpleModule();
    add(
        module,
        LongRanges.class,
        (ranges, json) -> {
          json.writeStartArray();
          for (int run = 0; run < ranges.runs(); run++) {
            json.writeStartArray();
            json.writeNumber(ranges.first(run));
            json.writeNumber(ranges.first(run) + ranges.count(run) - 1);
            json.writeEndArray();
          }
          json.writeEndArray();
        });
    add(
        module,
        Keys.class,
        (keys, json) -> {
          json.writeStartArray();
          for (int i = 0; i < keys.size(); i++) {
            json.writeString(keys.hex(i));
          }
          json.writeEndArray();
        });
    add(
        module,
        Longs.class,
        (longs, json) -> {
          json.writeStartArray();
          for (int i = 0; i < longs.size(); i++) {
            json.writeNumber(longs.get(i));
          }
          json.writeEndArray();
        });
    add(
        module,
        PeerId.class,
        (peer, json) -> {
          json.writeStartObject();
          json.writeStringField("node", peer.node());
          json.writeStringField("runtime", peer.runtime().toString());
          json.writeEndObject();
        });
    add(
        module,
        StateFormat.class,
        (format, json) -> {
          json.writeStartObject();
          json.writeStringField("fingerprint", format.fingerprint());
          json.writeStringField("text", format.canonicalText());
          json.writeEndObject();
        });
    return new ObjectMapper().registerModule(module);
  }

  /** Writes one value; may fail like any writing. */
  @FunctionalInterface
  private interface Writer<T> {
    void write(T value, JsonGenerator json) throws IOException;
  }

  /** One text instead of two numbers that many readers would cut. */
  private static void uuid(ObjectNode node, String name, long high, long low) {
    node.remove(name + "High");
    node.remove(name + "Low");
    if ((high | low) != 0) {
      node.put(name, new UUID(high, low).toString());
    }
  }

  private static <T> void add(SimpleModule module, Class<T> type, Writer<T> writer) {
    module.addSerializer(
        type,
        new StdSerializer<T>(type) {
          private static final long serialVersionUID = 1L;

          @Override
          public void serialize(T value, JsonGenerator json, SerializerProvider provider)
              throws IOException {
            writer.write(value, json);
          }
        });
  }

  String line(Fact fact, Scope scope) {
    ObjectNode node = MAPPER.createObjectNode();
    node.put("position", fact.position());
    node.put("at", Times.iso(fact.atMicros()));
    node.put("type", fact.event().getClass().getSimpleName());
    ObjectNode fields = MAPPER.valueToTree(fact.event());
    node.setAll(fields);
    switch (fact.event()) {
      case HostEvent.SlicesPublished event -> {
        var sums = node.putArray("checksums");
        for (int i = 0; i < event.checksums().size(); i++) {
          sums.add(Words.hex(event.checksums().get(i)));
        }
      }
      case HostEvent.RemoteReadEnded event -> {
        var sums = node.putArray("checksums");
        for (int i = 0; i < event.checksums().size(); i++) {
          sums.add(Words.hex(event.checksums().get(i)));
        }
        uuid(node, "grant", event.grantHigh(), event.grantLow());
      }
      case HostEvent.GrantOpened event -> uuid(node, "uuid", event.uuidHigh(), event.uuidLow());
      case HostEvent.VerifyFailed event -> {
        node.put("expected", Words.hex(event.expected()));
        node.put("actual", Words.hex(event.actual()));
      }
      case HostEvent.DigestRecorded event -> node.put("digest", Words.hex(event.digest()));
      default -> {}
    }
    BiConsumer<String, String> ifAbsent =
        (name, value) -> {
          if (!node.has(name) && !value.isEmpty()) {
            node.put(name, value);
          }
        };
    if (scope.instanceId() != 0) {
      ifAbsent.accept("instance", names.instanceName(scope.instanceId()));
    }
    ifAbsent.accept("request", scope.request());
    try {
      return MAPPER.writeValueAsString(node);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("a tree is always JSON", e);
    }
  }
}
