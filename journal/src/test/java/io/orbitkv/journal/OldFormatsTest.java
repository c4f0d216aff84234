package io.orbitkv.journal;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.state.Effects;
import io.orbitkv.state.Fact;
import io.orbitkv.state.HostEvent;
import io.orbitkv.state.HostState;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.Properties;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Replays journals that earlier formats wrote. A file here is made once, when its format is
 * released, and never changed again: {@code OldFormatsTest.main} with a version and the resource
 * folder writes {@code VERSION.zip} and {@code VERSION.properties} with what must come out. The
 * version is that of the checkpoint in it: the first of a host without an SSD tier, the second of
 * one with a tier, the third of one whose pool outlives its daemons, the fourth of one that works
 * with others.
 */
class OldFormatsTest {
  private static final List<String> VERSIONS = List.of("v1", "v2", "v3", "v4");

  private static final int CHECKPOINT_MAGIC_BYTES = 8;
  private static final int FRAME_LENGTH_BYTES = 4;
  private static final int SNAPSHOT_MAGIC_BYTES = 4;

  @TempDir Path temporary;

  @Test
  void shouldReplayEveryReleasedFormat() throws Exception {
    for (String version : VERSIONS) {
      Path dir = temporary.resolve(version);
      unzip(version, dir);
      assertEquals(version, "v" + snapshotVersion(dir));
      Properties expected = new Properties();
      try (InputStream in = resource(version + ".properties")) {
        expected.load(in);
      }
      for (ReplayOptions options : List.of(ReplayOptions.QUICK, ReplayOptions.VERIFY)) {
        Replay replay = Replayer.run(JournalReader.open(dir), options, ReplayHooks.NONE);
        assertTrue(replay.clean(), version + ": " + replay.ending());
        assertEquals(List.of(), replay.damagedCheckpoints(), version);
        assertEquals(expected.getProperty("position"), "" + replay.state().position(), version);
        assertEquals(
            expected.getProperty("digest"), Long.toHexString(replay.state().digest()), version);
        boolean quick = options.start() == ReplayOptions.Start.NEWEST_CHECKPOINT;
        assertEquals(
            quick ? expected.getProperty("checkpoint") : "0",
            "" + replay.checkpointPosition(),
            version);
      }
    }
  }

  /** What the checkpoint's snapshot says behind the magic numbers of both. */
  private static int snapshotVersion(Path dir) throws IOException {
    byte[] file = Files.readAllBytes(Layout.checkpoints(dir).lastEntry().getValue());
    return file[CHECKPOINT_MAGIC_BYTES + FRAME_LENGTH_BYTES + SNAPSHOT_MAGIC_BYTES];
  }

  /** Two daemon runs, the second after a crash, and a checkpoint between them. */
  static void main(String[] arguments) throws Exception {
    String version = arguments[0];
    Path resources = Path.of(arguments[1]);
    Path dir = Files.createTempDirectory("journal");
    long checkpoint = 0;
    Properties expected = new Properties();
    for (int run = 0; run < 2; run++) {
      Recovered recovered = Recovery.open(dir, TestJournals.small(), Samples.AT_MICROS);
      if (!(recovered instanceof Recovered.Opened opened)) {
        throw new IllegalStateException(recovered.toString());
      }
      HostState state = opened.state();
      try (Journal journal = opened.journal()) {
        if (version.equals("v1")) {
          workload(new Workload(run, 64, state), journal);
        } else {
          boolean keepsPool = version.compareTo("v3") >= 0;
          new TierScript(state, keepsPool, event -> apply(event, state, journal)).run();
          if (version.equals("v4")) {
            new PeerScript(state, event -> apply(event, state, journal)).run();
          }
        }
      }
      if (run == 0) {
        checkpoint = state.position();
        Checkpoint.write(dir, JournalReader.open(dir).journalId().orElseThrow(), state);
      }
      expected.setProperty("position", "" + state.position());
      expected.setProperty("checkpoint", "" + checkpoint);
      expected.setProperty("digest", Long.toHexString(state.digest()));
    }
    try (ZipOutputStream zip =
            new ZipOutputStream(Files.newOutputStream(resources.resolve(version + ".zip")));
        Stream<Path> files = Files.walk(dir)) {
      for (Path file : files.filter(Files::isRegularFile).sorted().toList()) {
        zip.putNextEntry(new ZipEntry(dir.relativize(file).toString()));
        Files.copy(file, zip);
        zip.closeEntry();
      }
    }
    try (var out = Files.newOutputStream(resources.resolve(version + ".properties"))) {
      expected.store(out, "what the journal of format " + version + " folds to");
    }
  }

  private static void workload(Workload workload, Journal journal) {
    for (int i = 0; i < 300; i++) {
      Fact fact = workload.next(Samples.AT_MICROS + workload.state().position() + 1);
      journal.append(fact.atMicros(), fact.event());
    }
  }

  private static void apply(HostEvent event, HostState state, Journal journal) {
    long atMicros = Samples.AT_MICROS + state.position() + 1;
    state.apply(new Fact(journal.append(atMicros, event), atMicros, event), Effects.NONE);
  }

  private static void unzip(String version, Path dir) throws IOException {
    try (ZipInputStream zip = new ZipInputStream(resource(version + ".zip"))) {
      for (ZipEntry entry; (entry = zip.getNextEntry()) != null; ) {
        Path file = dir.resolve(entry.getName());
        Files.createDirectories(Objects.requireNonNull(file.getParent()));
        Files.copy(zip, file);
      }
    }
  }

  private static InputStream resource(String name) {
    return Objects.requireNonNull(
        OldFormatsTest.class.getResourceAsStream("/journals/" + name), name);
  }
}
