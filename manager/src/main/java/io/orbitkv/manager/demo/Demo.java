package io.orbitkv.manager.demo;

import io.orbitkv.manager.bench.ProgressLine;
import io.orbitkv.manager.bench.TextTable;
import io.orbitkv.manager.bench.TextTable.Side;
import io.orbitkv.manager.bench.Unit;
import io.orbitkv.manager.cli.Failure;
import io.orbitkv.manager.config.FileTrouble;
import io.orbitkv.manager.replay.JournalDir;
import io.orbitkv.manager.replay.Words;
import io.orbitkv.manager.workload.Children;
import io.orbitkv.manager.workload.EngineShape;
import io.orbitkv.manager.workload.ManagerProcess;
import io.orbitkv.manager.workload.Trace;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The course of the demo: a Manager and an engine, then a fold of the journal, then what it came
 * to.
 */
final class Demo {
  private static final long POOL_BYTES = 256L << 20;
  private static final int DIGEST_EVERY_FACTS = 200;
  private static final int REPLAY_SECONDS = 120;

  private final DemoWorkload workload;
  private final Path dir;
  private final PrintWriter out;

  Demo(DemoWorkload workload, Path dir, PrintWriter out) {
    this.workload = workload;
    this.dir = dir;
    this.out = out;
  }

  /**
   * Runs it.
   *
   * @return whether the fold of the journal is equal to what the Manager had
   */
  boolean run() {
    Trace trace = workload.load();
    EngineShape shape = DemoWorkload.shape(trace);
    say("OrbitKV demo: %,d requests, %s".formatted(trace.requests().size(), workload.describe()));
    say("");
    EngineReport report;
    long facts;
    Path journal;
    List<String> flags =
        List.of(
            "--pool-size",
            Long.toString(POOL_BYTES),
            "--prefault",
            "--digest-every",
            Integer.toString(DIGEST_EVERY_FACTS));
    try (ManagerProcess manager = ManagerProcess.start(dir, flags, List.of())) {
      journal = manager.journal();
      say(
          "  Manager   process %d: %d MiB of pool, room for %,d blocks; the workload has %,d"
              .formatted(
                  manager.pid(),
                  POOL_BYTES >> 20,
                  POOL_BYTES / shape.pooledBytes(),
                  trace.distinctBlocks()));
      report = play(manager, trace, shape);
    }
    facts = facts(journal);
    String verdict = verify(journal);
    Path page = page(journal);
    say("");
    table(report, facts, verdict).lines().forEach(line -> say("  %s".formatted(line)));
    say("  Times and bytes are as the engine saw them. Replay tells the Manager's: its own");
    say("  share of the times, and extents, which are a little larger than their bytes.");
    say("");
    invite(report, journal, page);
    return verdict.equals("replay digest equal");
  }

  // ---- playing

