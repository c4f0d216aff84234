package io.orbitkv.chaos.fault;

import io.orbitkv.core.Command;
import io.orbitkv.core.Reply;
import io.orbitkv.state.HostEvent.SessionEnd;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Forgets to close a session that holds a lease when its engine dies. */
final class KeptLeases extends CommandTap {
  private final Map<Long, Long> sessionOfLease = new HashMap<>();

  @Override
  @Nullable Command change(Command command) {
    return switch (command) {
      case Command.Query query ->
          answered(
              query,
              sink ->
                  reply -> {
                    if (reply instanceof Reply.Ready ready) {
                      sessionOfLease.put(ready.leaseId(), query.sessionId());
                    }
                    sink.reply(reply);
                  });
      case Command.Release release -> {
        sessionOfLease.remove(release.leaseId());
        yield release;
      }
      case Command.CloseSession close
          when close.reason() == SessionEnd.DISCONNECTED
              && sessionOfLease.containsValue(close.sessionId()) ->
          null;
      case Command other -> other;
    };
  }
}
