package io.orbitkv.state;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Checkpoints: equal after a round trip, refused with a reason when anything is wrong. */
class HostSnapshotTest {
  private static final List<String> STORY =
      List.of(
          "epoch 3 pool=4096",
          "bind 1 chat shards=2 groups=0,1r",
          "bind 2 code groups=0",
          "register 1 engine in=1",
          "register 2 coder in=2",
          "open 1 of=1 shard=0",
          "open 2 of=1 shard=1 role=SAVE",
          "open 3 of=2",
          "reserve 1 by=1 shard=0 blocks=1..2 from=1 keys=aa,ab at=0,64",
          "publish 1 sums=-1,2",
          "reserve 2 by=2 shard=1 blocks=1 at=128",
          "publish 2 sums=3",
          "reserve 3 by=3 blocks=3..4 from=3 keys=aabb,aacc at=192,256",
          "publish 3 sums=4,5",
          "lease 1 by=3 hold=0:3..4",
          "restore 1 by=3 lease=1",
          "ticket 1 by=1 awaits=2",
          "evict 3",
          "reserve 4 by=3 blocks=5 from=5 keys=aabb at=320",
          "open 4 of=1 shard=0 supersedes=1",
          "refuse by=1 STALE");

  private final HostState state = new HostState();

  HostSnapshotTest() {
    for (String line : STORY) {
      apply(state, line);
    }
  }

  @Test
  void shouldComeBackEqualAndGoOn() throws IOException {
    HostState read = read(write(state));
    assertEquals(StateText.print(state), StateText.print(read));
    assertEquals(state.digest(), read.digest());
    HostInvariants.checkDeep(read);
    for (String line :
        List.of("restored 1 DONE", "release 1", "publish 4 sums=9", "settle 1 MISS")) {
      apply(state, line);
      apply(read, line);
      assertEquals(state.digest(), read.digest());
    }
    assertTrue(Arrays.equals(write(state), write(read)), "two writings of equal states are equal");
  }

  @Test
  void shouldComeBackEmpty() throws IOException {
    HostState read = read(write(new HostState()));
    assertEquals(new HostState().digest(), read.digest());
    assertEquals(0, read.position());
  }

  @Test
  void shouldLeaveWhatFollowsUnread() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    state.writeTo(new DataOutputStream(bytes));
    bytes.write(77);
    DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes.toByteArray()));
    HostState.readFrom(in);
    assertEquals(77, in.read());
  }

  @Test
  void shouldRefuseEveryCut() throws IOException {
    byte[] whole = write(state);
    for (int length = 0; length < whole.length; length++) {
      byte[] cut = Arrays.copyOf(whole, length);
      assertThrows(DamagedSnapshot.class, () -> read(cut));
    }
  }

  @Test
  void shouldRefuseEveryFlippedBit() throws IOException {
    byte[] whole = write(state);
    for (int bit = 0; bit < whole.length * 8; bit++) {
      byte[] damaged = whole.clone();
      damaged[bit / 8] ^= (byte) (1 << (bit % 8));
      assertThrows(DamagedSnapshot.class, () -> read(damaged));
    }
  }

  @Test
  void shouldSayWhatIsWrong() throws IOException {
    byte[] whole = write(state);
    byte[] damaged = whole.clone();
    damaged[20] ^= 1;
    assertEquals("frame 0 fails its CRC32C", refusal(damaged));
    assertEquals("it is cut in frame 0", refusal(Arrays.copyOf(whole, 100)));
    assertEquals("it is cut after frame 1", refusal(Arrays.copyOf(whole, whole.length - 1)));
    ByteArrayOutputStream other = new ByteArrayOutputStream();
    FrameWriter newer = new FrameWriter(new DataOutputStream(other));
    newer.bytes(new byte[] {'O', 'K', 'H', 'S', 9}, 0, 5);
    newer.end();
    assertEquals(
        "it has version 9; this build reads versions 1 to 4", refusal(other.toByteArray()));
    other.reset();
    FrameWriter alien = new FrameWriter(new DataOutputStream(other));
    alien.text("something else");
    alien.end();
    assertEquals("it is no checkpoint of a host state", refusal(other.toByteArray()));
  }

  @Test
  void shouldCrossFrames() throws IOException {
    Random random = new Random(1);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    FrameWriter to = new FrameWriter(new DataOutputStream(bytes));
    byte[] chunk = new byte[100_000];
    random.nextBytes(chunk);
    for (int i = 0; i < 20_000; i++) {
      to.varint(i % 64 == 0 ? -1 : 1L << (i % 63));
      to.fixed(i);
    }
    to.bytes(chunk, 0, chunk.length);
    to.end();
    FrameReader from =
        new FrameReader(new DataInputStream(new ByteArrayInputStream(bytes.toByteArray())));
    for (int i = 0; i < 20_000; i++) {
      assertEquals(i % 64 == 0 ? -1 : 1L << (i % 63), from.varint());
      assertEquals(i, from.fixed());
    }
    byte[] read = new byte[chunk.length];
    from.bytes(read, read.length);
    assertTrue(Arrays.equals(chunk, read));
    from.end();
  }

  private static void apply(HostState state, String line) {
    long position = state.position() + 1;
    state.apply(new Fact(position, position, FactText.parse(line)), Effects.NONE);
  }

  private static byte[] write(HostState state) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    state.writeTo(new DataOutputStream(bytes));
    return bytes.toByteArray();
  }

  private static HostState read(byte[] bytes) throws IOException {
    return HostState.readFrom(new DataInputStream(new ByteArrayInputStream(bytes)));
  }

  private static String refusal(byte[] bytes) {
    return String.valueOf(assertThrows(DamagedSnapshot.class, () -> read(bytes)).getMessage());
  }
}
