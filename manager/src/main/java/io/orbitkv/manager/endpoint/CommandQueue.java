package io.orbitkv.manager.endpoint;

import io.orbitkv.core.Command;
import java.util.function.Consumer;
import org.agrona.concurrent.ManyToOneConcurrentArrayQueue;

/** Commands of other threads on their way to the manager loop: the control socket's and HTTP's. */
public final class CommandQueue {
  private final ManyToOneConcurrentArrayQueue<Command> queue;
  private final Runnable wakeLoop;

  /**
   * @param capacity the most commands that wait
   * @param wakeLoop ends the loop's sleep; from any thread
   */
  public CommandQueue(int capacity, Runnable wakeLoop) {
    this.queue = new ManyToOneConcurrentArrayQueue<>(capacity);
    this.wakeLoop = wakeLoop;
  }

  /** Hands a command over; false if too many wait, and then nothing has happened. */
  public boolean offer(Command command) {
    boolean taken = queue.offer(command);
    if (taken) {
      wakeLoop.run();
    }
    return taken;
  }

  /** Gives the loop at most {@code limit} commands; returns how many. Loop thread. */
  int drain(Consumer<Command> loop, int limit) {
    int drained = 0;
    for (Command command; drained < limit && (command = queue.poll()) != null; drained++) {
      loop.accept(command);
    }
    return drained;
  }
}
