package io.orbitkv.client;

import io.orbitkv.client.wire.ArenaSlots;
import io.orbitkv.client.wire.ChannelGeometry;
import io.orbitkv.client.wire.ChannelLayout;
import io.orbitkv.client.wire.Completion;
import io.orbitkv.client.wire.CompletionRing;
import io.orbitkv.client.wire.Flags;
import io.orbitkv.client.wire.Op;
import io.orbitkv.client.wire.Refusal;
import io.orbitkv.client.wire.RefusalCode;
import io.orbitkv.client.wire.RingRead;
import io.orbitkv.client.wire.Status;
import io.orbitkv.client.wire.Submission;
import io.orbitkv.client.wire.SubmissionRing;
import io.orbitkv.ffi.EventFd;
import io.orbitkv.ffi.Mapping;
import io.orbitkv.ffi.NativeException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The client's end of one channel, for any number of threads and with none of its own.
 *
 * <p>One lock guards rings, slots and the table of pending requests; it is never held while
 * waiting. Of the threads that wait, one at a time (the leader) sleeps on the signal eventfd and
 * reads completions for all; the others sleep on a condition and one of them becomes the leader
 * when it leaves. A lone thread therefore pays for no handover: it submits, rings, sleeps, reads.
 * Before the leader sleeps it looks for some microseconds, see {@link Patience}.
 *
 * <p>A request id is a count in its high bits and the request's place in the table in its low bits,
 * so that ids increase and a completion finds its request without a map.
 *
 * <p>A caller that gives up leaves its request in the table: slot and place are free again when the
 * completion comes. A lease that such a query got is released here.
 */
final class ChannelDriver {
  /** Leases of abandoned queries that wait to be released; more than that run into their expiry. */
  private static final int MAX_ORPHANS = 1024;

  /** How long the leader looks for an answer before it sleeps. */
  private static final long LOOK_NANOS = 12_000;

  /** Longer requests take the Manager longer: about this much for each byte of a QUERY. */
  private static final long LOOK_NANOS_PER_BYTE = 1;

  private static final long MOST_LOOK_NANOS = 80_000;

  private static final int LOOKS_AT_A_TIME = 16;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition progress = lock.newCondition();
  private final Mapping memory;
  private final EventFd doorbell;
  private final EventFd signal;
  private final Runnable onBroken;
  private final long epoch;
  private final long sessionId;
  private final int maxPayloadBytes;
  private final SubmissionRing.Producer submissions;
  private final CompletionRing.Consumer completions;
  private final ArenaSlots slots;
  private final Submission submission = new Submission();
  private final Completion completion = new Completion();
  private final ArrayDeque<Long> orphanedLeases = new ArrayDeque<>();

  private final @Nullable Pending[] table;
  private final int indexBits;
  private final int[] freeIndexes;
  private int freeCount;
  private long requestCount;

  private final Map<Op, Patience> patience = patience();
  private int waiters;
  private boolean leaderActive;
  private boolean released;
  private @Nullable Refusal lost;

  /**
   * A driver that owns the mapping and both eventfds.
   *
   * @param onBroken called, with the lock held, when the Manager broke the ring's rules; it must
   *     end the connection
   */
  ChannelDriver(
      Mapping memory,
      EventFd doorbell,
      EventFd signal,
      ChannelGeometry geometry,
      int maxOutstanding,
      long epoch,
      long sessionId,
      Runnable onBroken) {
    this.memory = memory;
    this.doorbell = doorbell;
    this.signal = signal;
    this.onBroken = onBroken;
    this.epoch = epoch;
    this.sessionId = sessionId;
    this.maxPayloadBytes = geometry.maxPayloadBytes();
    MemorySegment segment = memory.segment();
    submissions = new SubmissionRing.Producer(segment, geometry);
    completions = new CompletionRing.Consumer(segment, geometry);
    slots = new ArenaSlots(segment, geometry);
    table = new Pending[geometry.entries()];
    indexBits = Integer.numberOfTrailingZeros(geometry.entries());
    freeIndexes = new int[Math.min(maxOutstanding, geometry.entries())];
    for (int index = freeIndexes.length - 1; index >= 0; index--) {
      freeIndexes[freeCount++] = index;
    }
  }

