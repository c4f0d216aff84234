package io.orbitkv.manager.cli;

import io.orbitkv.manager.config.FileTrouble;
import io.orbitkv.manager.replay.BlockStory;
import io.orbitkv.manager.replay.Diff;
import io.orbitkv.manager.replay.Events;
import io.orbitkv.manager.replay.FactFilter;
import io.orbitkv.manager.replay.JournalDir;
import io.orbitkv.manager.replay.Leaks;
import io.orbitkv.manager.replay.Moment;
import io.orbitkv.manager.replay.OutputFile;
import io.orbitkv.manager.replay.PerfettoExport;
import io.orbitkv.manager.replay.ReportPage;
import io.orbitkv.manager.replay.Summary;
import io.orbitkv.manager.replay.Times;
import io.orbitkv.manager.replay.Verify;
import io.orbitkv.manager.replay.Why;
import io.orbitkv.manager.replay.Words;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.time.DateTimeException;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/** {@code orbitkv replay}. */
@Command(
    name = "replay",
    description = "Rebuild and explain what a Manager did, from its journal.",
    mixinStandardHelpOptions = true,
    sortOptions = false,
    footerHeading = "%n",
    footer = {
      "Without a question it prints a summary. The journal may be live, copied, torn at its end,"
          + " or cut at its head by retention; it is never written to.",
      "",
      "INDEX|TIME is a fact's position (4711), a time (2026-11-30T12:00:01Z, 12:00:01 of the"
          + " journal's last day), or a time before the journal's end (-90s, -5m, -2h, -1d).",
      "",
      "Exit codes:",
      "  0  done; --verify: everything is equal; --leaks: nothing is overdue",
      "  1  no such journal, request, block or moment; damage that ended the fold;",
      "     --verify: something differs; --leaks: something is overdue",
      "  2  wrong usage",
    })
public final class ReplayCommand implements Callable<Integer> {
  private static final long LARGE_TRACE_BYTES = 500L << 20;

  @Spec private CommandSpec spec = CommandSpec.create();

  @Parameters(paramLabel = "DIR", description = "The journal's directory, or a copy of it.")
  private Path dir = Path.of("");

  // ---- questions

  @Option(
      names = "--at",
      paramLabel = "INDEX|TIME",
      description = "Summarize the state at a moment; with --leaks: what was open then.")
  private @Nullable String at;

  @Option(names = "--events", description = "Print the facts, one a line.")
  private boolean events;

  @Option(names = "--follow", description = "Print the facts, and go on as they are appended.")
  private boolean follow;

  @Option(
      names = "--why",
      paramLabel = "REQUEST",
      description = "Tell the story of a request, and for every miss why.")
  private @Nullable String why;

  @Option(
      names = "--why-key",
      paramLabel = "HEX",
      description = "Tell of every block whose key begins with these digits.")
  private @Nullable String whyKey;

  @Option(
      names = "--leaks",
      description = "List what is open, with the fact that opened it and its age.")
  private boolean leaks;

  @Option(
      names = "--verify",
      description = "Fold anew; check every invariant and every digest the daemon recorded.")
  private boolean verify;

  @Option(
      names = "--diff",
      arity = "2",
      paramLabel = "INDEX|TIME",
      description = "Compare the states at two moments.")
  private List<String> diff = new ArrayList<>();

  @Option(
      names = "--export",
      arity = "2",
      paramLabel = "perfetto FILE",
      hideParamSyntax = true,
      description =
          "Write a timeline that ui.perfetto.dev opens; --since and --until choose a stretch.")
  private List<String> export = new ArrayList<>();

  @Option(
      names = "--report",
      paramLabel = "FILE.html",
      description = "Write one self-contained page with plots.")
  private @Nullable Path report;

  // ---- filters of --events and --follow

  @Option(names = "--instance", paramLabel = "NAME|ID", description = "Facts of this instance.")
  private @Nullable String instance;

  @Option(names = "--request", paramLabel = "NAME", description = "Facts of this request.")
  private @Nullable String request;

  @Option(
      names = "--block",
      paramLabel = "ID",
      description = "Facts of this block; without --events: its life.")
  private @Nullable Long block;

  @Option(names = "--lease", paramLabel = "ID", description = "Facts of this lease.")
  private @Nullable Long lease;

