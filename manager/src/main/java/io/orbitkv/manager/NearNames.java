package io.orbitkv.manager;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;

/** The names most like one that was not found, for "did you mean". It keeps only the best few. */
public final class NearNames {
  /** Names further off than this are no help. */
  private static final int MAX_EDITS = 3;

  private record Near(int edits, String name) {}

  private final String wanted;
  private final int most;
  private final List<Near> best = new ArrayList<>();
  private final int[] row;
  private final int[] next;

  public NearNames(String wanted, int most) {
    this.wanted = wanted.toLowerCase(Locale.ROOT);
    this.most = most;
    this.row = new int[wanted.length() + 1];
    this.next = new int[wanted.length() + 1];
  }

  /** The nearest of some names. */
  public static List<String> of(String wanted, Collection<String> names, int most) {
    NearNames near = new NearNames(wanted, most);
    names.forEach(near::offer);
    return near.best();
  }

  /** Looks at one more name. */
  public void offer(String name) {
    int worst = best.size() < most ? MAX_EDITS : best.getLast().edits - 1;
    if (worst < 0 || name.isEmpty()) {
      return;
    }
    String lower = name.toLowerCase(Locale.ROOT);
    boolean part = wanted.length() > 2 && (lower.contains(wanted) || wanted.contains(lower));
    int edits = part ? 1 : edits(lower, worst);
    if (edits <= worst && best.stream().noneMatch(near -> near.name.equals(name))) {
      best.add(new Near(edits, name));
      best.sort(Comparator.comparingInt(Near::edits).thenComparing(Near::name));
      if (best.size() > most) {
        best.removeLast();
      }
    }
  }

  /** The nearest so far, best first. */
  public List<String> best() {
    return best.stream().map(Near::name).toList();
  }

  /** Edits between the names, or more than {@code limit} when there are more. */
  private int edits(String name, int limit) {
    if (Math.abs(name.length() - wanted.length()) > limit) {
      return limit + 1;
    }
    for (int j = 0; j < row.length; j++) {
      row[j] = j;
    }
    for (int i = 1; i <= name.length(); i++) {
      next[0] = i;
      int least = i;
      for (int j = 1; j < row.length; j++) {
        int change = row[j - 1] + (name.charAt(i - 1) == wanted.charAt(j - 1) ? 0 : 1);
        next[j] = Math.min(change, Math.min(row[j], next[j - 1]) + 1);
        least = Math.min(least, next[j]);
      }
      if (least > limit) {
        return limit + 1;
      }
      System.arraycopy(next, 0, row, 0, row.length);
    }
    return row[row.length - 1];
  }
}
