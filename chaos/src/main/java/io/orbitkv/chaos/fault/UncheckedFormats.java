package io.orbitkv.chaos.fault;

import io.orbitkv.core.Command;
import io.orbitkv.state.identity.StateFormat;
import org.jspecify.annotations.Nullable;

/** Takes every engine for one of the first one's format. */
final class UncheckedFormats extends CommandTap {
  private @Nullable StateFormat first;

  @Override
  Command change(Command command) {
    if (!(command instanceof Command.Register register) || register.format() == null) {
      return command;
    }
    if (first == null) {
      first = register.format();
    }
    return new Command.Register(
        register.instance(),
        register.namespace(),
        first,
        register.shard(),
        register.shardCount(),
        register.role(),
        register.pid(),
        register.uid(),
        register.attachTo(),
        register.buffers(),
        register.replyTo());
  }
}
