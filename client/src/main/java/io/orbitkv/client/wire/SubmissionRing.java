package io.orbitkv.client.wire;

import java.lang.foreign.MemorySegment;

/** The ring from client to Manager. Each side belongs to one thread at a time. */
public final class SubmissionRing {
  private SubmissionRing() {}

  /** The client's side. */
  public static final class Producer {
    private final MemorySegment channel;
    private final RingWriter writer;

    public Producer(MemorySegment channel, ChannelGeometry geometry) {
      this.channel = channel;
      this.writer =
          new RingWriter(
              channel,
              geometry.submissionOffset(),
              geometry.entries(),
              ChannelLayout.SUBMISSION_TAIL,
              ChannelLayout.SUBMISSION_HEAD);
    }

    /** Whether a descriptor fits now. */
    public boolean hasRoom() {
      return writer.hasRoom(1);
    }

    /** Whether there are descriptors that the Manager has not taken. */
    public boolean hasUnread() {
      return writer.unread() > 0;
    }

    /** Whether the Manager broke the ring's rules. */
    public boolean broken() {
      return writer.broken();
    }

    /**
     * Writes a descriptor and makes it visible; the doorbell must be rung after it.
     *
     * @throws IllegalStateException if there is no room
     */
    public void submit(Submission submission) {
      if (!writer.hasRoom(1)) {
        throw new IllegalStateException("the submission ring is full");
      }
      submission.writeTo(channel, writer.entryOffset(), writer.position());
      writer.advance();
    }
  }

  /** The Manager's side. */
  public static final class Consumer {
    private final MemorySegment channel;
    private final RingReader reader;

    public Consumer(MemorySegment channel, ChannelGeometry geometry) {
      this.channel = channel;
      this.reader =
          new RingReader(
              channel,
              geometry.submissionOffset(),
              geometry.entries(),
              ChannelLayout.SUBMISSION_TAIL,
              ChannelLayout.SUBMISSION_HEAD);
    }

    /** Whether {@link #take} would find something, a broken ring included. */
    public boolean hasNext() {
      return reader.hasNext() || reader.broken();
    }

    /** Copies the next descriptor and gives its entry back to the client. */
    public RingRead take(Submission into) {
      if (!reader.hasNext()) {
        return reader.broken() ? RingRead.BROKEN : RingRead.EMPTY;
      }
      into.readFrom(channel, reader.entryOffset());
      if (into.sequence() != reader.position()) {
        reader.setBroken();
        return RingRead.BROKEN;
      }
      reader.advance();
      reader.commit();
      return RingRead.TAKEN;
    }
  }
}