  @Option(
      names = "--type",
      paramLabel = "FACT",
      split = ",",
      description = "Facts of these types, in any case: QueryMissed,BlocksEvicted.")
  private List<String> types = new ArrayList<>();

  @Option(names = "--since", paramLabel = "INDEX|TIME", description = "Facts from here on.")
  private @Nullable String since;

  @Option(names = "--until", paramLabel = "INDEX|TIME", description = "Facts up to here.")
  private @Nullable String until;

  @Option(
      names = "--limit",
      paramLabel = "N",
      defaultValue = "0",
      description = "At most so many facts; 0 is all.")
  private long limit;

  // ---- how

  @Option(
      names = "--deep-every",
      paramLabel = "N",
      defaultValue = "100000",
      description =
          "With --verify: facts between two checks of all invariants, 0 for only at the end; "
              + "default: ${DEFAULT-VALUE}.")
  private long deepEvery;

  @Option(
      names = "--json",
      description =
          "The answer as a JSON object: of the summary, --at, --leaks and --diff; one a line of"
              + " --events and --follow.")
  private boolean json;

  @Option(
      names = "--zone",
      converter = Zone.class,
      paramLabel = "ZONE",
      description = "Time zone of times without one, read and printed; default: UTC.")
  private ZoneId zone = ZoneOffset.UTC;

  /** Reads a time zone, and says what one looks like. */
  private static final class Zone implements ITypeConverter<ZoneId> {
    @Override
    public ZoneId convert(String text) {
      try {
        return ZoneId.of(text);
      } catch (DateTimeException unknown) {
        throw new TypeConversionException(
            "'" + text + "' is no time zone such as Europe/Berlin, UTC or +01:00");
      }
    }
  }

  @Override
  public Integer call() throws InterruptedException {
    checkUsage();
    try (ProgressBar progress = ProgressBar.onTerminal()) {
      return answer(JournalDir.open(dir), progress) ? ExitCode.OK : ExitCode.FAILED;
    } catch (UncheckedIOException e) {
      throw unreadable(Objects.requireNonNull(e.getCause()));
    } catch (IOException e) {
      throw unreadable(e);
    }
  }

  private Failure unreadable(IOException why) {
    return new Failure(
        "cannot read " + dir + ": " + FileTrouble.text(why),
        "Is the disk well, and the directory readable for this user?",
        why);
  }

  private void checkUsage() {
    List<String> questions = new ArrayList<>();
    question(questions, "--events or --follow", events || follow);
    question(questions, "--why", why != null);
    question(questions, "--why-key", whyKey != null);
    question(questions, "--block", block != null && !events && !follow);
    question(questions, "--leaks or --at", leaks || at != null);
    question(questions, "--verify", verify);
    question(questions, "--diff", !diff.isEmpty());
    question(questions, "--export", !export.isEmpty());
    question(questions, "--report", report != null);
    if (questions.size() > 1) {
      throw usage("one question at a time: " + String.join(", ", questions));
    }
    boolean filtered =
        instance != null || request != null || lease != null || !types.isEmpty() || limit != 0;
    if (filtered && !events && !follow) {
      throw usage(
          "--instance, --request, --lease, --type and --limit go with --events or --follow");
    }
    if ((since != null || until != null) && !events && !follow && export.isEmpty()) {
      throw usage("--since and --until go with --events, --follow or --export");
    }
    if (!diff.isEmpty() && diff.size() != 2) {
      throw usage("--diff takes two moments");
    }
    if (!export.isEmpty() && !(export.size() == 2 && export.getFirst().equals("perfetto"))) {
      throw usage("--export takes a format and a file; the one format is perfetto");
    }
    boolean onlyText =
        why != null
            || whyKey != null
            || (block != null && !events && !follow)
            || verify
            || !export.isEmpty()
            || report != null;
    if (json && onlyText) {
      throw usage(
          "--json goes with --events, --follow, --leaks, --at, --diff, or without a question");
    }
    if (!verify && spec.commandLine().getParseResult().hasMatchedOption("--deep-every")) {
      throw usage("--deep-every goes with --verify");
    }
    if (limit < 0 || deepEvery < 0) {
      throw usage("--limit and --deep-every are 0 or more");
    }
    if (whyKey != null && !whyKey.matches("[0-9a-fA-F]{2,128}")) {
      throw usage("--why-key takes 2 to 128 hexadecimal digits");
    }
  }

