package io.orbitkv.manager.endpoint;

import io.orbitkv.client.wire.IntRun;
import io.orbitkv.client.wire.QueryAnswer;
import io.orbitkv.client.wire.Refusal;
import io.orbitkv.client.wire.RefusalCode;
import io.orbitkv.core.Reply;
import io.orbitkv.state.recovery.BoundarySet;
import io.orbitkv.state.recovery.GroupRange;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** The loop's answers in the words of the wire. */
final class WireAnswers {
  private static final Map<io.orbitkv.core.RefusalCode, RefusalCode> CODES =
      new EnumMap<>(io.orbitkv.core.RefusalCode.class);

  static {
    for (io.orbitkv.core.RefusalCode code : io.orbitkv.core.RefusalCode.values()) {
      CODES.put(code, RefusalCode.valueOf(code.name()));
    }
  }

  private WireAnswers() {}

  /** The loop's code on the wire; every one has the same name there. */
  static RefusalCode code(io.orbitkv.core.RefusalCode code) {
    RefusalCode wire = CODES.get(code);
    if (wire == null) {
      throw new IllegalStateException(code + " has no number on the wire");
    }
    return wire;
  }

  static Refusal refusal(Reply.Refused refused) {
    RefusalCode code = code(refused.code());
    String field = refused.field();
    Refusal refusal =
        field == null
            ? Refusal.of(code, refused.message())
            : Refusal.ofField(code, field, refused.message());
    return refusal
        .withText(refused.message(), refused.remedy())
        .withRetry((int) Math.min(Integer.MAX_VALUE, refused.retryAfterMillis()));
  }

  static Refusal failure(Reply.Failed failed) {
    return Refusal.of(code(failed.code()), failed.message());
  }

  /**
   * @param leaseMillis the lease's life from now
   */
  static QueryAnswer answer(Reply.Ready ready, int leaseMillis) {
    return new QueryAnswer(
        ready.leaseId(),
        leaseMillis,
        ready.startToken(),
        ready.boundaryToken(),
        groups(ready.ranges(), ready.foundBlocks()),
        boundaries(ready.boundaries()));
  }

  static QueryAnswer answer(Reply.Discovered found) {
    return new QueryAnswer(
        0,
        0,
        found.startToken(),
        found.boundaries().last().orElse(found.startToken()),
        groups(found.ranges(), found.foundBlocks()),
        boundaries(found.boundaries()));
  }

  /**
   * @param groupIds the registered groups, ascending
   */
  static QueryAnswer answer(Reply.Missed missed, int[] groupIds) {
    int start = missed.startToken();
    List<QueryAnswer.GroupRange> groups = new ArrayList<>(groupIds.length);
    for (int i = 0; i < groupIds.length; i++) {
      groups.add(new QueryAnswer.GroupRange(groupIds[i], start, start, missed.foundBlocks()[i]));
    }
    return new QueryAnswer(0, 0, start, start, groups, IntRun.EMPTY);
  }

  private static List<QueryAnswer.GroupRange> groups(List<GroupRange> ranges, int[] found) {
    List<QueryAnswer.GroupRange> groups = new ArrayList<>(found.length);
    for (int i = 0; i < found.length; i++) {
      GroupRange range = ranges.get(i);
      groups.add(new QueryAnswer.GroupRange(range.groupId(), range.start(), range.end(), found[i]));
    }
    return groups;
  }

  private static IntRun boundaries(BoundarySet boundaries) {
    int[] packed = boundaries.packed();
    if (packed != null) {
      return IntRun.owning(packed);
    }
    int count = boundaries.size();
    int first = count == 0 ? 0 : boundaries.get(0);
    return IntRun.steps(first, count < 2 ? 0 : boundaries.get(1) - first, count);
  }
}
