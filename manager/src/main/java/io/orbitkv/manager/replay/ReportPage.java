package io.orbitkv.manager.replay;

import io.orbitkv.journal.Replay;
import io.orbitkv.journal.ReplayOptions;
import io.orbitkv.manager.replay.SvgPlot.Series;
import io.orbitkv.manager.replay.Timeline.Stretch;
import io.orbitkv.state.HostEvent.EvictionCause;
import io.orbitkv.state.HostState;
import io.orbitkv.state.Totals;
import io.orbitkv.state.Totals.Counter;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.DoubleFunction;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;

/**
 * {@code --report FILE.html}: one page with plots and tables of a whole journal. It refers to
 * nothing outside itself, needs no script, and follows the reader's light or dark setting.
 */
public final class ReportPage {
  private static final int TOP = 10;
  private static final int MAX_CAUSES = 5;

  private final JournalDir dir;
  private final Times times;
  private final Replay replay;
  private final ReportData data;
  private final List<Stretch> stretches;
  private final TimeAxis axis;
  private final StringBuilder html = new StringBuilder(1 << 16);

  private ReportPage(JournalDir dir, Times times, Replay replay, ReportData data) {
    this.dir = dir;
    this.times = times;
    this.replay = replay;
    this.data = data;
    this.stretches = data.timeline.stretches();
    long begin = data.timeline.beginMicros();
    this.axis =
        new TimeAxis(
            begin,
            begin + Math.max(1, stretches.size()) * data.timeline.widthMicros(),
            times.zone());
  }

  /**
   * Writes the page.
   *
   * @return whether the whole journal could be folded; the page says what is missing
   */
  public static boolean write(JournalDir dir, OutputFile file, Times times, Progress progress)
      throws IOException {
    ReportData data = new ReportData(progress);
    Replay replay = dir.fold(ReplayOptions.QUICK.from(ReplayOptions.Start.OLDEST_FACT), data);
    file.write(new ReportPage(dir, times, replay, data).page());
    return replay.complete();
  }