  private static void question(List<String> questions, String name, boolean asked) {
    if (asked) {
      questions.add(name);
    }
  }

  private ParameterException usage(String message) {
    return new ParameterException(spec.commandLine(), message);
  }

  /** False when the answer is no. */
  private boolean answer(JournalDir journal, ProgressBar progress)
      throws IOException, InterruptedException {
    PrintWriter out = spec.commandLine().getOut();
    PrintWriter err = spec.commandLine().getErr();
    Times times = new Times(zone);
    if (events || follow) {
      Events printer = new Events(journal, filter(journal), json, limit, times, out);
      if (follow) {
        printer.follow(err, progress);
      } else {
        printer.print(err, progress);
      }
      return true;
    }
    if (why != null) {
      new Why(journal, why, times, out).tell(progress);
      return true;
    }
    if (whyKey != null) {
      new BlockStory(journal, times, out).ofKey(whyKey, progress);
      return true;
    }
    if (block != null) {
      new BlockStory(journal, times, out).ofBlock(block, progress);
      return true;
    }
    if (verify) {
      return Verify.run(journal, deepEvery, out, progress);
    }
    if (leaks) {
      Leaks found = Leaks.find(journal, moment(at, journal), progress);
      if (json) {
        out.println(found.json());
        out.flush();
      } else {
        found.print(out, times);
      }
      return found.complete() && !found.anyOverdue();
    }
    if (!diff.isEmpty()) {
      return compare(journal, out, times, progress);
    }
    if (!export.isEmpty()) {
      return export(journal, out, progress);
    }
    if (report != null) {
      OutputFile page = OutputFile.of(report, journal);
      boolean whole = ReportPage.write(journal, page, times, progress);
      out.printf("%s: %s%n", report, Words.bytes(page.size()));
      out.flush();
      return whole;
    }
    return summary(journal, out, times, progress);
  }

  private boolean compare(JournalDir journal, PrintWriter out, Times times, ProgressBar progress)
      throws IOException {
    Moment from = requireMoment(diff.getFirst(), journal);
    Moment to = requireMoment(diff.getLast(), journal);
    Diff found = Diff.between(journal, from, to, progress);
    if (json) {
      out.println(found.json());
      out.flush();
    } else {
      found.print(out, times);
    }
    return found.complete();
  }

  private boolean export(JournalDir journal, PrintWriter out, ProgressBar progress)
      throws IOException {
    OutputFile file = OutputFile.of(Path.of(export.getLast()), journal);
    PerfettoExport.Written written =
        PerfettoExport.write(
            journal, file, moment(since, journal), moment(until, journal), progress);
    out.printf(
        "%s: %s, %s; open it at https://ui.perfetto.dev%n",
        file.path(), Words.count(written.events(), "event"), Words.bytes(written.bytes()));
    if (written.bytes() > LARGE_TRACE_BYTES) {
      out.println("  it is large for a browser: --since and --until choose a stretch");
    }
    if (!written.complete()) {
      out.println("  damage ended the fold: run orbitkv replay on this journal without a question");
    }
    out.flush();
    return written.complete();
  }

  private boolean summary(JournalDir journal, PrintWriter out, Times times, ProgressBar progress)
      throws IOException {
    Moment moment = moment(at, journal);
    Summary summary =
        moment == null ? Summary.whole(journal, progress) : Summary.at(journal, moment, progress);
    if (json) {
      out.println(summary.json());
      out.flush();
    } else {
      summary.print(out, times);
    }
    return summary.complete();
  }

  private FactFilter filter(JournalDir journal) throws IOException {
    TreeSet<String> names = new TreeSet<>();
    for (String type : types) {
      try {
        names.add(FactFilter.type(type));
      } catch (IllegalArgumentException e) {
        throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
      }
    }
    return new FactFilter(
        instance, request, block, lease, names, moment(since, journal), moment(until, journal));
  }

  private @Nullable Moment moment(@Nullable String text, JournalDir journal) throws IOException {
    return text == null ? null : requireMoment(text, journal);
  }

  private Moment requireMoment(String text, JournalDir journal) throws IOException {
    try {
      return Moment.parse(text, zone, () -> end(journal));
    } catch (IllegalArgumentException e) {
      throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()), e);
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  private static Moment.End end(JournalDir journal) {
    try {
      return journal.end();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
