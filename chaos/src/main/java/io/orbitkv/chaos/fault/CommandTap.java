package io.orbitkv.chaos.fault;

import io.orbitkv.core.Command;
import io.orbitkv.core.CommandSource;
import io.orbitkv.core.ReplySink;
import io.orbitkv.core.pool.ExtentAllocator;
import io.orbitkv.manager.LoopWiring;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** Changes commands on their way to the loop, or their answers on the way back. Loop thread. */
abstract class CommandTap implements LoopWiring {
  private @Nullable ExtentAllocator pool;

  /** What the loop gets instead of a command; null for nothing. */
  abstract @Nullable Command change(Command command);

  @Override
  public final CommandSource commands(CommandSource endpoint, ExtentAllocator extents) {
    pool = extents;
    return (loop, limit) ->
        endpoint.poll(
            command -> {
              Command changed = change(command);
              if (changed != null) {
                loop.accept(changed);
              }
            },
            limit);
  }

  /** Takes memory of the pool that nobody will give back. */
  final void leak(int bytes) {
    if (pool != null) {
      var _ = pool.allocate(bytes);
    }
  }

  /** The same command with its answers going another way; only publishes, queries and restores. */
  static Command answered(Command command, UnaryOperator<ReplySink> way) {
    return switch (command) {
      case Command.Publish(var session, var name, var group, var keys, var pages, var sink) ->
          new Command.Publish(session, name, group, keys, pages, way.apply(sink));
      case Command.Query query ->
          new Command.Query(
              query.sessionId(),
              query.request(),
              query.startToken(),
              query.limitToken(),
              query.groups(),
              query.mode(),
              query.waitMillis(),
              query.replace(),
              way.apply(query.replyTo()));
      case Command.Restore restore ->
          new Command.Restore(
              restore.sessionId(),
              restore.request(),
              restore.leaseId(),
              restore.targets(),
              restore.releaseLease(),
              restore.progress(),
              way.apply(restore.replyTo()));
      case Command other -> other;
    };
  }
}
