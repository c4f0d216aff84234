package io.orbitkv.chaos.sim;

import io.orbitkv.core.Reply;
import java.util.ArrayList;
import java.util.List;

/** What happened, line by line, when somebody wants to know. */
final class Transcript {
  static final Transcript NONE = new Transcript(false);

  private final boolean kept;
  private final List<String> lines = new ArrayList<>();
  private int lastStep = Integer.MIN_VALUE;

  private Transcript(boolean kept) {
    this.kept = kept;
  }

  static Transcript kept() {
    return new Transcript(true);
  }

  boolean isKept() {
    return kept;
  }

  void line(int step, String text) {
    if (kept) {
      lines.add((step == lastStep ? "        " : "%6d  ".formatted(step)) + text);
      lastStep = step;
    }
  }

  List<String> lines() {
    return lines;
  }

  static String text(Reply reply) {
    return switch (reply) {
      case Reply.Refused refused -> refused.code() + " (" + refused.message() + ")";
      case Reply.Failed failed -> "failed " + failed.code() + " (" + failed.message() + ")";
      case Reply.Ready ready ->
          "lease %d up to token %d %s"
              .formatted(ready.leaseId(), ready.boundaryToken(), ready.ranges());
      case Reply.Discovered found -> "boundaries " + found.boundaries();
      case Reply.Missed missed -> missed.expired() ? "missed, expired" : "missed";
      case Reply.Published published ->
          "%d stored, %d already, %d elsewhere, %d refused"
              .formatted(
                  published.stored(),
                  published.already(),
                  published.elsewhere(),
                  published.refused());
      default -> reply.toString();
    };
  }
}
