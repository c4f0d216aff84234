package io.orbitkv.manager;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.state.HostEvent;
import io.orbitkv.state.HostEvent.LoadFailure;
import io.orbitkv.state.HostEvent.TierTrouble;
import io.orbitkv.state.LongRanges;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class TroubleLogTest {
  private final List<String> lines = new ArrayList<>();
  private long nanos = 1;
  private final TroubleLog log = new TroubleLog(() -> nanos, lines::add);

  @Test
  void shouldTellDamageOnceASecondAndHowMuchWasLeftOut() {
    for (int i = 0; i < 10; i++) {
      log.appended(new HostEvent.VerifyFailed(7, 0, 3, 1, 2));
      log.appended(
          new HostEvent.LoadFailed(LongRanges.of(1, 4), LoadFailure.CHECKSUM, "another checksum"));
      nanos += 200_000_000L;
    }
    assertEquals(4, lines.size(), lines.toString());
    assertTrue(lines.get(0).startsWith("restore: block 7 "), lines.get(0));
    assertTrue(lines.get(1).endsWith("are misses: another checksum"), lines.get(1));
    assertTrue(lines.get(2).contains("and 4 more"), lines.get(2));
  }

  @Test
  void shouldTellWhatBeginsAndEnds() {
    log.appended(new HostEvent.TierDegraded(TierTrouble.HANGS, "no operation ended"));
    log.appended(new HostEvent.TierRecovered(TierTrouble.HANGS));
    for (boolean room : new boolean[] {true, false, false, true, true}) {
      log.room(room);
    }
    assertEquals(
        List.of(
            "SSD tier: HANGS: no operation ended",
            "SSD tier: well again, it was HANGS",
            "journal: no room on its disk: publishes, leases and restores are refused until there is",
            "journal: there is room again"),
        lines);
  }

  @Test
  void shouldKeepSilentOfWhatIsInOrder() {
    log.appended(new HostEvent.EpochEnded(1, "test"));
    log.appended(new HostEvent.VerifyFailed(7, 0, 0, 1, 2));
    log.appended(new HostEvent.LoadFailed(LongRanges.of(1, 1), LoadFailure.CANCELLED, ""));
    assertEquals(List.of(), lines);
  }
}
