package io.orbitkv.chaos.fault;

import io.orbitkv.core.Command;

/** Registers every engine in the namespace of the first. */
final class MixedNamespaces extends CommandTap {
  private String first = "";

  @Override
  Command change(Command command) {
    if (!(command instanceof Command.Register register)) {
      return command;
    }
    if (first.isEmpty()) {
      first = register.namespace();
    }
    return new Command.Register(
        register.instance(),
        first,
        register.format(),
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
