package io.orbitkv.core;

import io.orbitkv.core.Command.Query;
import io.orbitkv.state.HostState;
import io.orbitkv.state.Keys;
import io.orbitkv.state.LongRanges;
import io.orbitkv.state.identity.Namespace;
import io.orbitkv.state.identity.RecoveryRule;
import io.orbitkv.state.recovery.BoundarySet;
import io.orbitkv.state.recovery.Evidence;
import io.orbitkv.state.recovery.GroupRange;
import io.orbitkv.state.recovery.RecoveryDemand;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;

/**
 * What one query found: the slot of each asked page. It is scratch of the loop, filled anew for
 * each query, so that a hit of 2,048 blocks allocates no more than its answer.
 *
 * <p>Groups that need their whole tail are looked up first and only as far as they reach; no
 * boundary lies beyond them, so the others are looked up no further either.
 */
final class QueryEvidence implements Evidence {
  private static final int[] NONE = {};

  private final HostState state;
  private LiveNamespace namespace;
  private List<Command.GroupKeys> groups = List.of();
  private int startToken;
  private int endToken;
  private Reach reach = Reach.IN_DRAM;

  /** Which blocks a boundary may rest on; each includes those before it. */
  enum Reach {
    /** Sealed ones that can be leased now. */
    IN_DRAM,
    /** Those on SSD as well. */
    STORED,
    /** Those that are being published, or await their verification, as well. */
    COMING
  }

  /** Slot of each page from the start token on: reserved or sealed, -1 if there is none. */
  private int[][] slots = {};

  /** Pages looked up, and the sealed ones among them. */
  private int[] looked = NONE;

  private int[] found = NONE;

  /** Of a group that needs its whole tail, the leading pages found sealed in DRAM. */
  private int[] runs = NONE;

  QueryEvidence(HostState state, LiveNamespace namespace) {
    this.state = state;
    this.namespace = namespace;
  }

  /**
   * Looks the keys of a query up.
   *
   * @param furthest how far pages are looked for
   */
  void look(LiveNamespace in, Query query, Reach furthest) {
    namespace = in;
    groups = query.groups();
    startToken = query.startToken();
    ensure(groups.size());
    endToken = askedEnd(query);
    int end = endToken;
    for (int g = 0; g < groups.size(); g++) {
      if (isPrefix(g)) {
        lookPrefix(g, (end - startToken) / pageTokens(g), furthest);
        end = Math.min(end, startToken + looked[g] * pageTokens(g));
      }
    }
    for (int g = 0; g < groups.size(); g++) {
      if (!isPrefix(g)) {
        lookEach(g, (end - startToken) / pageTokens(g));
      }
    }
  }

  /** The last boundary for which every group gave keys. */
  private int askedEnd(Query query) {
    long end = query.limitToken() == 0 ? Integer.MAX_VALUE : query.limitToken();
    for (int g = 0; g < groups.size(); g++) {
      end = Math.min(end, startToken + (long) groups.get(g).keys().size() * pageTokens(g));
    }
    return Math.max(startToken, namespace.contract.alignDown((int) end));
  }

  private void lookPrefix(int g, int pages, Reach furthest) {
    Keys keys = groups.get(g).keys();
    int groupId = groups.get(g).groupId();
    int[] row = row(g, Math.max(pages, keys.size()));
    int run = state.findPrefix(namespace.id, groupId, keys, 0, row);
    found[g] = run;
    runs[g] = Math.min(run, pages);
    int end = Math.min(run, pages);
    if (furthest != Reach.IN_DRAM) {
      for (; end < pages; end++) {
        row[end] = slotOfKey(g, end);
        if (row[end] < 0 || !counts(row[end], furthest)) {
          break;
        }
        found[g] += found[g] == end && state.stored(row[end]) ? 1 : 0;
      }
    }
    looked[g] = end;
  }

  private boolean counts(int slot, Reach within) {
    return switch (within) {
      case IN_DRAM -> state.sealed(slot);
      case STORED -> state.stored(slot);
      case COMING -> true;
    };
  }

  private void lookEach(int g, int pages) {
    int[] row = row(g, pages);
    found[g] = 0;
    for (int page = 0; page < pages; page++) {
      row[page] = slotOfKey(g, page);
      if (row[page] >= 0 && state.stored(row[page])) {
        found[g]++;
      }
    }
    looked[g] = pages;
  }

  private int slotOfKey(int g, int page) {
    Keys keys = groups.get(g).keys();
    return state.findSlot(
        namespace.id, groups.get(g).groupId(), keys.packed(), keys.offset(page), keys.keyBytes());
  }

