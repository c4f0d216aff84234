package io.orbitkv.transfer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What every engine does, whatever carries its bytes. */
public abstract class TransferContract {
  protected static final long POOL_BYTES = 16L << 20;
  protected static final Duration LONG = Duration.ofSeconds(20);

  /** Only read, and the same for every test. */
  private static final MemorySegment POOL = Pattern.pool(Arena.global(), POOL_BYTES);

  protected Arena arena;
  protected TransferEngine source;
  protected TransferEngine reader;

  /** An engine of its own runtime that knows the same token. */
  protected abstract TransferEngine start(MemorySegment pool) throws IOException;

  @BeforeEach
  @SuppressWarnings("MustBeClosed") // Closed after each test.
  void startTwo() throws IOException {
    arena = Arena.ofShared();
    source = start(POOL);
    reader = start(arena.allocate(4096, 4096));
  }

  @AfterEach
  void closeBoth() {
    reader.close();
    source.close();
    TransferStats stats = reader.stats();
    assertEquals(0, stats.bytesInFlight());
    assertEquals(0, stats.readsInQuarantine());
    assertEquals(0, stats.outboundConnections());
    assertEquals(0, source.stats().inboundConnections());
    assertEquals(0, source.stats().grantedReads());
    arena.close();
  }

  @Test
  void shouldReadWhatWasGranted() {
    for (long length : new long[] {1, 24, 8191, 65_536, 1 << 20, (4 << 20) + 13, 9 << 20}) {
      PoolRange range = new PoolRange(4096 + (length & 7), length);
      Grant grant = grant(range);
      RangeRead read = into(range);
      Receipt receipt =
          done(reader.read(source.endpoint(), grant, List.of(read), this::holds, LONG));
      assertEquals(length, receipt.bytes());
      assertEquals(-1, Pattern.mismatch(read.destination(), range), length + " bytes");
      assertEquals(1, source.grants().revoke(grant.id()).join().reads() > 0 ? 1 : 0);
    }
    assertEquals(0, source.grants().size());
  }

  @Test
  void shouldScatterManyRanges() {
    Random random = new Random(7);
    List<RangeRead> reads = new ArrayList<>();
    List<PoolRange> ranges = new ArrayList<>();
    for (int i = 0; i < 1500; i++) {
      PoolRange range = new PoolRange(random.nextInt(15 << 20), 1 + random.nextInt(20_000));
      ranges.add(range);
      reads.add(into(range));
    }
    Grant grant = grant(ranges.toArray(PoolRange[]::new));
    Receipt receipt = done(reader.read(source.endpoint(), grant, reads, this::holds, LONG));
    assertEquals(1500, receipt.ranges());
    for (RangeRead each : reads) {
      assertEquals(-1, Pattern.mismatch(each.destination(), each.source()));
    }
  }

  @Test
  void shouldServeManyReadsAtOnce() {
    PoolRange all = new PoolRange(0, POOL_BYTES);
    Grant grant = grant(all);
    List<TransferRead> reads = new ArrayList<>();
    for (int i = 0; i < 64; i++) {
      PoolRange range = new PoolRange(i * 4099L, 300_000);
      reads.add(reader.read(source.endpoint(), grant, List.of(into(range)), this::holds, LONG));
    }
    reads.forEach(TransferContract::done);
  }

  @Test
  void shouldRefuseWhatNoLiveGrantCovers() throws Exception {
    PoolRange range = new PoolRange(8192, 4096);
    Grant good = grant(range);
    refused(Refusal.UNKNOWN_GRANT, copyOf(good, UUID.randomUUID(), good.secret(), good.runtime()));
    refused(
        Refusal.WRONG_SECRET,
        copyOf(good, good.id(), new Secret(good.secret().high(), 1), good.runtime()));
    refused(Refusal.FOREIGN_RUNTIME, copyOf(good, good.id(), good.secret(), UUID.randomUUID()));
    refused(Refusal.OUTSIDE_GRANT, good, new PoolRange(8191, 4096));
    refused(Refusal.OUTSIDE_GRANT, good, new PoolRange(8193, 4096));
    refused(Refusal.OUTSIDE_GRANT, good, new PoolRange(1L << 50, 1));
    Grant brief = source.grants().open(List.of(range), Duration.ofNanos(1)).orElseThrow();
    refused(Refusal.EXPIRED, brief);
    assertEquals(List.of(brief.id()), source.grants().expired());
    source.grants().revoke(good.id()).get(1, TimeUnit.SECONDS);
    refused(Refusal.UNKNOWN_GRANT, good);
    assertEquals(0, source.stats().bytesServed());
    assertEquals(3, source.stats().refusals().get(Refusal.OUTSIDE_GRANT));
    assertEquals(1, source.stats().refusals().get(Refusal.EXPIRED));
  }

