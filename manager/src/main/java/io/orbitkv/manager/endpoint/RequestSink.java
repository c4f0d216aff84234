package io.orbitkv.manager.endpoint;

import io.orbitkv.client.wire.BlockOutcome;
import io.orbitkv.client.wire.PublishReply;
import io.orbitkv.client.wire.RefusalCode;
import io.orbitkv.client.wire.RequestTag;
import io.orbitkv.client.wire.ServerChannel;
import io.orbitkv.client.wire.Status;
import io.orbitkv.core.Reply;
import io.orbitkv.core.ReplySink;
import org.jspecify.annotations.Nullable;

/** Writes the loop's answer to one request into its session's channel. Loop thread. */
final class RequestSink implements ReplySink {
  private static final long MICROS_PER_MILLI = 1_000;

  private final ChannelSession session;
  private final RequestTag tag;
  private final long takenNanos;

  /** The ticket of a LOADING answer, whose notice is owed; 0 before. */
  private long ticketId;

  /** Place in the session's list of open requests. */
  int openIndex;

  RequestSink(ChannelSession session, RequestTag tag, long takenNanos) {
    this.session = session;
    this.tag = tag;
    this.takenNanos = takenNanos;
  }

  RequestTag tag() {
    return tag;
  }

  @Override
  public void reply(Reply reply) {
    ServerChannel channel = session.channel();
    if (ticketId != 0) {
      notice(channel, reply);
      session.answered(this, takenNanos, reply);
      return;
    }
    switch (reply) {
      case Reply.Ready ready -> channel.ready(tag, WireAnswers.answer(ready, leaseMillis(ready)));
      case Reply.Missed missed ->
          channel.miss(tag, WireAnswers.answer(missed, session.groupIds()), reason(missed));
      case Reply.Discovered found -> {
        if (found.boundaries().isEmpty()) {
          channel.miss(tag, WireAnswers.answer(found), null);
        } else {
          channel.ready(tag, WireAnswers.answer(found));
        }
      }
      case Reply.Loading(long ticket, long _) -> {
        if (tag.answers() > 1) {
          ticketId = ticket;
          channel.loading(tag, ticket);
          session.touched();
          return;
        }
        channel.stillLoading(tag, ticket);
      }
      case Reply.Prepared(long _, int boundary, boolean expired) ->
          channel.prepared(tag, boundary, expired);
      case Reply.CancelTaken(boolean wasOpen) -> channel.ok(tag, wasOpen ? 1 : 0, 0);
      case Reply.Cancelled _ -> channel.cancelled(tag);
      case Reply.Released(long _, boolean wasOpen) -> channel.ok(tag, wasOpen ? 1 : 0, 0);
      case Reply.Published published -> published(channel, published);
      case Reply.Restored restored -> channel.ok(tag, restored.bytes(), 0);
      case Reply.Failed failed -> channel.failed(tag, WireAnswers.failure(failed));
      case Reply.Refused refused -> channel.refuse(tag, WireAnswers.refusal(refused));
      case Reply.Registered _,
          Reply.SessionClosed _,
          Reply.InstanceCleaned _,
          Reply.Evicted _,
          Reply.Inspected _,
          Reply.ToPeer _,
          Reply.ShutDown _ ->
          throw new IllegalStateException(reply + " is no answer to " + tag.op());
    }
    session.answered(this, takenNanos, reply);
  }

  private void notice(ServerChannel channel, Reply reply) {
    switch (reply) {
      case Reply.Ready ready ->
          channel.notice(tag, Status.READY, ticketId, null, ready.boundaryToken());
      case Reply.Missed missed ->
          channel.notice(tag, Status.MISS, ticketId, reason(missed), missed.startToken());
      case Reply.Prepared(long _, int boundary, boolean expired) ->
          channel.notice(
              tag, Status.OK, ticketId, expired ? RefusalCode.TICKET_EXPIRED : null, boundary);
      case Reply.Cancelled(boolean replaced) ->
          channel.notice(
              tag, Status.CANCELLED, ticketId, replaced ? RefusalCode.TICKET_REPLACED : null, 0);
      case Reply.Refused refused ->
          channel.notice(tag, Status.REFUSED, ticketId, WireAnswers.code(refused.code()), 0);
      case Reply.Loading _,
          Reply.Discovered _,
          Reply.CancelTaken _,
          Reply.Released _,
          Reply.Published _,
          Reply.Restored _,
          Reply.Failed _,
          Reply.Registered _,
          Reply.SessionClosed _,
          Reply.InstanceCleaned _,
          Reply.Evicted _,
          Reply.Inspected _,
          Reply.ToPeer _,
          Reply.ShutDown _ ->
          throw new IllegalStateException(reply + " is no end of a ticket");
    }
  }

  private void published(ServerChannel channel, Reply.Published published) {
    PublishReply reply = PublishReply.ofCodes(published.outcomes());
    Reply.Refused why = published.why();
    if (why != null && reply.count(BlockOutcome.REFUSED) == reply.blockCount()) {
      channel.refuse(tag, WireAnswers.refusal(why));
    } else {
      channel.published(
          tag, reply, published.bytes(), why == null ? null : WireAnswers.refusal(why));
    }
  }

  private int leaseMillis(Reply.Ready ready) {
    long left = (ready.expiresAtMicros() - session.wallMicros()) / MICROS_PER_MILLI;
    return Math.clamp(left, 0, Integer.MAX_VALUE);
  }

  private static @Nullable RefusalCode reason(Reply.Missed missed) {
    return missed.expired() ? RefusalCode.TICKET_EXPIRED : null;
  }
}
