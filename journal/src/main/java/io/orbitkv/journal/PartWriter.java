package io.orbitkv.journal;

import java.io.File;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import net.openhft.chronicle.bytes.Bytes;
import net.openhft.chronicle.core.OS;
import net.openhft.chronicle.queue.ChronicleQueue;
import net.openhft.chronicle.queue.ExcerptAppender;
import net.openhft.chronicle.queue.RollCycles;
import net.openhft.chronicle.queue.impl.single.SingleChronicleQueueBuilder;
import net.openhft.chronicle.wire.DocumentContext;
import net.openhft.chronicle.wire.Wire;
import net.openhft.chronicle.wire.WireType;
import net.openhft.posix.PosixAPI;

/**
 * Appends to one part: a Chronicle Queue in a directory of its own, whose clock stands still so
 * that Chronicle never rolls it. The file is mapped whole when the part is made, and Chronicle
 * never opens a part a second time; both keep the appending thread free of waits and of Chronicle's
 * own recovery.
 *
 * <p>A part is made on a background thread and then belongs to the appending thread; {@link
 * #extend}, {@link #flush} and {@link #release} belong to the background thread.
 */
final class PartWriter {
  /**
   * What Chronicle may add behind one record: an index page, its headers and the cleared end mark.
   */
  static final int SLACK_BYTES = 72 << 10;

  /** Chronicle's table file; all of it is written or mapped. */
  private static final long METADATA_BYTES = 128 << 10;

  static {
    // Neither a banner nor a thread that looks at the disk: the reserver knows better.
    for (String property :
        List.of("chronicle.announcer.disable", "chronicle.disk.monitor.disable")) {
      if (System.getProperty(property) == null) {
        System.setProperty(property, "true");
      }
    }
  }

  private static boolean prepared;

  private final long number;
  private final Path path;
  private final Path facts;
  private final long capacityBytes;
  private final long openedMicros;
  private final SpaceReserver reserver;
  private final ChronicleQueue queue;
  private final ExcerptAppender appender;
  private final FileChannel channel;

  /** Written by the background thread after the blocks are reserved. */
  private volatile long reservedEnd;

  /** Written by the appending thread after each record. */
  private volatile long end;

  private PartWriter(
      long number,
      Path path,
      long capacityBytes,
      SpaceReserver reserver,
      ChronicleQueue queue,
      long atMicros)
      throws IOException {
    this.number = number;
    this.path = path;
    this.facts = Layout.facts(path);
    this.capacityBytes = capacityBytes;
    this.openedMicros = atMicros;
    this.reserver = reserver;
    this.queue = queue;
    this.appender = queue.createAppender();
    appender.singleThreadedCheckDisabled(true);
    // Only now: an appender that finds a file without a header waits for somebody to write one.
    this.channel =
        FileChannel.open(
            facts,
            StandardOpenOption.CREATE_NEW,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE);
  }

  /**
   * Loads Chronicle, which takes some hundred milliseconds, unless it is loaded. One thread at a
   * time: the initializers of its classes call each other.
   */
  static synchronized void prepare() {
    if (!prepared) {
      prepared = true;
      // Chronicle wants it to write pages back by itself and to touch them ahead, both of which are
      // off here; its way to these calls takes a start a third of a second and unpacks a library.
      PosixAPI.useNoOpPosixApi();
      loadWithoutBuildFolder();
      Wire wire = WireType.BINARY_LIGHT.apply(Bytes.allocateElasticOnHeap());
      wire.bytes().releaseLast();
      SingleChronicleQueueBuilder.binary(Path.of("")).rollCycle(RollCycles.FAST_DAILY);
    }
  }

  /**
   * Chronicle looks for a build folder from the working directory upwards and, finding none, makes
   * one among the temporary files, where nothing of ours is to be left.
   */
  private static void loadWithoutBuildFolder() {
    File folder = new File(System.getProperty("java.io.tmpdir"), "target");
    boolean made = !folder.exists();
    var _ = OS.pageSize();
    if (made) {
      // Fails, as it should, if somebody has put something there meanwhile.
      var _ = folder.delete();
    }
  }