  @Test
  void shouldNotTakeBytesThatDoNotHold() {
    PoolRange range = new PoolRange(0, 1 << 20);
    TransferRead read =
        reader.read(
            source.endpoint(),
            grant(range, new PoolRange(1 << 20, 5)),
            List.of(into(range), into(new PoolRange(1 << 20, 5))),
            (index, of, bytes) -> index == 0,
            LONG);
    assertEquals(new TransferFailure.Corrupt(1, new PoolRange(1 << 20, 5)), read.outcome().join());
    read.released().join();
  }

  @Test
  void shouldRefuseAnotherRunOfTheSource() {
    PeerEndpoint other =
        new PeerEndpoint(source.endpoint().host(), source.endpoint().port(), UUID.randomUUID());
    PoolRange range = new PoolRange(0, 64);
    assertEquals(
        new TransferFailure.Refused(Refusal.WRONG_RUNTIME),
        ended(reader.read(other, grant(range), List.of(into(range)), this::holds, LONG)));
    assertEquals(1, source.stats().refusals().get(Refusal.WRONG_RUNTIME));
  }

  @Test
  void shouldEndReadsWhenTheEngineIsClosed() throws IOException {
    PoolRange range = new PoolRange(0, POOL_BYTES);
    Grant grant = grant(range);
    List<TransferRead> reads = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      reads.add(reader.read(source.endpoint(), grant, List.of(into(range)), this::holds, LONG));
    }
    reader.close();
    for (TransferRead each : reads) {
      assertTrue(each.outcome().isDone());
      assertTrue(each.released().isDone());
    }
    assertInstanceOf(
        TransferFailure.Closed.class,
        ended(reader.read(source.endpoint(), grant, List.of(into(range)), this::holds, LONG)));
    source.grants().revoke(grant.id()).orTimeout(5, TimeUnit.SECONDS).join();
  }

  protected void refused(Refusal refusal, Grant grant) {
    refused(refusal, grant, grant.ranges().getFirst());
  }

  private void refused(Refusal refusal, Grant grant, PoolRange range) {
    RangeRead read = into(range.length() > 1 << 20 ? new PoolRange(range.offset(), 1) : range);
    assertEquals(
        new TransferFailure.Refused(refusal),
        ended(reader.read(source.endpoint(), grant, List.of(read), this::holds, LONG)));
    assertEquals(0, read.destination().get(java.lang.foreign.ValueLayout.JAVA_BYTE, 0));
  }

  protected Grant grant(PoolRange... ranges) {
    return source.grants().open(List.of(ranges), Duration.ofMinutes(1)).orElseThrow();
  }

  protected RangeRead into(PoolRange range) {
    return new RangeRead(range, arena.allocate(range.length()));
  }

  protected boolean holds(int index, PoolRange range, MemorySegment bytes) {
    return Pattern.mismatch(bytes, range) < 0;
  }

  protected static Receipt done(TransferRead read) {
    return assertInstanceOf(Receipt.class, ended(read));
  }

  protected static ReadOutcome ended(TransferRead read) {
    ReadOutcome outcome = read.outcome().orTimeout(30, TimeUnit.SECONDS).join();
    read.released().orTimeout(30, TimeUnit.SECONDS).join();
    assertFalse(read.outcome().isCompletedExceptionally());
    return outcome;
  }

  protected static Grant copyOf(Grant grant, UUID id, Secret secret, UUID runtime) {
    return new Grant(id, secret, runtime, grant.ranges(), grant.validFor());
  }
}
