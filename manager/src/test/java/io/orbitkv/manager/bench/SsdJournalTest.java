package io.orbitkv.manager.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.journal.JournalReader;
import io.orbitkv.journal.Replay;
import io.orbitkv.journal.ReplayHooks;
import io.orbitkv.journal.ReplayOptions;
import io.orbitkv.journal.Replayer;
import io.orbitkv.manager.workload.ManagerProcess;
import io.orbitkv.manager.workload.ScratchDir;
import io.orbitkv.state.HostInvariants;
import io.orbitkv.state.HostState;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class SsdJournalTest {
  private static final int EXTENTS = 6_000;
  private static final int TAIL_FACTS = 9_000;

  private ScratchDir scratch;

  @BeforeEach
  void make() {
    scratch = ScratchDir.create("orbitkv-ssd-journal-");
  }

  @AfterEach
  void delete() {
    scratch.close();
  }

  @Test
  void shouldFoldToAFullTierOnSsd() throws Exception {
    Path journal = scratch.path().resolve("journal");

    SsdJournal written =
        SsdJournal.write(journal, scratch.path().resolve("ssd"), EXTENTS, TAIL_FACTS);

    for (ReplayOptions options : List.of(ReplayOptions.QUICK, ReplayOptions.VERIFY)) {
      Replay replay = Replayer.run(JournalReader.open(journal), options, ReplayHooks.NONE);
      assertTrue(replay.clean(), () -> "ended " + replay.ending());
      HostState state = replay.state();
      HostInvariants.checkDeep(state);
      assertEquals(written.facts(), state.position());
      assertTrue(state.ssdExtents() >= EXTENTS - 31, "extents: " + state.ssdExtents());
      assertTrue(state.ssdOnlyBlocks() >= EXTENTS * 0.9, "on SSD only: " + state.ssdOnlyBlocks());
      if (options.equals(ReplayOptions.QUICK)) {
        assertEquals(written.tailFacts(), replay.facts());
      }
    }
    assertEquals(TAIL_FACTS, written.tailFacts());
  }

  @Test
  void shouldBeServedFromSsdByAManagerThatStartsOnIt() throws Exception {
    Path manager = Files.createDirectory(scratch.path().resolve("m"));
    Path ssd = scratch.path().resolve("ssd");
    SsdJournal written = SsdJournal.write(manager.resolve("journal"), ssd, EXTENTS, TAIL_FACTS);
    assertTrue(written.samples().size() > 20, "samples: " + written.samples());

    List<String> flags =
        List.of(
            "--pool-size",
            "64mb",
            "--ssd-cache-path",
            ssd.toString(),
            "--ssd-cache-capacity",
            Files.size(ssd) + "b");
    try (ManagerProcess process = ManagerProcess.start(manager, flags, List.of())) {
      StoredSamples.ask(process.socket(), written.samples());
    }
  }
}
