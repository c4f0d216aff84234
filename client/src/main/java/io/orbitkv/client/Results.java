package io.orbitkv.client;

import io.orbitkv.client.wire.Decoded;
import io.orbitkv.client.wire.IntRun;
import io.orbitkv.client.wire.PublishReply;
import io.orbitkv.client.wire.QueryAnswer;
import io.orbitkv.client.wire.Refusal;
import io.orbitkv.client.wire.RefusalCode;
import io.orbitkv.client.wire.RefusalText;
import io.orbitkv.client.wire.Status;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Turns completions into results. */
final class Results {
  private static final QueryAnswer NOTHING = new QueryAnswer(0, 0, 0, 0, List.of(), IntRun.EMPTY);

  private Results() {}

  /** Why a request was refused or failed; null if it was neither. */
  static @Nullable Refusal refusal(Pending pending) {
    Refusal lost = pending.lost;
    if (lost != null) {
      return lost;
    }
    return pending.status == Status.REFUSED || pending.status == Status.FAILED
        ? reason(pending)
        : null;
  }

  static QueryResult query(LiveSession session, Pending pending) {
    Refusal refusal = refusal(pending);
    if (refusal != null) {
      return new QueryResult.Refused(refusal);
    }
    return switch (pending.status) {
      case READY -> ready(session, pending);
      case LOADING -> new QueryResult.Loading(new Ticket(session, pending, pending.handle));
      case MISS -> {
        QueryAnswer answer = NOTHING;
        if (QueryAnswer.decode(pending.reply) instanceof Decoded.Good<QueryAnswer>(QueryAnswer a)) {
          answer = a;
        }
        yield new QueryResult.Miss(answer, pending.code);
      }
      case CANCELLED -> new QueryResult.Cancelled(pending.code);
      case OK, REFUSED, FAILED -> new QueryResult.Refused(unexpected(pending));
    };
  }

  static PrepareResult prepare(Pending pending) {
    Refusal refusal = refusal(pending);
    if (refusal != null) {
      return new PrepareResult.Refused(refusal);
    }
    return switch (pending.status) {
      case OK ->
          new PrepareResult.Prepared(
              (int) pending.value, pending.code == RefusalCode.TICKET_EXPIRED.number());
      case CANCELLED -> new PrepareResult.Cancelled();
      case READY, LOADING, MISS, REFUSED, FAILED -> new PrepareResult.Refused(unexpected(pending));
    };
  }

  static PublishResult publish(Pending pending) {
    Refusal refusal = refusal(pending);
    if (refusal != null) {
      return pending.lost == null && pending.status == Status.REFUSED
          ? new PublishResult.Refused(refusal)
          : failedOrRefused(pending, refusal);
    }
    if (pending.status == Status.CANCELLED) {
      return new PublishResult.Cancelled();
    }
    if (pending.status != Status.OK) {
      return new PublishResult.Failed(unexpected(pending));
    }
    return switch (PublishReply.decode(pending.reply)) {
      case Decoded.Bad<PublishReply>(Refusal bad) -> new PublishResult.Failed(bad);
      case Decoded.Good<PublishReply>(PublishReply reply) ->
          new PublishResult.Published(
              reply, pending.value, pending.code == 0 ? null : reason(pending));
    };
  }

  static RestoreResult restore(Pending pending) {
    Refusal refusal = refusal(pending);
    if (refusal != null) {
      boolean untouched =
          pending.requestId == 0 || (pending.lost == null && pending.status == Status.REFUSED);
      return untouched ? new RestoreResult.Refused(refusal) : new RestoreResult.Failed(refusal);
    }
    return switch (pending.status) {
      case OK -> new RestoreResult.Restored(pending.value);
      case CANCELLED -> new RestoreResult.Cancelled();
      case READY, LOADING, MISS, REFUSED, FAILED -> new RestoreResult.Failed(unexpected(pending));
    };
  }

  /** The answer of an operation that gives one number. */
  static Answer<Long> value(Pending pending) {
    Refusal refusal = refusal(pending);
    if (refusal != null) {
      return Answer.refused(refusal);
    }
    return pending.status == Status.OK
        ? Answer.ok(pending.value)
        : Answer.refused(unexpected(pending));
  }

  private static PublishResult failedOrRefused(Pending pending, Refusal refusal) {
    return pending.requestId == 0
        ? new PublishResult.Refused(refusal)
        : new PublishResult.Failed(refusal);
  }

  private static QueryResult ready(LiveSession session, Pending pending) {
    return switch (QueryAnswer.decode(pending.reply)) {
      case Decoded.Bad<QueryAnswer>(Refusal bad) -> new QueryResult.Refused(bad);
      case Decoded.Good<QueryAnswer>(QueryAnswer answer) ->
          answer.leaseId() == 0
              ? new QueryResult.Discovered(answer)
              : new QueryResult.Ready(
                  new Lease(answer.leaseId(), session.registered().epoch()), answer);
    };
  }

  private static Refusal reason(Pending pending) {
    Refusal refusal = Refusal.ofNumber(pending.code, pending.category, pending.retryAfterMillis);
    if (pending.text
        && RefusalText.decode(pending.reply) instanceof Decoded.Good<RefusalText>(RefusalText t)) {
      return refusal.withText(t.message(), t.remedy());
    }
    return refusal;
  }

  private static Refusal unexpected(Pending pending) {
    return Refusal.of(RefusalCode.INTERNAL_ERROR, pending.op + " was answered " + pending.status);
  }
}
