package io.orbitkv.manager;

import io.orbitkv.core.Command;
import io.orbitkv.core.Inspection;
import io.orbitkv.core.Reply;
import io.orbitkv.core.ReplySink;
import io.orbitkv.manager.endpoint.CommandQueue;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;

/** Asks the manager loop from other threads, and waits for its answer with a deadline. */
public final class LoopClient {
  private final CommandQueue queue;

  LoopClient(CommandQueue queue) {
    this.queue = queue;
  }

  /**
   * Sends a command and waits.
   *
   * @return empty if the loop did not answer in time, or too many commands wait already; what was
   *     asked for may still happen then
   */
  public Optional<Reply> ask(Function<ReplySink, Command> command, Duration limit) {
    return ask(command, reply -> reply, limit);
  }

  /**
   * Like {@link #ask(Function, Duration)}, and makes something of the reply on the loop thread,
   * where the state can be looked at.
   */
  public <T> Optional<T> ask(
      Function<ReplySink, Command> command, Function<Reply, T> onLoop, Duration limit) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    ReplySink sink =
        reply -> {
          try {
            answer.complete(onLoop.apply(reply));
          } catch (RuntimeException wrong) {
            answer.completeExceptionally(wrong);
          }
        };
    if (!queue.offer(command.apply(sink))) {
      return Optional.empty();
    }
    try {
      return Optional.of(answer.get(limit.toNanos(), TimeUnit.NANOSECONDS));
    } catch (TimeoutException late) {
      return Optional.empty();
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    } catch (ExecutionException wrong) {
      throw new IllegalStateException("the loop's answer cannot be used", wrong.getCause());
    }
  }

  /** Asks for a part of the state. */
  public Optional<Inspection.Answer> inspect(Inspection what, Duration limit) {
    return ask(
        sink -> new Command.Inspect(what, sink),
        reply ->
            switch (reply) {
              case Reply.Inspected(Inspection.Answer answer) -> answer;
              case Reply other -> throw new IllegalStateException(other + " is no inspection");
            },
        limit);
  }
}
