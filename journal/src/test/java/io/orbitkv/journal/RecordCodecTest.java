package io.orbitkv.journal;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Message;
import com.google.protobuf.Parser;
import io.orbitkv.journal.proto.BlocksAdopted;
import io.orbitkv.journal.proto.BlocksDemoted;
import io.orbitkv.journal.proto.BlocksEvicted;
import io.orbitkv.journal.proto.BlocksKept;
import io.orbitkv.journal.proto.BlocksLoaded;
import io.orbitkv.journal.proto.BlocksLoading;
import io.orbitkv.journal.proto.BlocksNotAdopted;
import io.orbitkv.journal.proto.DigestRecorded;
import io.orbitkv.journal.proto.EpochEnded;
import io.orbitkv.journal.proto.EpochStarted;
import io.orbitkv.journal.proto.GrantClosed;
import io.orbitkv.journal.proto.GrantOpened;
import io.orbitkv.journal.proto.InstanceCleaned;
import io.orbitkv.journal.proto.InstanceRegistered;
import io.orbitkv.journal.proto.LayersBound;
import io.orbitkv.journal.proto.LeaseGranted;
import io.orbitkv.journal.proto.LeaseReleased;
import io.orbitkv.journal.proto.LoadFailed;
import io.orbitkv.journal.proto.NamespaceBound;
import io.orbitkv.journal.proto.NamespaceUnbound;
import io.orbitkv.journal.proto.PlacementSeen;
import io.orbitkv.journal.proto.PoolOpened;
import io.orbitkv.journal.proto.PublishAborted;
import io.orbitkv.journal.proto.QueryMissed;
import io.orbitkv.journal.proto.RegistrationRefused;
import io.orbitkv.journal.proto.RemoteReadBegun;
import io.orbitkv.journal.proto.RemoteReadEnded;
import io.orbitkv.journal.proto.RemoteReadQuarantined;
import io.orbitkv.journal.proto.RequestRefused;
import io.orbitkv.journal.proto.RestoreFinished;
import io.orbitkv.journal.proto.RestoreStarted;
import io.orbitkv.journal.proto.SessionClosed;
import io.orbitkv.journal.proto.SessionOpened;
import io.orbitkv.journal.proto.SlicesPublished;
import io.orbitkv.journal.proto.SlicesReserved;
import io.orbitkv.journal.proto.SsdEvicted;
import io.orbitkv.journal.proto.SsdSkipped;
import io.orbitkv.journal.proto.SsdTierOpened;
import io.orbitkv.journal.proto.SsdWritten;
import io.orbitkv.journal.proto.TicketClosed;
import io.orbitkv.journal.proto.TicketOpened;
import io.orbitkv.journal.proto.TierDegraded;
import io.orbitkv.journal.proto.TierRecovered;
import io.orbitkv.journal.proto.VerifyFailed;
import io.orbitkv.state.Fact;
import io.orbitkv.state.HostEvent;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

