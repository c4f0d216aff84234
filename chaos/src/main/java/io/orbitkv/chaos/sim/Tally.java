package io.orbitkv.chaos.sim;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** How often things happened, in one run or in many. */
public final class Tally {
  /** What is counted, by the line of the summary that it stands in. */
  public enum Count {
    SEEDS(Line.RUN, "seeds"),
    SEEDS_WITH_SSD(Line.RUN, "of them with an SSD tier"),
    STEPS(Line.RUN, "steps"),
    FACTS(Line.RUN, "facts"),
    EPOCHS(Line.RESTARTS, "starts of a process"),
    KILLS(Line.RESTARTS, "kills"),
    STOPS(Line.RESTARTS, "orderly ends"),
    REQUESTS(Line.REQUESTS, "sent"),
    REFUSALS(Line.REQUESTS, "refused"),
    WAITS(Line.REQUESTS, "pending for a while"),
    VANISHED(Line.REQUESTS, "clients vanished with what they had sent"),
    COPIES(Line.COPIES, "copies"),
    COPY_FAULTS(Line.COPIES, "over pages that fail"),
    POOL_FLIPS(Line.COPIES, "bits of the pool flipped"),
    READS(Line.DISK, "reads"),
    WRITES(Line.DISK, "writes"),
    WRITTEN_BLOCKS(Line.DISK, "blocks written"),
    SKIPPED_BLOCKS(Line.DISK, "left without"),
    EVICTED_BLOCKS(Line.DISK, "evicted from SSD"),
    READ_BLOCKS(Line.DISK, "read back"),
    OUTLIVED_BLOCKS(Line.DISK, "of them written before a restart"),
    SHORT(Line.FAULTS, "short"),
    FAILED(Line.FAULTS, "failed"),
    TORN(Line.FAULTS, "failed with some sectors moved"),
    LOST_SECTORS(Line.FAULTS, "ended well with sectors not written"),
    NO_ROOM(Line.FAULTS, "without room"),
    CUT_OFF(Line.FAULTS, "writes cut off by the end of a process"),
    HANGS(Line.FAULTS, "times the disk hung"),
    DISK_FLIPS(Line.FAULTS, "bits flipped"),
    READS_FAILED(Line.FAULTS, "blocks not read back"),
    DEGRADED(Line.FAULTS, "times the tier was degraded");

    private final Line line;
    private final String text;

    Count(Line line, String text) {
      this.line = line;
      this.text = text;
    }
  }

  private enum Line {
    RUN,
    RESTARTS,
    REQUESTS,
    COPIES,
    DISK,
    FAULTS;

    String label() {
      return this == FAULTS ? "disk faults" : name().toLowerCase(Locale.ROOT);
    }
  }

  private final Map<Count, Long> counts = new EnumMap<>(Count.class);

  void add(Count what) {
    add(what, 1);
  }

  void add(Count what, long times) {
    counts.merge(what, times, Long::sum);
  }

  /** How often it happened. */
  public long of(Count what) {
    return counts.getOrDefault(what, 0L);
  }

  /** Some lines for people. */
  public String text() {
    return Arrays.stream(Line.values())
        .map(line -> "  %-12s %s%n".formatted(line.label(), text(line)))
        .collect(Collectors.joining());
  }

  private String text(Line line) {
    return Arrays.stream(Count.values())
        .filter(count -> count.line == line)
        .map(count -> "%,d %s".formatted(of(count), count.text))
        .collect(Collectors.joining(", "));
  }
}
