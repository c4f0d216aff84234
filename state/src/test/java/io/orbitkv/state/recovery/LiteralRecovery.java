package io.orbitkv.state.recovery;

import io.orbitkv.state.identity.GroupSpec;
import io.orbitkv.state.identity.RecoveryRule;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * The recovery rules as they read, one token at a time and without any arithmetic on pages. It
 * shares nothing with {@link RecoveryContract} but the declarations.
 */
final class LiteralRecovery {

  private final List<GroupSpec> groups;

  LiteralRecovery(List<GroupSpec> groups) {
    this.groups = new ArrayList<>(groups);
    Collections.sort(this.groups, (a, b) -> a.groupId() - b.groupId());
  }

  /** A position is a boundary when no group has a page with tokens on both sides of it. */
  boolean isBoundary(int position) {
    for (GroupSpec group : groups) {
      if (position > 0 && samePage(group, position - 1, position)) {
        return false;
      }
    }
    return true;
  }

  /** Every token of the tail that the group must supply to resume at {@code boundary}. */
  Set<Integer> needed(GroupSpec group, int start, int boundary) {
    Set<Integer> needed = new TreeSet<>();
    for (int token = start; token < boundary; token++) {
      if (isNeeded(group, token, boundary)) {
        needed.add(token);
      }
    }
    return needed;
  }

  /** Every boundary in {@code (start, end]} of which each group holds every needed token. */
  List<Integer> restorable(int start, int end, Set<HeldToken> held) {
    List<Integer> legal = new ArrayList<>();
    for (int boundary = start + 1; boundary <= end; boundary++) {
      if (isBoundary(boundary) && isHeld(start, boundary, held)) {
        legal.add(boundary);
      }
    }
    return legal;
  }

  private boolean isHeld(int start, int boundary, Set<HeldToken> held) {
    for (GroupSpec group : groups) {
      for (int token : needed(group, start, boundary)) {
        if (!held.contains(new HeldToken(group.groupId(), token))) {
          return false;
        }
      }
    }
    return true;
  }

  private static boolean isNeeded(GroupSpec group, int token, int boundary) {
    return switch (group.rule()) {
      case RecoveryRule.Prefix _ -> true;
      case RecoveryRule.Checkpoint _ -> samePage(group, token, boundary - 1);
      case RecoveryRule.Window(int tokens) -> {
        for (int back = 1; back <= tokens && boundary - back >= 0; back++) {
          if (samePage(group, token, boundary - back)) {
            yield true;
          }
        }
        yield false;
      }
    };
  }

  private static boolean samePage(GroupSpec group, int a, int b) {
    return a / group.pageTokens() == b / group.pageTokens();
  }

  /** One token's state of one group, held under lease in the namespace that is asked for. */
  record HeldToken(int groupId, int token) {}
}
