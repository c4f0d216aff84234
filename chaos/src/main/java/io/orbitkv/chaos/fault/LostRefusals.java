package io.orbitkv.chaos.fault;

import io.orbitkv.core.Command;
import io.orbitkv.core.Reply;

/** Does not send every fifth refusal. */
final class LostRefusals extends CommandTap {
  private static final int EVERY = 5;

  private int refusals;

  @Override
  Command change(Command command) {
    return answered(
        command,
        sink ->
            reply -> {
              if (!(reply instanceof Reply.Refused) || ++refusals % EVERY != 0) {
                sink.reply(reply);
              }
            });
  }
}