  /** Every legal boundary on the pages within reach. */
  BoundarySet boundaries(Reach within) {
    reach = within;
    return namespace
        .contract
        .restorableBoundaries(namespace.name, startToken, endToken, this)
        .orElseThrow();
  }

  /** What a boundary needs of each group. */
  RecoveryDemand demand(int boundaryToken) {
    return namespace
        .contract
        .requiredRanges(namespace.name, startToken, boundaryToken)
        .orElseThrow();
  }

  @Override
  public Namespace namespace() {
    return namespace.name;
  }

  @Override
  public boolean covers(int g, int page) {
    int ordinal = page - startToken / pageTokens(g);
    if (ordinal < 0 || ordinal >= looked[g]) {
      return false;
    }
    int slot = slots[g][ordinal];
    return slot >= 0 && counts(slot, reach);
  }

  @Override
  public int nextHole(int g, int fromPage, int endPage) {
    int page = fromPage;
    int first = startToken / pageTokens(g);
    if (isPrefix(g) && page >= first) {
      // What counts in DRAM counts everywhere, so the search has passed this run already.
      page = Math.max(page, Math.min(endPage, first + runs[g]));
    }
    while (page < endPage && covers(g, page)) {
      page++;
    }
    return page;
  }

  int groupCount() {
    return groups.size();
  }

  int groupId(int g) {
    return groups.get(g).groupId();
  }

  Keys keys(int g) {
    return groups.get(g).keys();
  }

  /** The last boundary that was asked about. */
  int endToken() {
    return endToken;
  }

  int startToken() {
    return startToken;
  }

  /**
   * Keys of each group that were found sealed; of a group that needs its whole tail the leading
   * ones.
   */
  int[] foundBlocks() {
    return Arrays.copyOf(found, groups.size());
  }

  /** Place in the group's keys of the page that starts at {@code token}. */
  int ordinal(int g, int token) {
    return (token - startToken) / pageTokens(g);
  }

  int pages(int g, GroupRange range) {
    return (range.end() - range.start()) / pageTokens(g);
  }

  int slot(int g, int ordinal) {
    return slots[g][ordinal];
  }

  /**
   * Whether the page's block is sealed, wherever it lies, looking it up if the search never came so
   * far.
   */
  boolean sealedPage(int g, int ordinal) {
    int slot = ordinal < looked[g] ? slots[g][ordinal] : slotOfKey(g, ordinal);
    return slot >= 0 && state.sealed(slot);
  }

  /** The blocks of a range whose every page was found. */
  LongRanges blocks(int g, GroupRange range) {
    LongRanges.Builder ids = new LongRanges.Builder();
    int to = ordinal(g, range.end());
    for (int ordinal = ordinal(g, range.start()); ordinal < to; ordinal++) {
      ids.add(state.blockId(slots[g][ordinal]));
    }
    return ids.build();
  }

  /** Whether there is a block for the page, looking it up if the search never came so far. */
  boolean findablePage(int g, int ordinal) {
    return (ordinal < looked[g] ? slots[g][ordinal] : slotOfKey(g, ordinal)) >= 0;
  }

  /**
   * Every legal boundary if this host had some pages more.
   *
   * @param offered for each group the places of those pages
   */
  BoundarySet boundariesWith(BitSet[] offered) {
    Evidence more =
        new Evidence() {
          @Override
          public Namespace namespace() {
            return namespace.name;
          }

          @Override
          public boolean covers(int g, int page) {
            int ordinal = page - startToken / pageTokens(g);
            return ordinal >= 0
                && ordinal < groups.get(g).keys().size()
                && (offered[g].get(ordinal) || findablePage(g, ordinal));
          }
        };
    return namespace
        .contract
        .restorableBoundaries(namespace.name, startToken, endToken, more)
        .orElseThrow();
  }

  private boolean isPrefix(int g) {
    return namespace.group(g).rule() instanceof RecoveryRule.Prefix;
  }

  private int pageTokens(int g) {
    return namespace.contract.pageTokens(g);
  }

  private void ensure(int groupCount) {
    if (slots.length < groupCount) {
      int old = slots.length;
      slots = Arrays.copyOf(slots, groupCount);
      Arrays.fill(slots, old, groupCount, NONE);
      looked = new int[groupCount];
      found = new int[groupCount];
      runs = new int[groupCount];
    }
  }

  private int[] row(int g, int pages) {
    if (slots[g].length < pages) {
      slots[g] = new int[Math.max(64, pages + pages / 2)];
    }
    return slots[g];
  }
}
