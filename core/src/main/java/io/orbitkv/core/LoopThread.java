package io.orbitkv.core;

import java.time.Duration;
import java.util.function.Consumer;

/** Runs a {@link ManagerLoop} on a platform thread of its own until its epoch ends or it breaks. */
public final class LoopThread {
  private final ManagerLoop loop;
  private final Idle idle;
  private final Consumer<LoopBroken> fatal;
  private final Thread thread;

  /**
   * A thread that is not started yet.
   *
   * @param fatal called once on the loop thread when the loop has broken; it should end the process
   */
  public LoopThread(ManagerLoop loop, Idle idle, Consumer<LoopBroken> fatal) {
    this.loop = loop;
    this.idle = idle;
    this.fatal = fatal;
    this.thread = Thread.ofPlatform().name(loop.roleName()).unstarted(this::run);
  }

  public void start() {
    thread.start();
  }

  /** Waits for the loop to end; whether it has. */
  public boolean join(Duration limit) throws InterruptedException {
    return thread.join(limit);
  }

  public boolean isLoopThread() {
    return Thread.currentThread() == thread;
  }

  private void run() {
    try {
      while (!loop.ended()) {
        int work = loop.doWork();
        if (!loop.ended()) {
          idle.idle(work, loop.nanosToNextTimer());
        }
      }
    } catch (LoopBroken broken) {
      fatal.accept(broken);
    }
  }
}