  private EngineReport play(ManagerProcess manager, Trace trace, EngineShape shape) {
    List<String> arguments = new ArrayList<>(List.of("demo", "engine", manager.socket()));
    arguments.addAll(workload.arguments());
    Path log = dir.resolve("engine.log");
    Process engine = Children.start(arguments, List.of(), log, true);
    say(
        "  Engine    process %d: blocks of %d tokens, %d KiB in %d layers"
            .formatted(engine.pid(), shape.pageTokens(), shape.blockBytes() >> 10, shape.layers()));
    EngineReport last = null;
    try (BufferedReader lines =
            new BufferedReader(
                new InputStreamReader(engine.getInputStream(), StandardCharsets.UTF_8));
        ProgressLine progress = new ProgressLine("  playing", trace.requests().size())) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        last = EngineReport.parse(line);
        progress.accept(last.requests(), words(last));
      }
    } catch (IOException broken) {
      throw new Failure("the engine's output broke off: " + FileTrouble.text(broken), "", broken);
    } finally {
      Children.stop(engine);
    }
    if (last == null || !last.finished()) {
      throw new Failure("the engine ended before the workload did", Children.tail(log).strip());
    }
    return last;
  }

  private static String words(EngineReport report) {
    return String.format(
        Locale.ROOT,
        "hit %.1f %%, %s in, %s out",
        100 * report.hitRatio(),
        Words.bytes(report.publishedBytes()),
        Words.bytes(report.restoredBytes()));
  }

  // ---- the fold

  private String verify(Path journal) {
    Path log = dir.resolve("verify.log");
    Process replay =
        Children.start(List.of("replay", journal.toString(), "--verify"), List.of(), log, false);
    say("  Replay    process %d: folds the journal anew".formatted(replay.pid()));
    int status = await(replay, "replay --verify");
    String said = firstLine(log);
    return status == 0 ? said : said.isEmpty() ? "replay --verify ended with " + status : said;
  }

  /** The report page; null if it could not be made, which is then told. */
  private @Nullable Path page(Path journal) {
    Path page = dir.resolve("report.html");
    Path log = dir.resolve("report.log");
    Process replay =
        Children.start(
            List.of("replay", journal.toString(), "--report", page.toString()),
            List.of(),
            log,
            false);
    int status = await(replay, "replay --report");
    if (status == 0 && Files.exists(page)) {
      return page;
    }
    say(
        "  no report page: replay --report ended with %d: %s"
            .formatted(status, Children.tail(log)));
    return null;
  }

  private static int await(Process process, String what) {
    if (!Children.await(process, REPLAY_SECONDS)) {
      Children.stop(process);
      throw new Failure(what + " took longer than " + REPLAY_SECONDS + " s", "");
    }
    return process.exitValue();
  }

  private static String firstLine(Path log) {
    try {
      return Files.readAllLines(log).stream()
          .filter(line -> line.startsWith("replay ") || line.startsWith("orbitkv: "))
          .findFirst()
          .orElse("");
    } catch (IOException unreadable) {
      return log + " cannot be read: " + FileTrouble.text(unreadable);
    }
  }

  // ---- what it came to

  /** Facts of the whole journal, those that the Manager's end wrote among them. */
  private static long facts(Path journal) {
    try {
      return JournalDir.open(journal).end().position();
    } catch (IOException unreadable) {
      throw new Failure(
          "the journal cannot be read: " + FileTrouble.text(unreadable), "", unreadable);
    }
  }

  private static String speed(double bytesPerSecond) {
    return Words.bytes((long) bytesPerSecond) + "/s";
  }

  static TextTable table(EngineReport report, long facts, String verdict) {
    TextTable table =
        new TextTable().column("", Side.LEFT).column("", Side.RIGHT).column("", Side.LEFT);
    row(
        table,
        "requests",
        "%,d".formatted(report.requests()),
        "%,d input tokens a request"
            .formatted(report.inputTokens() / Math.max(1, report.requests())));
    row(
        table,
        "block hits",
        "%,d".formatted(report.hitBlocks()),
        "of %,d blocks, %.1f %%".formatted(report.askedBlocks(), 100 * report.hitRatio()));
    row(
        table,
        "tokens saved",
        "%,d".formatted(report.hitBlocks() * Trace.MOONCAKE_BLOCK_TOKENS),
        "restored instead of computed again");
    row(
        table,
        "published",
        Words.bytes(report.publishedBytes()),
        speed(report.publishSpeed()) + " in");
    row(
        table,
        "restored",
        Words.bytes(report.restoredBytes()),
        speed(report.restoreSpeed()) + " out, every byte checked");
    latency(table, "query", report.queryP50(), report.queryP99());
    latency(table, "restore", report.restoreP50(), report.restoreP99());
    latency(table, "publish", report.publishP50(), report.publishP99());
    row(table, "facts journaled", "%,d".formatted(facts), verdict);
    return table;
  }

  private static void latency(TextTable table, String name, long p50, long p99) {
    row(
        table,
        name,
        Unit.NANOS.text((double) p50),
        "p50, " + Unit.NANOS.text((double) p99) + " p99");
  }

  private static void row(TextTable table, String name, String value, String words) {
    table.row(name, value, words);
  }

  private void invite(EngineReport report, Path journal, @Nullable Path page) {
    String command = command() + " replay " + journal;
    say("Left for you:");
    say("  journal   %s".formatted(journal));
    if (page != null) {
      say("  report    %s   (open it in a browser)".formatted(page));
    }
    say("");
    say("Try next:");
    say("  %s".formatted(command));
    if (!report.missed().isEmpty()) {
      say("      what is true at the end; --at a position or a time for any other moment");
      say("  %s --why %s".formatted(command, report.missed()));
      say(
          report.missedEvicted()
              ? "      why that request missed blocks that had been there"
              : "      why that request missed its blocks");
    }
  }

  /** How this was called, as short as it can be written here. */
  private static String command() {
    String launcher = System.getenv("ORBITKV_LAUNCHER");
    if (launcher == null) {
      return "orbitkv";
    }
    Path here = Path.of("").toAbsolutePath();
    Path path = Path.of(launcher).toAbsolutePath().normalize();
    return path.startsWith(here) ? "./" + here.relativize(path) : path.toString();
  }

  private void say(String line) {
    out.println(line);
    out.flush();
  }
}
