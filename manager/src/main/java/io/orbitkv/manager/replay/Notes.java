package io.orbitkv.manager.replay;

import io.orbitkv.journal.Corruption;
import io.orbitkv.journal.Replay;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What a reader must know about the journal before trusting an answer. */
final class Notes {
  private Notes() {}

  static void damage(List<Corruption> damages, Optional<Corruption> tail, PrintWriter err) {
    damages.forEach(damage -> err.println("note: " + damage.describe()));
    tail.ifPresent(
        torn ->
            err.println(
                "note: " + torn.describe() + "; on a live journal this may be a fact under way"));
    err.flush();
  }

  /** What is missing from a fold: nothing for a whole journal. */
  static List<String> of(Replay replay) {
    List<String> notes = new ArrayList<>();
    replay.damagedCheckpoints().forEach(why -> notes.add("a checkpoint was passed over: " + why));
    if (replay.passedFrom() != 0) {
      notes.add(
          ("the facts from %d to %d are there and cannot be folded: the first part or the checkpoint before them is"
                  + " gone; --events and --why go through them")
              .formatted(replay.passedFrom(), replay.checkpointPosition()));
    }
    replay.corruptions().forEach(damage -> notes.add(damage.describe()));
    switch (replay.ending()) {
      case Replay.Ending.Complete _, Replay.Ending.Stopped _ -> {}
      case Replay.Ending.Corrupted(Corruption corruption) -> {
        notes.add(corruption.describe());
        notes.add(
            ("the state cannot be folded beyond position %d; --at and --leaks start behind it if a"
                    + " checkpoint stands there, and --events goes on in any case")
                .formatted(replay.state().position()));
      }
      case Replay.Ending.NoStart(long first) ->
          notes.add(
              ("the oldest fact is at position %d and no checkpoint stands before it: the state is"
                      + " unknown, the facts are in --events")
                  .formatted(first));
      case Replay.Ending.Unreadable(String message) -> notes.add(message);
      case Replay.Ending.Broken(var broken) ->
          notes.add("a fact contradicts the state: " + broken.getMessage());
    }
    replay
        .tail()
        .ifPresent(
            tail ->
                notes.add(tail.describe() + "; on a live journal this may be a fact under way"));
    if (replay.cuts() > 0) {
      notes.add(
          "earlier starts of the Manager cut "
              + Words.count(replay.cuts(), "torn tail")
              + " and went on from the last whole fact");
    }
    return notes;
  }
}
