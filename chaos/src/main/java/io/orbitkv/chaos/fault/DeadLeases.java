package io.orbitkv.chaos.fault;

import io.orbitkv.core.Command;
import io.orbitkv.core.Reply;
import io.orbitkv.core.ReplySink;
import java.util.HashSet;
import java.util.Set;

/** Says that a restore is done although its lease was not granted in this epoch. */
final class DeadLeases extends CommandTap {
  private final Set<Long> granted = new HashSet<>();

  @Override
  Command change(Command command) {
    return switch (command) {
      case Command.Query query -> answered(query, this::note);
      case Command.Restore restore when !granted.contains(restore.leaseId()) ->
          answered(restore, DeadLeases::honour);
      case Command other -> other;
    };
  }

  private ReplySink note(ReplySink sink) {
    return reply -> {
      if (reply instanceof Reply.Ready ready) {
        granted.add(ready.leaseId());
      }
      sink.reply(reply);
    };
  }

  private static ReplySink honour(ReplySink sink) {
    return reply ->
        sink.reply(reply instanceof Reply.Refused ? new Reply.Restored(0, 1, 0, 0) : reply);
  }
}