  /**
   * Submits a request and rings the doorbell, waiting for room if there is none.
   *
   * @param payload writes the payload and gives its bytes; null for none
   * @return the request; one that is {@code lost} at once if there was no room in time
   */
  Pending submit(
      Op op,
      int flags,
      long handle,
      int timeoutMillis,
      @Nullable ToIntFunction<MemorySegment> payload,
      long deadlineNanos) {
    lock.lock();
    try {
      while (lost == null && !hasRoom(op)) {
        if (!step(null, deadlineNanos)) {
          return neverSubmitted(
              op, Refusal.of(RefusalCode.DEADLINE, "no room in the channel in time"));
        }
      }
      if (lost != null) {
        return neverSubmitted(op, lost);
      }
      Pending pending = enter(op, flags, handle, timeoutMillis, payload);
      ring();
      return pending;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Waits until a request is done.
   *
   * @return whether it is
   */
  boolean await(Pending pending, long deadlineNanos) {
    lock.lock();
    try {
      while (!pending.done) {
        if (!step(pending, deadlineNanos)) {
          return pending.done;
        }
      }
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Waits until the notice of a waiting query is there, or its session is lost. */
  boolean awaitNotice(Pending pending, long deadlineNanos) {
    lock.lock();
    try {
      while (pending.noticeDue && pending.lost == null) {
        if (!step(null, deadlineNanos)) {
          return !pending.noticeDue;
        }
      }
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Waits until a running restore has so many layers in place, or is done. */
  int awaitLayers(Pending pending, int layers, long deadlineNanos) {
    lock.lock();
    try {
      while (true) {
        int done = layersDone(pending);
        if (pending.done || done >= layers || !step(null, deadlineNanos)) {
          return layersDone(pending);
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /** How many layers of a restore are in place. */
  int layersDone(Pending pending) {
    lock.lock();
    try {
      if (pending.done) {
        return pending.status == Status.OK && pending.lost == null ? pending.layersTotal : 0;
      }
      if (lost != null || pending.slot == ChannelLayout.NO_SLOT) {
        return 0;
      }
      return slots.layersDone(pending.slot);
    } finally {
      lock.unlock();
    }
  }

  /** Reads what is there without waiting; tells whether the request is done. */
  boolean isDone(Pending pending) {
    lock.lock();
    try {
      if (!pending.done && lost == null) {
        drain();
      }
      return pending.done;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Gives a request up that was not done in time.
   *
   * @return false if it is done after all
   */
  boolean abandon(Pending pending) {
    lock.lock();
    try {
      if (pending.done) {
        return false;
      }
      pending.abandoned = true;
      return true;
    } finally {
      lock.unlock();
    }
  }

  /** Requests that were submitted and not answered for good. */
  int outstanding() {
    lock.lock();
    try {
      drain();
      return freeIndexes.length - freeCount;
    } finally {
      lock.unlock();
    }
  }

  /** Ends every request with this reason and gives the memory and descriptors back. */
  void lose(Refusal why) {
    lock.lock();
    try {
      if (lost == null) {
        drain();
      }
      end(why);
    } finally {
      lock.unlock();
    }
  }

  private boolean hasRoom(Op op) {
    return freeCount > 0 && submissions.hasRoom() && (!op.needsSlot() || slots.available() > 0);
  }

  private Pending enter(
      Op op,
      int flags,
      long handle,
      int timeoutMillis,
      @Nullable ToIntFunction<MemorySegment> payload) {
    int slot = op.needsSlot() ? slots.take() : ChannelLayout.NO_SLOT;
    int bytes = 0;
    if (payload != null) {
      boolean written = false;
      try {
        bytes = payload.applyAsInt(slots.payload(slot));
        written = true;
      } finally {
        if (!written) {
          slots.giveBack(slot);
        }
      }
    }
    int index = freeIndexes[--freeCount];
    Pending pending = new Pending(op, ++requestCount << indexBits | index);
    pending.slot = slot;
    pending.payloadBytes = bytes;
    table[index] = pending;
    long generation = slot == ChannelLayout.NO_SLOT ? 0 : slots.generation(slot);
    submission.set(
        op.code(),
        flags,
        slot,
        bytes,
        pending.requestId,
        epoch,
        sessionId,
        generation,
        handle,
        timeoutMillis);
    submissions.submit(submission);
    return pending;
  }

  private void ring() {
    try {
      doorbell.signal();
    } catch (NativeException failed) {
      broken();
    }
  }

  /**
   * Reads completions, and if there were none waits for some. The lock is held on entry and exit.
   *
   * @param awaited the request that is waited for, null for any
   * @return false if the deadline passed
   */
  private boolean step(@Nullable Pending awaited, long deadlineNanos) {
    if (drain() > 0) {
      return true;
    }
    long left = deadlineNanos - System.nanoTime();
    if (left <= 0) {
      return false;
    }
    if (leaderActive) {
      follow(left, deadlineNanos);
    } else {
      lead(awaited, left);
    }
    return true;
  }

  private void follow(long nanos, long deadlineNanos) {
    boolean interrupted = false;
    long left = nanos;
    waiters++;
    while (left > 0) {
      try {
        var _ = progress.awaitNanos(left);
        break;
      } catch (InterruptedException stop) {
        // Waits end at their deadline anyhow; the interrupt is passed on and not acted on here.
        interrupted = true;
        left = deadlineNanos - System.nanoTime();
      }
    }
    waiters--;
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void lead(@Nullable Pending awaited, long nanos) {
    leaderActive = true;
    Patience hope = awaited == null ? null : patience.get(awaited.op);
    long lookNanos = awaited == null || hope == null || !hope.looks() ? 0 : lookNanos(awaited);
    long next = completions.position();
    lock.unlock();
    boolean failed = false;
    boolean found = false;
    try {
      found = lookNanos > 0 && look(next, Math.min(nanos, lookNanos));
      if (!found && signal.await(nanos)) {
        // Before the ring is looked at, never after: a signal in between must not be lost.
        signal.drain();
      }
    } catch (NativeException unusable) {
      failed = true;
    } finally {
      lock.lock();
      leaderActive = false;
      if (hope != null && lookNanos > 0) {
        hope.looked(found);
      }
      if (waiters > 0) {
        progress.signalAll();
      }
    }
    if (lost != null) {
      release();
    } else if (failed) {
      broken();
    } else {
      drain();
    }
  }

  private static long lookNanos(Pending awaited) {
    return Math.min(MOST_LOOK_NANOS, LOOK_NANOS + LOOK_NANOS_PER_BYTE * awaited.payloadBytes);
  }

  private static Map<Op, Patience> patience() {
    int processors = Runtime.getRuntime().availableProcessors();
    Map<Op, Patience> each = new EnumMap<>(Op.class);
    for (Op op : Op.values()) {
      each.put(op, new Patience(processors));
    }
    return each;
  }

  /** Whether the Manager writes a completion within some time; the lock is not held. */
  private boolean look(long next, long nanos) {
    long until = System.nanoTime() + nanos;
    do {
      for (int i = 0; i < LOOKS_AT_A_TIME; i++) {
        if (completions.tail() != next) {
          return true;
        }
        Thread.onSpinWait();
      }
    } while (System.nanoTime() - until < 0);
    return false;
  }

  /** Takes every completion that is there. */
  private int drain() {
    if (lost != null) {
      return 1;
    }
    if (submissions.broken()) {
      broken();
      return 1;
    }
    int taken = 0;
    while (true) {
      RingRead read = completions.take(completion);
      if (read == RingRead.BROKEN || (read == RingRead.TAKEN && !dispatch())) {
        broken();
        return taken + 1;
      }
      if (read == RingRead.EMPTY) {
        break;
      }
      taken++;
    }
    if (taken > 0) {
      completions.commit();
      if (submissions.hasUnread()) {
        // The Manager takes nothing while the completion ring lacks room; nobody else tells it.
        ring();
      }
      if (lost == null) {
        releaseOrphans();
      }
      if (waiters > 0) {
        progress.signalAll();
      }
    }
    return taken;
  }

  /** Gives a completion to its request; false if it makes no sense. */
  private boolean dispatch() {
    int index = (int) (completion.requestId() & (table.length - 1));
    Pending pending = table[index];
    if (pending == null
        || pending.requestId != completion.requestId()
        || completion.epoch() != epoch) {
      return false;
    }
    if (completion.has(Flags.NOTICE)) {
      if (!pending.noticeDue) {
        return false;
      }
      pending.noticeDue = false;
      take(pending);
      free(index);
      return true;
    }
    if (completion.slot() != pending.slot || pending.done) {
      return false;
    }
    long bytes = completion.payloadBytes();
    if (bytes > maxPayloadBytes) {
      return false;
    }
    take(pending);
    if (pending.slot != ChannelLayout.NO_SLOT) {
      if (bytes > 0) {
        pending.reply = slots.copyPayload(pending.slot, (int) bytes);
      }
      if (pending.op == Op.RESTORE) {
        pending.layersTotal = slots.layersTotal(pending.slot);
      }
      slots.giveBack(pending.slot);
      pending.slot = ChannelLayout.NO_SLOT;
    }
    pending.done = true;
    if (completion.has(Flags.MORE)) {
      pending.noticeDue = true;
      pending.waits = true;
    } else {
      free(index);
    }
    if (pending.abandoned
        && pending.status == Status.READY
        && pending.handle != 0
        && orphanedLeases.size() < MAX_ORPHANS) {
      orphanedLeases.add(pending.handle);
    }
    return true;
  }

  private void take(Pending pending) {
    pending.status = completion.status();
    pending.category = completion.category();
    pending.code = completion.code();
    pending.retryAfterMillis = completion.retryAfterMillis();
    pending.handle = completion.handle();
    pending.value = completion.value();
    pending.text = completion.has(Flags.TEXT);
  }

  private void free(int index) {
    table[index] = null;
    freeIndexes[freeCount++] = index;
  }

  private void releaseOrphans() {
    boolean any = false;
    while (!orphanedLeases.isEmpty() && hasRoom(Op.RELEASE)) {
      Pending release = enter(Op.RELEASE, 0, orphanedLeases.remove(), 0, null);
      release.abandoned = true;
      any = true;
    }
    if (any) {
      ring();
    }
  }

  private Pending neverSubmitted(Op op, Refusal why) {
    Pending pending = new Pending(op, 0);
    pending.lost = why;
    pending.done = true;
    return pending;
  }

  /** The Manager broke the ring's rules, or an eventfd failed: nothing can be trusted any more. */
  private void broken() {
    end(Refusal.of(RefusalCode.SESSION_LOST, "the channel is broken"));
    onBroken.run();
  }

  private void end(Refusal why) {
    if (lost != null) {
      return;
    }
    lost = why;
    for (int index = 0; index < table.length; index++) {
      Pending pending = table[index];
      if (pending != null) {
        pending.lost = why;
        pending.done = true;
        table[index] = null;
      }
    }
    progress.signalAll();
    if (leaderActive) {
      wakeLeader();
    } else {
      release();
    }
  }

  /** The leader sleeps with the lock free; it releases memory and descriptors when it wakes. */
  private void wakeLeader() {
    try {
      signal.signal();
    } catch (NativeException failed) {
      throw new IllegalStateException("an eventfd of our own cannot be written", failed);
    }
  }

  private void release() {
    if (!released) {
      released = true;
      memory.close();
      doorbell.close();
      signal.close();
    }
  }
}
