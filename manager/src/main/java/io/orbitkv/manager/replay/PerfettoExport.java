package io.orbitkv.manager.replay;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonGenerator;
import io.orbitkv.journal.Replay;
import io.orbitkv.journal.ReplayHooks;
import io.orbitkv.journal.ReplayOptions;
import io.orbitkv.manager.replay.TraceLanes.Lane;
import io.orbitkv.state.Fact;
import io.orbitkv.state.HostEvent;
import io.orbitkv.state.HostState;
import io.orbitkv.state.OpenLease;
import io.orbitkv.state.OpenPublish;
import io.orbitkv.state.OpenRestore;
import io.orbitkv.state.OpenSession;
import io.orbitkv.state.OpenTicket;
import io.orbitkv.state.Totals.Counter;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * {@code --export perfetto FILE}: a timeline in the Trace Event Format, which ui.perfetto.dev and
 * chrome://tracing open.
 *
 * <p>An instance is a process; each of its sessions has a row for its own life and rows for its
 * publishes (reserved to published), query tickets, leases and restores, as many of each as were
 * open at once. The Manager is process 1 with counters, epochs and evictions. Times are
 * microseconds since the trace's first fact. What is open at the end is drawn up to it and marked.
 */
public final class PerfettoExport extends Watcher {
  private static final int COUNTER_SAMPLES = 4_000;
  private static final int MANAGER = 1;

  /** Something that began and has not ended. */
  private record Begun(Lane lane, String name, long atMicros, long position, String detail) {}

  private final JsonGenerator json;
  private final TraceLanes lanes;
  private final long sinceMicros;
  private final long untilMicros;
  private final Map<String, Begun> open = new HashMap<>();
  private final long sampleMicros;
  private long zeroMicros = Long.MIN_VALUE;
  private long nextSampleMicros = Long.MIN_VALUE;
  private long askedAtSample;
  private long hitAtSample;
  private long lastMicros;
  private long events;

  private PerfettoExport(
      JsonGenerator json, long sinceMicros, long untilMicros, long endMicros, Progress progress) {
    super(progress);
    this.json = json;
    this.lanes = new TraceLanes(this::metadata);
    this.sinceMicros = sinceMicros;
    this.untilMicros = untilMicros;
    long span = Math.max(0, Math.min(endMicros, untilMicros) - sinceMicros);
    this.sampleMicros = Math.max(100, span / COUNTER_SAMPLES);
  }

  /** What was written. */
  public record Written(long events, long bytes, boolean complete) {}

