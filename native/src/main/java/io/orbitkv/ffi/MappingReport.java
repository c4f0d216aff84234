package io.orbitkv.ffi;

import java.util.List;

/**
 * What a {@link Mapping} was granted.
 *
 * @param bytes its size as asked
 * @param pages what backs it
 * @param hugeBytes how much of it huge pages back now; for transparent pages a measurement at the
 *     time of mapping
 * @param populated whether every page was present when it was returned
 * @param locked whether its pages stay out of swap
 * @param numaNode the node it is bound to, or {@link MapOptions#ANY_NODE}
 * @param shortfalls what was asked and not granted, and why
 */
public record MappingReport(
    long bytes,
    Pages pages,
    long hugeBytes,
    boolean populated,
    boolean locked,
    int numaNode,
    List<Shortfall> shortfalls) {

  /** What backs a mapping. */
  public enum Pages {
    /** Reserved 2 MiB pages. */
    HUGE("2 MiB huge pages"),
    /** Ordinary pages that the kernel may join into 2 MiB ones. */
    TRANSPARENT("transparent huge pages"),
    ORDINARY("ordinary pages");

    private final String text;

    Pages(String text) {
      this.text = text;
    }

    @Override
    public String toString() {
      return text;
    }
  }

  /** Copies the list. */
  public MappingReport {
    shortfalls = List.copyOf(shortfalls);
  }

  /** One line on what was granted, then one for each shortfall. */
  public String describe() {
    StringBuilder text = new StringBuilder();
    text.append(bytes).append(" bytes in ").append(pages);
    if (pages == Pages.TRANSPARENT) {
      text.append(" (").append(hugeBytes).append(" bytes so far)");
    }
    text.append(populated ? ", populated" : ", populated on use");
    text.append(locked ? ", locked" : ", not locked");
    if (numaNode != MapOptions.ANY_NODE) {
      text.append(", on NUMA node ").append(numaNode);
    }
    for (Shortfall shortfall : shortfalls) {
      text.append('\n').append(shortfall);
    }
    return text.toString();
  }
}
