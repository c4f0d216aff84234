package io.orbitkv.chaos.fault;

import io.orbitkv.core.Command;
import io.orbitkv.core.Reply;

/** Sets memory aside for a publish before it is refused, and leaves it so. */
final class LeakingRefusals extends CommandTap {
  private static final int BYTES = 512;

  @Override
  Command change(Command command) {
    return command instanceof Command.Publish publish
        ? answered(
            publish,
            sink ->
                reply -> {
                  if (reply instanceof Reply.Refused) {
                    leak(BYTES);
                  }
                  sink.reply(reply);
                })
        : command;
  }
}