  /**
   * Makes a part and reserves its first bytes. Blocks are reserved before Chronicle touches a file,
   * because it writes through a mapping at once.
   *
   * @return empty when the disk has no room; nothing is left behind then
   */
  static Optional<PartWriter> create(
      Path dir,
      long number,
      long capacityBytes,
      long reserveBytes,
      SpaceReserver reserver,
      PartOpened opened,
      long atMicros)
      throws IOException {
    prepare();
    Path path = Layout.part(dir, number);
    PartWriter part = null;
    boolean made = false;
    boolean ready = false;
    try {
      Files.createDirectory(path);
      made = true;
      Path metadata = Files.createFile(path.resolve(Layout.METADATA_FILE));
      if (!reserver.reserve(metadata, 0, METADATA_BYTES)) {
        return Optional.empty();
      }
      part =
          new PartWriter(
              number, path, capacityBytes, reserver, queue(path, capacityBytes), atMicros);
      if (!part.extend(reserveBytes)) {
        return Optional.empty();
      }
      RecordEncoder encoder = new RecordEncoder();
      part.append(encoder, encoder.partOpened(opened, atMicros));
      Layout.syncDirectory(path);
      Layout.syncDirectory(dir);
      ready = true;
      return Optional.of(part);
    } catch (IOException e) {
      if (DiskFull.is(e)) {
        return Optional.empty();
      }
      throw e;
    } finally {
      if (part != null && !ready) {
        part.discard();
      } else if (made && !ready) {
        Layout.deletePart(path);
      }
    }
  }

  /**
   * Chronicle takes documents of up to a quarter of its block, which is one mapping; the file is
   * sparse.
   */
  private static ChronicleQueue queue(Path path, long capacityBytes) {
    return SingleChronicleQueueBuilder.binary(path)
        .rollCycle(RollCycles.FAST_DAILY)
        .timeProvider(() -> 0L)
        .blockSize(Math.max(capacityBytes, 4L * RecordFormat.MAX_RECORD_BYTES))
        .checkInterrupts(false)
        .build();
  }

  long number() {
    return number;
  }

  Path path() {
    return path;
  }

  /** Wall clock when the part was made, microseconds since 1970. */
  long openedMicros() {
    return openedMicros;
  }

  /** Where the next record begins, or a little before. */
  long end() {
    return end;
  }

  long reservedEnd() {
    return reservedEnd;
  }

  long capacityBytes() {
    return capacityBytes;
  }

  /** Bytes of records that may still be appended. */
  long roomBytes() {
    return Math.max(0, Math.min(reservedEnd, capacityBytes) - end - SLACK_BYTES);
  }

  /** Appends a record. The caller has made sure that it is at most {@link #roomBytes} long. */
  void append(RecordEncoder encoder, int length) {
    try (DocumentContext document = appender.writingDocument()) {
      Bytes<?> bytes = Objects.requireNonNull(document.wire()).bytes();
      bytes.write(encoder.array(), 0, length);
      end = bytes.writePosition();
    }
  }

  /** Reserves up to {@code to} bytes of the file; false when the disk has no room. */
  boolean extend(long to) throws IOException {
    long target = Math.min(to, capacityBytes);
    long from = reservedEnd;
    if (target <= from) {
      return true;
    }
    if (!reserver.reserve(facts, from, target)) {
      return false;
    }
    reservedEnd = target;
    return true;
  }

  /** Writes what was appended to the disk itself. */
  void flush() throws IOException {
    channel.force(false);
  }

  /** Ends the part: closes the queue, gives unused blocks back and writes the rest to the disk. */
  void release() throws IOException {
    queue.close();
    channel.truncate(Math.min(channel.size(), end + SLACK_BYTES));
    channel.force(true);
    channel.close();
  }

  /** Ends a part that holds no fact, and deletes it. */
  void discard() throws IOException {
    queue.close();
    channel.close();
    Layout.deletePart(path);
  }
}
