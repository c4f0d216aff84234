package io.orbitkv.state.recovery;

import io.orbitkv.state.identity.Checked;
import io.orbitkv.state.identity.GroupSpec;
import io.orbitkv.state.identity.InvalidField;
import io.orbitkv.state.identity.Namespace;
import io.orbitkv.state.identity.RecoveryRule;
import io.orbitkv.state.identity.TokenSpan;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The recovery rules of one model, compiled once at registration.
 *
 * <p>An engine holds a valid prefix of {@code start} tokens in its own memory and would like to
 * resume at a later boundary. Each rule asks for pages at the end of the tail {@code [start,
 * boundary)}, so all three normalize to one number for each group, the trailing pages, capped by
 * the tail:
 *
 * <pre>
 *   prefix       all of them
 *   window       ceil(tokens / page)
 *   checkpoint   1
 *
 *   64-token pages, start 128, boundary 512          128  192  256  320  384  448  512
 *                                                     |----|----|----|----|----|----|
 *   prefix                             (g,128,512)    ##############################
 *   window of 100 tokens               (g,384,512)                         ##########
 *   checkpoint                         (g,448,512)                              #####
 * </pre>
 *
 * <p>Groups may have different pages. A boundary is legal only where pages of all groups end, at a
 * multiple of {@link #alignmentTokens()}, the least common multiple of the pages: anywhere else
 * some group would resume inside a block. The engine's start is a boundary that was reached before,
 * so it is aligned too, and a start or end that is not aligned is refused, not rounded; {@link
 * #alignDown} rounds for a caller that wants that.
 *
 * <p>Finding pages promises nothing. Whoever selects a boundary holds a lease on every page of its
 * demand first, and {@link #isCovered} checks that with the same rules.
 */
public final class RecoveryContract {

  /** Room for boundaries from the start; a longer tail of many grows. */
  private static final int FIRST_BOUNDARIES = 32_768;

  private static final int ALL_PAGES = Integer.MAX_VALUE;

  private final List<GroupSpec> groups;
  private final int alignmentTokens;
  private final int[] pageTokens;
  private final int[] trailingPages;
  private final boolean allNeedAllPages;

  private RecoveryContract(List<GroupSpec> groups) {
    this.groups = groups;
    this.alignmentTokens = GroupSpec.alignmentTokens(groups);
    this.pageTokens = groups.stream().mapToInt(GroupSpec::pageTokens).toArray();
    this.trailingPages = groups.stream().mapToInt(RecoveryContract::trailingPages).toArray();
    this.allNeedAllPages = Arrays.stream(trailingPages).allMatch(pages -> pages == ALL_PAGES);
  }

  /**
   * Compiles a model's groups. A refusal names the first bad group by its place in {@code groups}:
   * no or too many groups, an id that is out of range or declared twice, a page or window of no
   * tokens, a checkpoint of a component that has none, or pages with no usable common multiple.
   */
  public static Checked<RecoveryContract> compile(List<GroupSpec> groups) {
    Optional<InvalidField> problem = GroupSpec.firstProblem(groups);
    if (problem.isPresent()) {
      return new Checked.Invalid<>(problem.get());
    }
    List<GroupSpec> ordered =
        groups.stream().sorted(Comparator.comparingInt(GroupSpec::groupId)).toList();
    return new Checked.Valid<>(new RecoveryContract(ordered));
  }

  /** The groups in ascending order of their id. A group's index is its place in this list. */
  public List<GroupSpec> groups() {
    return groups;
  }

  /** The index of a group; negative when it is not declared. */
  public int indexOf(int groupId) {
    for (int i = 0; i < groups.size(); i++) {
      if (groups.get(i).groupId() == groupId) {
        return i;
      }
    }
    return -1;
  }

  /** The tokens in one page of a group. */
  public int pageTokens(int groupIndex) {
    return pageTokens[groupIndex];
  }

  /** Every boundary is a multiple of this many tokens. */
  public int alignmentTokens() {
    return alignmentTokens;
  }

  /** The last possible boundary at or before {@code tokens}, which is at least 0. */
  public int alignDown(int tokens) {
    return tokens - tokens % alignmentTokens;
  }

  /**
   * What must be restored to resume at {@code end} from a valid prefix up to {@code start}: for
   * each group one absolute range that ends at {@code end}. An empty tail needs {@code
   * (group,start,start)} of each group.
   *
   * <p>Refused when the span is out of range or either end is not aligned.
   */
  public Checked<RecoveryDemand> requiredRanges(Namespace namespace, long start, long end) {
    InvalidField problem = checkTail(start, end);
    return problem == null
        ? new Checked.Valid<>(demand(namespace, (int) start, (int) end))
        : new Checked.Invalid<>(problem);
  }

  /**
   * Every boundary in {@code (start, end]} whose demand the evidence covers, ascending. Empty for
   * an empty tail and for evidence of another namespace. Refused as in {@link #requiredRanges}.
   *
   * <p>Reads each page of the tail at most once, and stops at the first hole of a prefix group.
   */
  public Checked<BoundarySet> restorableBoundaries(
      Namespace namespace, long start, long end, Evidence evidence) {
    InvalidField problem = checkTail(start, end);
    if (problem != null) {
      return new Checked.Invalid<>(problem);
    }
    if (!evidence.namespace().equals(namespace)) {
      return new Checked.Valid<>(BoundarySet.empty());
    }
    return new Checked.Valid<>(scan((int) start, (int) end, evidence));
  }

  /** Whether the evidence covers the whole demand, which this contract made. */
  public boolean isCovered(RecoveryDemand demand, Evidence evidence) {
    if (!evidence.namespace().equals(demand.namespace())) {
      return false;
    }
    for (int g = 0; g < pageTokens.length; g++) {
      GroupRange range = demand.ranges().get(g);
      int endPage = range.end() / pageTokens[g];
      if (evidence.nextHole(g, range.start() / pageTokens[g], endPage) < endPage) {
        return false;
      }
    }
    return true;
  }

  private RecoveryDemand demand(Namespace namespace, int start, int end) {
    List<GroupRange> ranges = new ArrayList<>(pageTokens.length);
    for (int g = 0; g < pageTokens.length; g++) {
      int page = pageTokens[g];
      int from = firstPage(trailingPages[g], start / page, end / page) * page;
      ranges.add(new GroupRange(groups.get(g).groupId(), from, end));
    }
    return new RecoveryDemand(namespace, new TokenSpan(start, end), ranges);
  }

  private BoundarySet scan(int start, int end, Evidence evidence) {
    Cursor[] cursors = new Cursor[pageTokens.length];
    for (int g = 0; g < cursors.length; g++) {
      cursors[g] = new Cursor(evidence, g, start / pageTokens[g], end / pageTokens[g]);
    }
    int most = (end - start) / alignmentTokens;
    for (Cursor cursor : cursors) {
      most = Math.min(most, cursor.mostBoundaries());
    }
    if (allNeedAllPages) {
      return BoundarySet.steps(start + alignmentTokens, alignmentTokens, most);
    }
    int[] boundaries = new int[Math.min(most, FIRST_BOUNDARIES)];
    int size = 0;
    for (int boundary = start + alignmentTokens; boundary <= end; boundary += alignmentTokens) {
      boolean legal = true;
      for (Cursor cursor : cursors) {
        if (!cursor.advance()) {
          legal = false;
          if (cursor.needsAllPages()) {
            return BoundarySet.ofTrusted(boundaries, size);
          }
        }
      }
      if (legal) {
        if (size == boundaries.length) {
          boundaries = Arrays.copyOf(boundaries, size * 2);
        }
        boundaries[size++] = boundary;
      }
    }
    return BoundarySet.ofTrusted(boundaries, size);
  }

  /** One group's walk along the tail, from boundary to boundary. */
  private final class Cursor {
    private final Evidence evidence;
    private final int groupIndex;
    private final int startPage;
    private final int lastPage;
    private final int pagesPerStep;
    private final int trailing;

    /** The page at which the boundary stands. */
    private int endPage;

    /** The first page of the run of held pages that ends at {@code endPage}. */
    private int runStart;

    /** The first hole at or after {@code endPage}, or the end of the tail. */
    private int hole;

    Cursor(Evidence evidence, int groupIndex, int startPage, int lastPage) {
      this.evidence = evidence;
      this.groupIndex = groupIndex;
      this.startPage = startPage;
      this.lastPage = lastPage;
      this.pagesPerStep = alignmentTokens / pageTokens[groupIndex];
      this.trailing = trailingPages[groupIndex];
      this.endPage = startPage;
      this.runStart = startPage;
      this.hole = evidence.nextHole(groupIndex, startPage, lastPage);
    }

    /** Moves to the next boundary; says whether the group holds what it needs there. */
    boolean advance() {
      endPage += pagesPerStep;
      while (hole < endPage) {
        runStart = hole + 1;
        hole = evidence.nextHole(groupIndex, runStart, lastPage);
      }
      return runStart <= firstPage(trailing, startPage, endPage);
    }

    /** No boundary lies beyond the first hole of a group that needs all its pages. */
    int mostBoundaries() {
      int pages = needsAllPages() ? hole : lastPage;
      return (pages - startPage) / pagesPerStep;
    }

    boolean needsAllPages() {
      return trailing == ALL_PAGES;
    }
  }

  /** The first page needed of a tail {@code [startPage, endPage)}. */
  private static int firstPage(int trailingPages, int startPage, int endPage) {
    return Math.max(startPage, endPage - trailingPages);
  }

  private @Nullable InvalidField checkTail(long start, long end) {
    Optional<InvalidField> problem = TokenSpan.of(start, end).refusal();
    if (problem.isPresent()) {
      return problem.get();
    }
    if (start % alignmentTokens != 0) {
      return unaligned("start", start);
    }
    return end % alignmentTokens != 0 ? unaligned("end", end) : null;
  }

  private InvalidField unaligned(String field, long value) {
    return InvalidField.of(
        field,
        value,
        "not where pages of all groups end",
        "give a multiple of " + alignmentTokens + " tokens");
  }

  private static int trailingPages(GroupSpec group) {
    return switch (group.rule()) {
      case RecoveryRule.Prefix _ -> ALL_PAGES;
      case RecoveryRule.Window(int tokens) -> Math.ceilDiv(tokens, group.pageTokens());
      case RecoveryRule.Checkpoint _ -> 1;
    };
  }
}
