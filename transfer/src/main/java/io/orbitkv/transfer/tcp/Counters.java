package io.orbitkv.transfer.tcp;

import io.orbitkv.transfer.GrantTable;
import io.orbitkv.transfer.Refusal;
import io.orbitkv.transfer.TransferFailure;
import io.orbitkv.transfer.TransferStats;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/** What an engine counts. */
final class Counters {
  final LongAdder readsBegun = new LongAdder();
  final LongAdder readsDone = new LongAdder();
  final LongAdder bytesRead = new LongAdder();
  final AtomicLong bytesInFlight = new AtomicLong();
  final AtomicLong readsInQuarantine = new AtomicLong();
  final LongAdder retries = new LongAdder();
  final LongAdder requestsServed = new LongAdder();
  final LongAdder bytesServed = new LongAdder();
  final LongAdder badFrames = new LongAdder();
  final LongAdder stalled = new LongAdder();
  final AtomicInteger inboundConnections = new AtomicInteger();
  final AtomicInteger outboundConnections = new AtomicInteger();
  private final Map<String, LongAdder> failures = new ConcurrentHashMap<>();
  private final Map<Refusal, LongAdder> refusals = new ConcurrentHashMap<>();

  void failed(TransferFailure failure) {
    failures
        .computeIfAbsent(failure.getClass().getSimpleName(), name -> new LongAdder())
        .increment();
  }

  void refused(Refusal refusal) {
    refusals.computeIfAbsent(refusal, reason -> new LongAdder()).increment();
  }

  TransferStats snapshot(GrantTable grants) {
    Map<String, Long> byFailure = new TreeMap<>();
    failures.forEach((name, count) -> byFailure.put(name, count.sum()));
    Map<Refusal, Long> byRefusal = new TreeMap<>();
    refusals.forEach((reason, count) -> byRefusal.put(reason, count.sum()));
    return new TransferStats(
        readsBegun.sum(),
        readsDone.sum(),
        byFailure,
        bytesRead.sum(),
        bytesInFlight.get(),
        readsInQuarantine.get(),
        retries.sum(),
        requestsServed.sum(),
        bytesServed.sum(),
        byRefusal,
        badFrames.sum(),
        stalled.sum(),
        inboundConnections.get(),
        outboundConnections.get(),
        grants.size(),
        grants.readsInFlight());
  }
}