class RecordCodecTest {
  private static final VarHandle INTS =
      MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);
  private static final VarHandle SHORTS =
      MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);

  /** The generated class of every fact type: protoc's own reading of the schema. */
  private static final Map<Integer, Parser<? extends Message>> GENERATED =
      Map.ofEntries(
          Map.entry(FactType.EPOCH_STARTED, EpochStarted.parser()),
          Map.entry(FactType.EPOCH_ENDED, EpochEnded.parser()),
          Map.entry(FactType.NAMESPACE_BOUND, NamespaceBound.parser()),
          Map.entry(FactType.NAMESPACE_UNBOUND, NamespaceUnbound.parser()),
          Map.entry(FactType.INSTANCE_REGISTERED, InstanceRegistered.parser()),
          Map.entry(FactType.INSTANCE_CLEANED, InstanceCleaned.parser()),
          Map.entry(FactType.SESSION_OPENED, SessionOpened.parser()),
          Map.entry(FactType.SESSION_CLOSED, SessionClosed.parser()),
          Map.entry(FactType.SLICES_RESERVED, SlicesReserved.parser()),
          Map.entry(FactType.SLICES_PUBLISHED, SlicesPublished.parser()),
          Map.entry(FactType.PUBLISH_ABORTED, PublishAborted.parser()),
          Map.entry(FactType.BLOCKS_EVICTED, BlocksEvicted.parser()),
          Map.entry(FactType.LEASE_GRANTED, LeaseGranted.parser()),
          Map.entry(FactType.LEASE_RELEASED, LeaseReleased.parser()),
          Map.entry(FactType.TICKET_OPENED, TicketOpened.parser()),
          Map.entry(FactType.TICKET_CLOSED, TicketClosed.parser()),
          Map.entry(FactType.RESTORE_STARTED, RestoreStarted.parser()),
          Map.entry(FactType.RESTORE_FINISHED, RestoreFinished.parser()),
          Map.entry(FactType.QUERY_MISSED, QueryMissed.parser()),
          Map.entry(FactType.REQUEST_REFUSED, RequestRefused.parser()),
          Map.entry(FactType.REGISTRATION_REFUSED, RegistrationRefused.parser()),
          Map.entry(FactType.VERIFY_FAILED, VerifyFailed.parser()),
          Map.entry(FactType.DIGEST_RECORDED, DigestRecorded.parser()),
          Map.entry(FactType.SSD_TIER_OPENED, SsdTierOpened.parser()),
          Map.entry(FactType.LAYERS_BOUND, LayersBound.parser()),
          Map.entry(FactType.SSD_WRITTEN, SsdWritten.parser()),
          Map.entry(FactType.SSD_EVICTED, SsdEvicted.parser()),
          Map.entry(FactType.BLOCKS_DEMOTED, BlocksDemoted.parser()),
          Map.entry(FactType.BLOCKS_LOADING, BlocksLoading.parser()),
          Map.entry(FactType.BLOCKS_LOADED, BlocksLoaded.parser()),
          Map.entry(FactType.LOAD_FAILED, LoadFailed.parser()),
          Map.entry(FactType.TIER_DEGRADED, TierDegraded.parser()),
          Map.entry(FactType.TIER_RECOVERED, TierRecovered.parser()),
          Map.entry(FactType.SSD_SKIPPED, SsdSkipped.parser()),
          Map.entry(FactType.POOL_OPENED, PoolOpened.parser()),
          Map.entry(FactType.BLOCKS_KEPT, BlocksKept.parser()),
          Map.entry(FactType.BLOCKS_ADOPTED, BlocksAdopted.parser()),
          Map.entry(FactType.BLOCKS_NOT_ADOPTED, BlocksNotAdopted.parser()),
          Map.entry(FactType.GRANT_OPENED, GrantOpened.parser()),
          Map.entry(FactType.GRANT_CLOSED, GrantClosed.parser()),
          Map.entry(FactType.REMOTE_READ_BEGUN, RemoteReadBegun.parser()),
          Map.entry(FactType.REMOTE_READ_QUARANTINED, RemoteReadQuarantined.parser()),
          Map.entry(FactType.REMOTE_READ_ENDED, RemoteReadEnded.parser()),
          Map.entry(FactType.PLACEMENT_SEEN, PlacementSeen.parser()));

  private final RecordEncoder encoder = new RecordEncoder();
  private final RecordView view = new RecordView();

  @Test
  void shouldReadBackEveryFact() {
    long position = 1;
    for (HostEvent event : Samples.all()) {
      byte[] record = record(position, event);
      assertNull(view.damage(record, 0, record.length));
      assertEquals(new Fact(position, Samples.AT_MICROS, event), view.fact());
      position++;
    }
  }

  @Test
  void shouldSampleEveryFactType() {
    Set<Class<?>> sampled = new HashSet<>();
    Samples.all().forEach(event -> sampled.add(event.getClass()));
    assertEquals(GENERATED.size(), sampled.size());
    assertAllSampled(HostEvent.class, sampled);
  }

  private static void assertAllSampled(Class<?> parent, Set<Class<?>> sampled) {
    for (Class<?> type : parent.getPermittedSubclasses()) {
      if (type.isInterface()) {
        assertAllSampled(type, sampled);
      } else {
        assertTrue(sampled.contains(type), type.getSimpleName());
      }
    }
  }

  @Test
  void shouldWriteWhatTheGeneratedClassesWrite() throws Exception {
    for (HostEvent event : Samples.all()) {
      byte[] record = record(1, event);
      byte[] payload =
          Arrays.copyOfRange(
              record, RecordFormat.PAYLOAD_AT, record.length - RecordFormat.CRC_BYTES);
      Message message =
          Objects.requireNonNull(GENERATED.get(FactType.of(event))).parseFrom(payload);
      assertTrue(message.getUnknownFields().asMap().isEmpty(), event.toString());
      assertArrayEquals(message.toByteArray(), payload, event.toString());
      assertNamedConstants(message);
      assertEquals(event.getClass().getSimpleName(), message.getClass().getSimpleName());
    }
  }

  /** The schema has a name for every enum constant that is written. */
  private static void assertNamedConstants(Message message) {
    for (Object value : message.getAllFields().values()) {
      for (Object one : value instanceof List<?> many ? many : List.of(value)) {
        if (one instanceof EnumValueDescriptor constant) {
          assertTrue(constant.getIndex() >= 0, constant.getFullName());
        } else if (one instanceof Message nested) {
          assertNamedConstants(nested);
        }
      }
    }
  }

  @Test
  void shouldNameEnumsAsTheSchemaDoes() throws Exception {
    byte[] record = record(1, new HostEvent.TicketClosed(9, HostEvent.TicketEnd.SESSION_CLOSED, 0));
    byte[] payload =
        Arrays.copyOfRange(record, RecordFormat.PAYLOAD_AT, record.length - RecordFormat.CRC_BYTES);
    assertEquals(
        io.orbitkv.journal.proto.TicketEnd.TICKET_SESSION_CLOSED,
        TicketClosed.parseFrom(payload).getOutcome());
  }

  @Test
  void shouldKeepALongLeaseUnderAHundredBytes() {
    int bytes = record(1L << 40, Samples.longLease()).length;
    System.out.println("lease of 2,048 blocks published together: " + bytes + " bytes");
    assertTrue(bytes < 100, bytes + " bytes");
  }

  @Test
  void shouldReadBackTheFirstRecordOfAPart() {
    PartOpened opened = new PartOpened(UUID.fromString("00112233-4455-6677-8899-aabbccddeeff"), 12);
    int length = encoder.partOpened(opened, 5);
    assertNull(view.damage(encoder.array(), 0, length));
    assertEquals(FactType.PART_OPENED, view.type());
    assertEquals(opened, view.partOpened());
  }

  @Test
  void shouldNoticeEveryFlippedBit() {
    byte[] record = record(77, Samples.longLease());
    for (int bit = 0; bit < record.length * 8; bit++) {
      record[bit / 8] ^= (byte) (1 << bit % 8);
      assertNotNull(view.damage(record, 0, record.length), "bit " + bit);
      record[bit / 8] ^= (byte) (1 << bit % 8);
    }
    assertNull(view.damage(record, 0, record.length));
  }

  @Test
  void shouldNoticeEveryTruncation() {
    byte[] record = record(77, Samples.longLease());
    for (int length = 0; length < record.length; length++) {
      assertNotNull(view.damage(record, 0, length), length + " bytes");
    }
  }

  @Test
  void shouldRefuseARecordTypeOfANewerVersion() {
    byte[] record = record(1, Samples.longLease());
    SHORTS.set(record, RecordFormat.TYPE_AT, (short) 4711);
    reseal(record);
    UnreadableRecord refusal = assertThrows(UnreadableRecord.class, view::fact);
    assertEquals(
        "record type 4711 is not known to this version: use a newer orbitkv", refusal.getMessage());
  }

  @Test
  void shouldRefuseANewerRecordFormat() {
    byte[] record = record(1, Samples.longLease());
    record[RecordFormat.FORMAT_AT] = 2;
    reseal(record);
    UnreadableRecord refusal = assertThrows(UnreadableRecord.class, view::fact);
    assertTrue(String.valueOf(refusal.getMessage()).contains("use a newer orbitkv"));
  }

  @Test
  void shouldRefuseAnUnknownFieldAndAnUnknownEnumConstant() {
    byte[] released = record(1, new HostEvent.LeaseReleased(1, HostEvent.LeaseEnd.RESTART));
    released[RecordFormat.PAYLOAD_AT + 3] = 99;
    reseal(released);
    assertTrue(
        String.valueOf(assertThrows(UnreadableRecord.class, view::fact).getMessage())
            .contains("LeaseEnd 99 is not known"));

    byte[] unknownField = record(1, new HostEvent.LeaseReleased(1, HostEvent.LeaseEnd.RESTART));
    unknownField[RecordFormat.PAYLOAD_AT + 2] = 15 << 3;
    reseal(unknownField);
    assertTrue(
        String.valueOf(assertThrows(UnreadableRecord.class, view::fact).getMessage())
            .contains("LeaseReleased has field 15"));
  }

  /**
   * Whole records with senseless payloads are refused; nothing else may come out of the decoder.
   */
  @Test
  void shouldRefuseOrReadMutatedPayloads() {
    long seed = Long.getLong("orbitkv.seed", System.nanoTime());
    Random random = new Random(seed);
    try {
      for (HostEvent event : Samples.all()) {
        byte[] original = record(1, event);
        for (int round = 0; round < 200; round++) {
          byte[] record = original.clone();
          int payload = record.length - RecordFormat.OVERHEAD_BYTES;
          for (int i = 0; i < 1 + round % 4 && payload > 0; i++) {
            record[RecordFormat.PAYLOAD_AT + random.nextInt(Math.min(payload, 200))] =
                (byte) random.nextInt();
          }
          reseal(record);
          try {
            assertNotNull(view.fact());
          } catch (UnreadableRecord e) {
            assertNotNull(e.getMessage());
          }
        }
      }
    } catch (RuntimeException e) {
      throw new AssertionError(
          "repeat with: mvn -pl journal -am test -Dtest=RecordCodecTest -Dorbitkv.seed=" + seed, e);
    }
  }

  private byte[] record(long position, HostEvent event) {
    int length = encoder.fact(position, Samples.AT_MICROS, event);
    return Arrays.copyOf(encoder.array(), length);
  }

  /** Gives a changed record a right sum again and looks at it. */
  private void reseal(byte[] record) {
    int end = record.length - RecordFormat.CRC_BYTES;
    CRC32C crc = new CRC32C();
    crc.update(record, 0, end);
    INTS.set(record, end, (int) crc.getValue());
    assertNull(view.damage(record, 0, record.length));
  }
}
