package io.orbitkv.client.wire;

import java.lang.foreign.MemorySegment;

/** The ring from Manager to client. Each side belongs to one thread at a time. */
public final class CompletionRing {
  private CompletionRing() {}

  /** The Manager's side. */
  public static final class Producer {
    private final MemorySegment channel;
    private final RingWriter writer;

    public Producer(MemorySegment channel, ChannelGeometry geometry) {
      this.channel = channel;
      this.writer =
          new RingWriter(
              channel,
              geometry.completionOffset(),
              geometry.entries(),
              ChannelLayout.COMPLETION_TAIL,
              ChannelLayout.COMPLETION_HEAD);
    }

    /** Whether so many more completions fit now. */
    public boolean hasRoom(int wanted) {
      return writer.hasRoom(wanted);
    }

    /** Whether the client broke the ring's rules. */
    public boolean broken() {
      return writer.broken();
    }

    /**
     * Writes a completion and makes it visible; the client must be signalled after it.
     *
     * @throws IllegalStateException if there is no room
     */
    public void post(Completion completion) {
      if (!writer.hasRoom(1)) {
        throw new IllegalStateException("the completion ring is full");
      }
      completion.writeTo(channel, writer.entryOffset(), writer.position());
      writer.advance();
    }
  }

  /** The client's side. */
  public static final class Consumer {
    private final MemorySegment channel;
    private final RingReader reader;

    public Consumer(MemorySegment channel, ChannelGeometry geometry) {
      this.channel = channel;
      this.reader =
          new RingReader(
              channel,
              geometry.completionOffset(),
              geometry.entries(),
              ChannelLayout.COMPLETION_TAIL,
              ChannelLayout.COMPLETION_HEAD);
    }

    /** Copies the next completion; its entry is given back by {@link #commit}. */
    public RingRead take(Completion into) {
      if (!reader.hasNext()) {
        return reader.broken() ? RingRead.BROKEN : RingRead.EMPTY;
      }
      into.readFrom(channel, reader.entryOffset());
      if (into.sequence() != reader.position()) {
        reader.setBroken();
        return RingRead.BROKEN;
      }
      reader.advance();
      return RingRead.TAKEN;
    }

    /** The position of the next completion: {@link #tail} when everything was taken. */
    public long position() {
      return reader.position();
    }

    /**
     * The Manager's tail as it is, not to be trusted: where it is not the position of the next
     * completion, {@link #take} will tell more. Also for a thread that does not own the ring.
     */
    public long tail() {
      return ChannelLayout.getLongAcquire(channel, ChannelLayout.COMPLETION_TAIL);
    }

    /** Gives everything that was taken back to the Manager. */
    public void commit() {
      reader.commit();
    }
  }
}
