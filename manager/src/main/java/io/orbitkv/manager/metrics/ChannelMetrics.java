package io.orbitkv.manager.metrics;

import io.orbitkv.client.wire.Category;
import io.orbitkv.client.wire.Op;
import io.orbitkv.core.Reply;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;

/**
 * What the channels' endpoint counts: how long operations took from their descriptor to their last
 * answer, and what it refused before the loop saw it. Hit, miss and byte counts are not here: they
 * come from the fold of the journal.
 */
public final class ChannelMetrics {
  private final Map<Op, LatencyHistogram> latencies = new EnumMap<>(Op.class);
  private final Map<Category, AtomicLong> descriptorRefusals = new EnumMap<>(Category.class);
  private final Map<Category, AtomicLong> controlRefusals = new EnumMap<>(Category.class);
  private final AtomicLong violations = new AtomicLong();
  private final AtomicLong connections = new AtomicLong();

  public ChannelMetrics() {
    for (Op op : Op.values()) {
      latencies.put(op, new LatencyHistogram());
    }
    for (Category category : Category.values()) {
      descriptorRefusals.put(category, new AtomicLong());
      controlRefusals.put(category, new AtomicLong());
    }
  }

  /** A request was answered for good. Loop thread. */
  public void answered(Op op, Reply reply, long nanos) {
    if (!(reply instanceof Reply.Refused)) {
      at(latencies, op).record(nanos);
    }
  }

  /** The endpoint refused a descriptor or its payload by itself. */
  public void descriptorRefused(Category category) {
    at(descriptorRefusals, category).incrementAndGet();
  }

  /** The endpoint refused a control frame or a connection. */
  public void controlRefused(Category category) {
    at(controlRefusals, category).incrementAndGet();
  }

  /** A session was closed because its client broke the protocol. */
  public void violation() {
    violations.incrementAndGet();
  }

  /** A connection was accepted. */
  public void connected() {
    connections.incrementAndGet();
  }

  public LatencyHistogram latency(Op op) {
    return at(latencies, op);
  }

  public long descriptorRefusals(Category category) {
    return at(descriptorRefusals, category).get();
  }

  public long controlRefusals(Category category) {
    return at(controlRefusals, category).get();
  }

  public long violations() {
    return violations.get();
  }

  public long connections() {
    return connections.get();
  }

  private static <K extends Enum<K>, V> V at(Map<K, V> map, K key) {
    V value = map.get(key);
    if (value == null) {
      throw new IllegalStateException("nothing is counted for " + key);
    }
    return value;
  }
}
