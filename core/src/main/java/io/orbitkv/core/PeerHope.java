package io.orbitkv.core;

import io.orbitkv.core.remote.PeerRun;
import io.orbitkv.core.remote.RemoteCandidate;
import io.orbitkv.core.remote.RemoteLookup;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Who may have what a ticket lacks, as one lookup said. A candidate that turned out wrong is left
 * out for this ticket only.
 */
final class PeerHope {
  /** Plans that are made of one lookup; each leaves out what failed before. */
  private static final int MAX_PLANS = 3;

  /** The place of a key in the query. */
  record Page(int group, int ordinal) {}

  private record Wrong(Page page, PeerRun owner) {}

  private final RemoteLookup lookup;
  private final List<Page> pages;
  private final Map<Page, Integer> keyOfPage = new HashMap<>();
  private final Set<Wrong> wrong = new HashSet<>();
  private int plans;

  /**
   * @param pages the place of each key of the lookup
   */
  PeerHope(RemoteLookup lookup, List<Page> pages) {
    this.lookup = lookup;
    this.pages = pages;
    for (int key = 0; key < pages.size(); key++) {
      keyOfPage.put(pages.get(key), key);
    }
  }

  /** Whether one more plan may be made. */
  boolean mayPlan() {
    return plans++ < MAX_PLANS;
  }

  List<Page> pages() {
    return pages;
  }

  /** How many keys each owner may have. */
  Map<PeerRun, Integer> owners() {
    Map<PeerRun, Integer> counts = new HashMap<>();
    for (int key = 0; key < pages.size(); key++) {
      Set<PeerRun> seen = new HashSet<>();
      for (RemoteCandidate each : lookup.candidates(key)) {
        if (!wrong.contains(new Wrong(pages.get(key), each.owner())) && seen.add(each.owner())) {
          counts.merge(each.owner(), 1, Integer::sum);
        }
      }
    }
    return counts;
  }

  /**
   * The candidate whose owner has the most of all, the first of equal ones; null if none is left.
   */
  @Nullable RemoteCandidate best(Page page, Map<PeerRun, Integer> owners) {
    Integer key = keyOfPage.get(page);
    RemoteCandidate best = null;
    int most = 0;
    for (RemoteCandidate each : key == null ? List.<RemoteCandidate>of() : lookup.candidates(key)) {
      int count = owners.getOrDefault(each.owner(), 0);
      if (count > most && !wrong.contains(new Wrong(page, each.owner()))) {
        best = each;
        most = count;
      }
    }
    return best;
  }

  /** The owner did not give the key. */
  void wrong(Page page, PeerRun owner) {
    wrong.add(new Wrong(page, owner));
  }
}