  private String page() throws IOException {
    html.append("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">");
    html.append("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">");
    html.append("<title>OrbitKV replay report</title><style>\n").append(css());
    html.append("</style></head><body><main>\n");
    header();
    notes();
    tiles();
    html.append("<div class=\"grid2\">\n");
    plots();
    requests("Requests that missed most", TopList.Entry::missedBlocks);
    requests("Requests that restored most", entry -> entry.restoredBytes);
    namespaces();
    tier();
    epochs();
    html.append("</div>\n</main></body></html>\n");
    return html.toString();
  }

  private static String css() throws IOException {
    try (InputStream in = ReportPage.class.getResourceAsStream("report.css")) {
      if (in == null) {
        throw new IllegalStateException("report.css is missing from this build");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  // ---- the top of the page ---------------------------------------------------------------------

  private void header() {
    HostState state = replay.state();
    html.append("<h1>OrbitKV replay report</h1>\n<p>").append(Html.escape(dir.path().toString()));
    html.append("</p>\n<p>");
    html.append(Words.count(replay.facts(), "fact")).append(", ");
    html.append(times.text(data.timeline.beginMicros())).append(" to ");
    html.append(times.text(state.atMicros())).append(" (");
    html.append(Words.duration(state.atMicros() - data.timeline.beginMicros())).append("), ");
    html.append("times in ").append(Html.escape(times.zoneName()));
    html.append(", one point is ").append(Words.duration(data.timeline.widthMicros()));
    html.append("; position ").append(Words.count(state.position()));
    html.append(", digest ").append(Words.hex(state.digest())).append("</p>\n");
  }

  private void notes() {
    List<String> notes = Notes.of(replay);
    if (replay.checkpointPosition() > 0) {
      notes.add(
          "facts up to position %s are deleted; the plots begin behind them"
              .formatted(Words.count(replay.checkpointPosition())));
    }
    if (!notes.isEmpty()) {
      html.append("<div class=\"card notes\"><h2>Damage and gaps</h2><ul>");
      notes.forEach(note -> html.append("<li>").append(Html.escape(note)).append("</li>"));
      html.append("</ul></div>\n");
    }
  }

  private void tiles() {
    HostState state = replay.state();
    Totals totals = state.totals();
    html.append("<div class=\"tiles\">");
    tile(
        Words.percent(totals.get(Counter.HIT_BLOCKS), totals.get(Counter.ASKED_BLOCKS)),
        "of %s hit".formatted(Words.count(totals.get(Counter.ASKED_BLOCKS), "asked block")));
    tile(Words.count(totals.get(Counter.QUERIES)), "queries answered");
    tile(Words.bytes(totals.get(Counter.PUBLISHED_BYTES)), "published");
    tile(Words.bytes(totals.get(Counter.RESTORED_BYTES)), "restored");
    latencyTile("restore", data.restores);
    latencyTile("publish", data.publishes);
    tile(
        Words.percent(state.extentBytes(), state.poolBytes()),
        "of %s used at the end".formatted(Words.bytes(state.poolBytes())));
    tile(
        Words.count(Arrays.stream(EvictionCause.values()).mapToLong(totals::evictedBlocks).sum()),
        "blocks evicted");
    tile(Words.count(state.openLeases()), "leases open at the end");
    html.append("</div>\n");
  }

  private void latencyTile(String what, LatencyCounts counts) {
    boolean any = counts.total() > 0;
    tile(
        any ? Words.duration((long) counts.quantile(0.5)) : "-",
        what + " p50" + (any ? "; p99 " + Words.duration((long) counts.quantile(0.99)) : ""));
  }

  private void tile(String value, String what) {
    html.append("<div class=\"tile\"><b>").append(Html.escape(value)).append("</b><span>");
    html.append(Html.escape(what)).append("</span></div>");
  }

  // ---- plots -----------------------------------------------------------------------------------

  private void plots() {
    double seconds = data.timeline.widthSeconds();
    DoubleFunction<String> bytes = value -> Words.bytes((long) value).replace(".0 ", " ");
    DoubleFunction<String> count = ReportPage::plain;
    Series used = new Series("used", carried(stretch -> stretch.extentBytes));
    Series pool = new Series("size of the pool", carried(stretch -> stretch.poolBytes));
    plot(
        "Pool occupancy",
        "bytes of all extents",
        List.of(used, pool),
        SvgPlot.lines(List.of(used, pool), axis, 1_024, bytes));
    Series ratio =
        series(
            "hit",
            stretch ->
                stretch.askedBlocks == 0
                    ? Double.NaN
                    : 100.0 * stretch.hitBlocks / stretch.askedBlocks);
    plot(
        "Hit ratio",
        "hit blocks of the blocks asked for, %",
        List.of(ratio),
        SvgPlot.lines(List.of(ratio), axis, 1_000, count));
    Series leases = series("leases", stretch -> stretch.peakLeases);
    Series restoring = series("restores", stretch -> stretch.peakRestores);
    plot(
        "Open leases and restores",
        "the most at once",
        List.of(leases, restoring),
        SvgPlot.lines(List.of(leases, restoring), axis, 1_000, count));
    Series in = series("published", stretch -> stretch.publishedBytes / seconds);
    Series out = series("restored", stretch -> stretch.restoredBytes / seconds);
    plot(
        "Throughput",
        "bytes a second",
        List.of(in, out),
        SvgPlot.lines(List.of(in, out), axis, 1_024, value -> bytes.apply(value) + "/s"));
    latency("Restore latency", "submitted to drained", stretch -> stretch.restores);
    latency("Publish latency", "reserved to published", stretch -> stretch.publishes);
    evictions();
    Series facts = series("facts", stretch -> stretch.facts / seconds);
    Series queries = series("queries", stretch -> stretch.queries / seconds);
    Series refusals = series("refusals", stretch -> stretch.refusals / seconds);
    plot(
        "Facts, queries and refusals",
        "a second",
        List.of(facts, queries, refusals),
        SvgPlot.lines(List.of(facts, queries, refusals), axis, 1_000, count));
  }

  /** Picks the latencies of a stretch. */
  @FunctionalInterface
  private interface Latencies {
    LatencyCounts of(Stretch stretch);
  }

  private void latency(String title, String what, Latencies which) {
    Series p50 = series("p50", stretch -> which.of(stretch).quantile(0.5));
    Series p90 = series("p90", stretch -> which.of(stretch).quantile(0.9));
    Series p99 = series("p99", stretch -> which.of(stretch).quantile(0.99));
    List<Series> all = List.of(p50, p90, p99);
    plot(
        title,
        what,
        all,
        SvgPlot.logarithmic(all, axis, value -> Words.duration((long) value).replace(".0 ", " ")));
  }

  private void evictions() {
    List<EvictionCause> causes = new ArrayList<>();
    for (EvictionCause cause : EvictionCause.values()) {
      if (stretches.stream().anyMatch(stretch -> stretch.evicted.containsKey(cause))) {
        causes.add(cause);
      }
    }
    causes.sort(Comparator.comparingLong(cause -> -replay.state().totals().evictedBlocks(cause)));
    List<Series> all = new ArrayList<>();
    for (EvictionCause cause : causes.subList(0, Math.min(MAX_CAUSES, causes.size()))) {
      all.add(
          series(
              Words.of(cause), stretch -> stretch.evicted.getOrDefault(cause, 0L).doubleValue()));
    }
    plot(
        "Evictions",
        "blocks in each stretch, by cause",
        all,
        SvgPlot.stacked(all, axis, 1_000, ReportPage::plain));
  }

  private Series series(String name, ToDoubleFunction<Stretch> value) {
    return new Series(name, stretches.stream().mapToDouble(value).toArray());
  }

  /** A level that stays until the next fact: stretches without one repeat the one before. */
  private double[] carried(ToDoubleFunction<Stretch> value) {
    double[] values = new double[stretches.size()];
    double last = 0;
    for (int i = 0; i < values.length; i++) {
      double here = value.applyAsDouble(stretches.get(i));
      last = here < 0 ? last : here;
      values[i] = last;
    }
    return values;
  }

  private static String plain(double value) {
    if (value >= 1e6) {
      return String.format(Locale.ROOT, "%.3gM", value / 1e6);
    }
    if (value >= 1e4) {
      return String.format(Locale.ROOT, "%.3gk", value / 1e3);
    }
    return value == Math.rint(value)
        ? Words.count((long) value)
        : String.format(Locale.ROOT, "%.2g", value);
  }

  private void plot(String title, String what, List<Series> series, String svg) {
    boolean any = series.stream().anyMatch(each -> each.values().anyMatch(value -> value > 0));
    html.append("<section class=\"card\"><h2>").append(Html.escape(title)).append("</h2><p>");
    html.append(Html.escape(what)).append("</p>");
    if (!any) {
      html.append("<p class=\"empty\">none in this journal</p></section>\n");
      return;
    }
    html.append("<div class=\"legend\">");
    for (int i = 0; i < series.size() && series.size() > 1; i++) {
      html.append("<span><i class=\"c").append(i).append("\"></i>");
      html.append(Html.escape(series.get(i).name())).append("</span>");
    }
    html.append("</div>").append(svg).append("</section>\n");
  }

  // ---- tables ----------------------------------------------------------------------------------

  private void requests(String title, ToLongFunction<TopList.Entry> by) {
    List<TopList.Entry> top = data.requests.top(TOP, by);
    table(
        title,
        data.requests.approximate() ? "of the requests with most blocks" : "of all requests",
        top);
  }

  private void namespaces() {
    table(
        "Namespaces",
        "by blocks asked for",
        data.namespaces.top(TOP, entry -> entry.askedBlocks + entry.publishedBytes));
  }

  private void table(String title, String what, List<TopList.Entry> rows) {
    html.append("<section class=\"card\"><h2>").append(Html.escape(title)).append("</h2><p>");
    html.append(Html.escape(what)).append("</p>");
    if (rows.isEmpty()) {
      html.append("<p class=\"empty\">none in this journal</p></section>\n");
      return;
    }
    html.append("<div class=\"scroll\"><table><tr><th>name</th><th class=\"n\">asked</th>");
    html.append("<th class=\"n\">hit</th><th class=\"n\">missed</th>");
    html.append("<th class=\"n\">restored</th><th class=\"n\">published</th></tr>");
    for (TopList.Entry row : rows) {
      html.append("<tr><td class=\"name\">").append(Html.escape(row.name)).append("</td>");
      cell(Words.count(row.askedBlocks));
      cell(Words.percent(row.hitBlocks, row.askedBlocks));
      cell(Words.count(row.missedBlocks()));
      cell(Words.bytes(row.restoredBytes));
      cell(Words.bytes(row.publishedBytes));
      html.append("</tr>");
    }
    html.append("</table></div></section>\n");
  }

  private void tier() {
    if (!TierFigures.any(replay.state())) {
      return;
    }
    html.append("<section class=\"card\"><h2>SSD tier</h2><p>what went there and came back</p>");
    html.append("<div class=\"scroll\"><table>");
    for (TierFigures.Figure figure : data.tier.of(replay.state())) {
      html.append("<tr><td>").append(Html.escape(figure.name())).append("</td><td>");
      html.append(Html.escape(figure.text())).append("</td></tr>");
    }
    html.append("</table></div></section>\n");
  }

  private void epochs() {
    html.append("<section class=\"card\"><h2>Epochs</h2><p>runs of the daemon</p>");
    html.append("<div class=\"scroll\"><table><tr><th>epoch</th><th>version</th><th>began</th>");
    html.append("<th class=\"n\">position</th></tr>");
    for (ReportData.Epoch epoch : data.epochs) {
      html.append("<tr><td>").append(epoch.epoch()).append("</td><td>");
      html.append(Html.escape(epoch.version())).append("</td><td>");
      html.append(times.text(epoch.atMicros())).append("</td>");
      cell(Words.count(epoch.position()));
      html.append("</tr>");
    }
    html.append("</table></div></section>\n");
  }

  private void cell(String text) {
    html.append("<td class=\"n\">").append(Html.escape(text)).append("</td>");
  }
}