  /**
   * Writes the trace of a journal, or of a stretch of it.
   *
   * @param since null for the oldest fact
   * @param until null for the end
   */
  public static Written write(
      JournalDir dir,
      OutputFile file,
      @Nullable Moment since,
      @Nullable Moment until,
      Progress progress)
      throws IOException {
    Moment.End end = dir.end();
    ReplayOptions options = ReplayOptions.QUICK.from(ReplayOptions.Start.OLDEST_FACT);
    if (until != null) {
      options = JournalDir.until(options, until);
    }
    long sinceMicros = since == null ? dir.parts().getFirst().firstAtMicros() : micros(dir, since);
    long untilMicros = until == null ? Long.MAX_VALUE : micros(dir, until);
    try (OutputStream out = new BufferedOutputStream(file.open(), 1 << 16);
        JsonGenerator json = new JsonFactory().createGenerator(out)) {
      json.writeStartObject();
      json.writeStringField("displayTimeUnit", "ms");
      json.writeArrayFieldStart("traceEvents");
      PerfettoExport export =
          new PerfettoExport(json, sinceMicros, untilMicros, end.atMicros(), progress);
      export.process(MANAGER, "Manager");
      Replay replay = dir.fold(options, export);
      export.finish();
      json.writeEndArray();
      json.writeObjectFieldStart("otherData");
      json.writeStringField("journal", dir.path().toString());
      json.writeStringField("firstFactAt", Times.iso(export.zeroMicros()));
      json.writeEndObject();
      json.writeEndObject();
      json.flush();
      boolean complete = replay.complete();
      return new Written(export.events, file.size(), complete);
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  private static long micros(JournalDir dir, Moment moment) throws IOException {
    return switch (moment) {
      case Moment.Time time -> time.atMicros();
      case Moment.Position _ ->
          dir.fold(JournalDir.until(ReplayOptions.QUICK, moment), ReplayHooks.NONE)
              .state()
              .atMicros();
    };
  }

  private long zeroMicros() {
    return zeroMicros == Long.MIN_VALUE ? 0 : zeroMicros;
  }

  // ---- the fold --------------------------------------------------------------------------------

  @Override
  public void starting(HostState state) {
    super.starting(state);
    if (state.position() == 0) {
      return;
    }
    zeroMicros = state.atMicros();
    lastMicros = zeroMicros;
    for (OpenSession each : state.sessions()) {
      begin(
          "session",
          each.id(),
          lane(each.id(), "session"),
          each.position(),
          "session " + each.id(),
          "");
    }
    for (OpenPublish each : state.publishes()) {
      begin(
          "publish",
          each.id(),
          lane(each.sessionId(), "publish"),
          each.position(),
          "publish " + each.request(),
          FactText.blocks(each.blocks()));
    }
    for (OpenLease each : state.leases()) {
      begin(
          "lease",
          each.id(),
          lane(each.sessionId(), "lease"),
          each.position(),
          "lease " + each.request(),
          Words.count(each.blocks(), "block"));
    }
    for (OpenTicket each : state.tickets()) {
      begin(
          "ticket",
          each.id(),
          lane(each.sessionId(), "ticket"),
          each.position(),
          "ticket " + each.request(),
          FactText.blocks(each.awaited()));
    }
    for (OpenRestore each : state.restores()) {
      begin(
          "restore",
          each.id(),
          lane(each.sessionId(), "restore"),
          each.position(),
          "restore under lease " + each.leaseId(),
          Words.count(each.blocks(), "block"));
    }
  }

  @Override
  void see(Fact fact, HostState before) {
    lastMicros = fact.atMicros();
    if (zeroMicros == Long.MIN_VALUE) {
      zeroMicros = lastMicros;
    }
    switch (fact.event()) {
      case HostEvent.EpochStarted event -> {
        end("epoch", before.epoch(), "no EpochEnded: it crashed");
        begin(
            "epoch",
            event.epoch(),
            lanes.lane(MANAGER, 0, "epoch"),
            fact.position(),
            "epoch " + event.epoch(),
            "version " + event.version());
      }
      case HostEvent.EpochEnded event -> end("epoch", event.epoch(), event.reason());
      case HostEvent.SessionOpened event -> {
        process(processOf(event.sessionId()), names.instanceName(event.instanceId()));
        begin(
            "session",
            event.sessionId(),
            lane(event.sessionId(), "session"),
            fact.position(),
            "session " + event.sessionId(),
            "shard " + event.shard() + ", " + Words.of(event.role()) + ", pid " + event.pid());
      }
      case HostEvent.SessionClosed event ->
          end("session", event.sessionId(), Words.of(event.reason()));
      case HostEvent.SlicesReserved event ->
          begin(
              "publish",
              event.publishId(),
              lane(event.sessionId(), "publish"),
              fact.position(),
              "publish " + event.request(),
              FactText.blocks(event.blocks()));
      case HostEvent.SlicesPublished event -> end("publish", event.publishId(), "published");
      case HostEvent.PublishAborted event ->
          end("publish", event.publishId(), "aborted: " + Words.of(event.reason()));
      case HostEvent.LeaseGranted event ->
          begin(
              "lease",
              event.leaseId(),
              lane(event.sessionId(), "lease"),
              fact.position(),
              "lease " + event.request(),
              event.held().stream()
                  .map(held -> FactText.blocks(held.blocks()))
                  .reduce((one, other) -> one + "; " + other)
                  .orElse(""));
      case HostEvent.LeaseReleased event -> end("lease", event.leaseId(), Words.of(event.reason()));
      case HostEvent.TicketOpened event ->
          begin(
              "ticket",
              event.ticketId(),
              lane(event.sessionId(), "ticket"),
              fact.position(),
              "ticket " + event.request(),
              FactText.blocks(event.awaited()));
      case HostEvent.TicketClosed event ->
          end("ticket", event.ticketId(), Words.of(event.outcome()));
      case HostEvent.RestoreStarted event -> {
        OpenLease lease = before.lease(event.leaseId());
        begin(
            "restore",
            event.restoreId(),
            lane(event.sessionId(), "restore"),
            fact.position(),
            lease == null ? "restore" : "restore " + lease.request(),
            Words.count(event.blocks(), "block") + ", " + Words.bytes(event.bytes()));
      }
      case HostEvent.RestoreFinished event ->
          end("restore", event.restoreId(), Words.of(event.outcome()));
      case HostEvent.QueryMissed event ->
          instant(
              fact,
              lane(event.sessionId(), "misses and refusals"),
              "miss " + event.request(),
              missed(event));
      case HostEvent.RequestRefused event ->
          instant(
              fact,
              lane(event.sessionId(), "misses and refusals"),
              "refused " + event.request(),
              Words.of(event.operation()) + ": " + event.reason());
      case HostEvent.RegistrationRefused event ->
          instant(
              fact,
              lanes.lane(MANAGER, 0, "registrations refused"),
              "refused " + event.instance(),
              FactText.refusal(event));
      case HostEvent.VerifyFailed event ->
          instant(
              fact,
              lanes.lane(MANAGER, 0, "verify failures"),
              "block " + event.blockId(),
              "restore " + event.restoreId());
      case HostEvent.BlocksEvicted event ->
          instant(
              fact,
              lanes.lane(MANAGER, 0, "evictions"),
              Words.of(event.cause()) + " " + Words.count(event.blocks().size(), "block"),
              FactText.blocks(event.blocks())
                  + (event.forRequest().isEmpty() ? "" : " for request " + event.forRequest()));
      case HostEvent.TierFact event ->
          instant(
              fact,
              lanes.lane(MANAGER, 0, "SSD tier"),
              event.getClass().getSimpleName(),
              TierText.what(event, names));
      case HostEvent.PeerFact event ->
          instant(
              fact,
              lanes.lane(MANAGER, 0, "other hosts"),
              event.getClass().getSimpleName(),
              PeerText.what(event, names));
      case HostEvent.PlacementSeen _,
          HostEvent.NamespaceBound _,
          HostEvent.NamespaceUnbound _,
          HostEvent.InstanceRegistered _,
          HostEvent.InstanceCleaned _,
          HostEvent.DigestRecorded _ -> {}
    }
  }

  private static String missed(HostEvent.QueryMissed event) {
    long asked = event.answers().stream().mapToLong(HostEvent.GroupAnswer::askedBlocks).sum();
    return "asked " + Words.count(asked, "block");
  }

  @Override
  public void after(Fact fact, HostState state) {
    if (fact.atMicros() >= nextSampleMicros && inside(fact.atMicros())) {
      nextSampleMicros = fact.atMicros() + sampleMicros;
      sample(fact.atMicros(), state);
    }
  }

  private void sample(long at, HostState state) {
    counter(at, "pool used, MiB", state.extentBytes() >> 20);
    counter(at, "sealed blocks", state.sealedBlocks());
    if (state.tierUsed()) {
      counter(at, "SSD used, MiB", state.ssdBytes() >> 20);
      counter(at, "blocks on SSD only", state.ssdOnlyBlocks());
    }
    counter(at, "open leases", state.openLeases());
    counter(at, "open restores", state.openRestores());
    long asked = state.totals().get(Counter.ASKED_BLOCKS);
    long hit = state.totals().get(Counter.HIT_BLOCKS);
    if (asked > askedAtSample) {
      counter(at, "hit ratio, %", 100 * (hit - hitAtSample) / (asked - askedAtSample));
      askedAtSample = asked;
      hitAtSample = hit;
    }
  }

  private void finish() {
    for (Begun begun : open.values()) {
      slice(begun, lastMicros, "open at the end");
    }
    open.clear();
  }

  // ---- slices ----------------------------------------------------------------------------------

  private int processOf(long sessionId) {
    return Math.toIntExact(Math.min(Integer.MAX_VALUE, MANAGER + names.instanceOf(sessionId)));
  }

  private Lane lane(long sessionId, String kind) {
    return lanes.lane(processOf(sessionId), sessionId, kind);
  }

  private void begin(String kind, long id, Lane lane, long position, String name, String detail) {
    open.put(kind + id, new Begun(lane, name.strip(), lastMicros, position, detail));
  }

  private void end(String kind, long id, String outcome) {
    Begun begun = open.remove(kind + id);
    if (begun != null) {
      slice(begun, lastMicros, outcome);
      begun.lane.free();
    }
  }

  private boolean inside(long atMicros) {
    return atMicros >= sinceMicros && atMicros <= untilMicros;
  }

  // ---- the format ------------------------------------------------------------------------------

  private void slice(Begun begun, long endMicros, String outcome) {
    if (endMicros < sinceMicros || begun.atMicros > untilMicros) {
      return;
    }
    event(
        "X",
        begun.name,
        begun.atMicros,
        begun.lane.process(),
        begun.lane.thread(),
        () -> {
          json.writeNumberField("dur", endMicros - begun.atMicros);
          json.writeObjectFieldStart("args");
          json.writeStringField("outcome", outcome);
          json.writeStringField("detail", begun.detail);
          json.writeNumberField("position", begun.position);
          json.writeEndObject();
        });
  }

  private void instant(Fact fact, Lane lane, String name, String detail) {
    lane.free();
    if (inside(fact.atMicros())) {
      event(
          "i",
          name.strip(),
          fact.atMicros(),
          lane.process(),
          lane.thread(),
          () -> {
            json.writeStringField("s", "t");
            json.writeObjectFieldStart("args");
            json.writeStringField("detail", detail);
            json.writeNumberField("position", fact.position());
            json.writeEndObject();
          });
    }
  }

  private void counter(long at, String name, long value) {
    event(
        "C",
        name,
        at,
        MANAGER,
        0,
        () -> {
          json.writeObjectFieldStart("args");
          json.writeNumberField("value", value);
          json.writeEndObject();
        });
  }

  private void process(int process, String name) {
    metadata("process_name", process, 0, name);
  }

  private void metadata(String what, int process, int thread, String name) {
    event(
        "M",
        what,
        zeroMicros(),
        process,
        thread,
        () -> {
          json.writeObjectFieldStart("args");
          json.writeStringField("name", name);
          json.writeEndObject();
        });
  }

  /** Writes the fields of one event that others have not. */
  @FunctionalInterface
  private interface Fields {
    void write() throws IOException;
  }

  private void event(
      String phase, String name, long atMicros, int process, int thread, Fields fields) {
    try {
      json.writeStartObject();
      json.writeStringField("ph", phase);
      json.writeStringField("name", name);
      json.writeNumberField("ts", atMicros - zeroMicros());
      json.writeNumberField("pid", process);
      json.writeNumberField("tid", thread);
      fields.write();
      json.writeEndObject();
      json.writeRaw('\n');
      events++;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
