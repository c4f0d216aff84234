package io.orbitkv.manager.replay;

import static io.orbitkv.manager.replay.JournalScript.answer;
import static io.orbitkv.manager.replay.JournalScript.keys;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.state.HostEvent;
import io.orbitkv.state.HostEvent.AbortReason;
import io.orbitkv.state.HostEvent.CleanupReason;
import io.orbitkv.state.HostEvent.EvictionCause;
import io.orbitkv.state.HostEvent.LeaseEnd;
import io.orbitkv.state.HostEvent.Operation;
import io.orbitkv.state.HostEvent.RefusalCategory;
import io.orbitkv.state.HostEvent.RestoreOutcome;
import io.orbitkv.state.HostEvent.SessionEnd;
import io.orbitkv.state.LongRanges;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Every cause of a miss, told from a scripted journal; the texts are in resources/replay. */
class WhyTest {
  @TempDir Path dir;

  private void assertWhy(String request, String golden) throws IOException {
    Cli.replay(dir, "--why", request).assertGolden(golden);
  }

  @Test
  void shouldSayThatAKeyWasNeverPublished() throws IOException {
    try (JournalScript script = JournalScript.open(dir)) {
      long session = script.engine();
      script.publish(session, "r-1", "aa");
      script.miss(session, "r-2", "bb01", "bb02");
      script.pass(500_000).publish(session, "r-3", "bb01", "bb02");
    }
    assertWhy("r-2", "why-never-published");
  }

  @Test
  void shouldCountTheQueriesOfARequestThatHasMoreFactsThanAreTold() throws IOException {
    try (JournalScript script = JournalScript.open(dir)) {
      long session = script.engine();
      for (int i = 0; i < 1_200; i++) {
        script.miss(session, "r-1", "aa", "bb");
      }
    }
    String told = Cli.replay(dir, "--why", "r-1").out;
    assertTrue(
        told.contains(
            "asked for 2,400 blocks in 1,200 queries, got 0 (0.0 %), missed 2,400:"
                + " 400 beyond the first 1,000 answers, 2,000 never published"),
        told);
  }

  @Test
  void shouldSayThatTheKeyWasNew() throws IOException {
    try (JournalScript script = JournalScript.open(dir)) {
      long session = script.engine();
      script.publish(session, "r-1", "aa");
      script.miss(session, "r-2", "bb");
      script.publish(session, "r-2", "bb");
    }
    assertWhy("r-2", "why-new");
  }

  @Test
  void shouldSayThatNothingWasEverPublished() throws IOException {
    try (JournalScript script = JournalScript.open(dir)) {
      long session = script.engine();
      int other = script.bind("qwen", "bf16", 1, 1);
      long elsewhere = script.connect(script.register("vllm-9", other), 0);
      script.publish(elsewhere, "r-0", "cc");
      script.miss(session, "r-1", "cc");
    }
    assertWhy("r-1", "why-nothing-published");
  }

  @Test
  void shouldSayWhichShardsWereMissing() throws IOException {
    try (JournalScript script = JournalScript.open(dir)) {
      script.epoch();
      long instance = script.register("vllm-0", script.bind("llama", "bf16", 1, 3));
      long shard0 = script.connect(instance, 0);
      long shard1 = script.connect(instance, 1);
      long first = script.state.nextBlockId();
      script.published(script.reserve(shard0, "r-1", 0, 0, keys("aa", "ab")));
      long copying = script.join(shard1, "r-1", 1, LongRanges.of(first, 2));
      script.miss(shard0, "r-2", "aa", "ab");
      script.pass(3_000).published(copying);
      long shard2 = script.connect(instance, 2);
      script.published(script.join(shard2, "r-1", 2, LongRanges.of(first, 2)));
    }
    assertWhy("r-2", "why-not-sealed");
  }

  @Test
  void shouldSayThatOtherShardsNeverCame() throws IOException {
    try (JournalScript script = JournalScript.open(dir)) {
      script.epoch();
      long instance = script.register("vllm-0", script.bind("llama", "bf16", 1, 2));
      long shard0 = script.connect(instance, 0);
      long first = script.state.nextBlockId();
      script.published(script.reserve(shard0, "r-1", 0, 0, keys("aa")));
      script.pass(60_000_000).evict(first, 1, EvictionCause.NEVER_SEALED, 0, "");
      script.miss(shard0, "r-2", "aa");
    }
    assertWhy("r-2", "why-never-sealed");
  }

  @Test
  void shouldSayWhoTookTheRoom() throws IOException {
    try (JournalScript script = JournalScript.open(dir)) {
      long session = script.engine();
      long first = script.publish(session, "r-1", "aa", "ab", "ac");
      script.pass(5_000_000).evict(first + 1, 2, EvictionCause.CAPACITY, session, "r-2");
      script.publish(session, "r-2", "ba", "bb");
      script.pass(250_000);
      long lease =
          script.lease(session, "r-3", LongRanges.of(first, 1), answer(0, 5, 1, 2, "ab", "ac"));
      script.restored(script.restore(session, lease, 1), RestoreOutcome.DONE, 65_536);
      script.release(lease, LeaseEnd.RELEASED);
      script.publish(session, "r-3", "ab", "ac");
    }
    assertWhy("r-3", "why-evicted");
  }

  @Test
  void shouldSayThatThePolicyDidNotAdmit() throws IOException {
    try (JournalScript script = JournalScript.open(dir)) {
      long session = script.engine();
      long first = script.publish(session, "r-1", "aa");
      script.evict(first, 1, EvictionCause.ADMISSION, session, "r-1");
      script.miss(session, "r-2", "aa");
    }
    assertWhy("r-2", "why-not-admitted");
  }

  @Test
  void shouldSayThatAnOperatorEvicted() throws IOException {
    try (JournalScript script = JournalScript.open(dir)) {
      long session = script.engine();
      long first = script.publish(session, "r-1", "aa");
      script.evict(first, 1, EvictionCause.REQUESTED, 0, "");
      script.miss(session, "r-2", "aa");
    }
    assertWhy("r-2", "why-requested");
  }

  @Test
  void shouldSayThatBytesFailedVerification() throws IOException {
    try (JournalScript script = JournalScript.open(dir)) {
      long session = script.engine();
      long first = script.publish(session, "r-1", "aa");
      long lease = script.lease(session, "r-2", LongRanges.of(first, 1), answer(0, 1, 1, 0));
      long restore = script.restore(session, lease, 1);
      script.add(new HostEvent.VerifyFailed(first, 0, restore, 0x1064, 0xDEAD));
      script.restored(restore, RestoreOutcome.VERIFY_FAILED, 0);
      script.evict(first, 1, EvictionCause.VERIFY_FAILED, session, "r-2");
      script.release(lease, LeaseEnd.RELEASED);
      script.miss(session, "r-3", "aa");
    }
    assertWhy("r-3", "why-verify-failed");
    assertWhy("r-2", "why-verify-failed-itself");
  }

  @Test
  void shouldSayThatARestartLostIt() throws IOException {
    try (JournalScript script = JournalScript.open(dir)) {
      long session = script.engine();
      long first = script.publish(session, "r-1", "aa");
      long copying = script.reserve(session, "r-1", 0, 0, keys("ab"));
      restart(script, session, copying, LongRanges.of(first, 1));
      long again = script.connect(script.register("vllm-0", script.bind("llama", "bf16", 1, 1)), 0);
      script.miss(again, "r-2", "aa", "ab");
    }
    assertWhy("r-2", "why-restart");
  }

  private static void restart(JournalScript script, long session, long copying, LongRanges blocks) {
    script.pass(2_000_000).epoch();
    script.abort(copying, AbortReason.RESTART);
    script.add(new HostEvent.SessionClosed(session, SessionEnd.RESTART));
    script.add(new HostEvent.BlocksEvicted(blocks, EvictionCause.RESTART, 0, ""));
    script.add(new HostEvent.InstanceCleaned(1, CleanupReason.RESTART));
    script.add(new HostEvent.NamespaceUnbound(1));
  }

  @Test
  void shouldSayThatTheFormatIsStale() throws IOException {
    try (JournalScript script = JournalScript.open(dir)) {
      long session = script.engine();
      long first = script.publish(session, "r-1", "aa");
      long copying = script.reserve(session, "r-1", 0, 0, keys("ff"));
      restart(script, session, copying, LongRanges.of(first, 1));
      long again = script.connect(script.register("vllm-0", script.bind("llama", "fp8", 1, 1)), 0);
      script.miss(again, "r-2", "aa");
    }
    assertWhy("r-2", "why-stale-format");
  }

  @Test
  void shouldSayThatTheWriterWasRefused() throws IOException {
    try (JournalScript script = JournalScript.open(dir)) {
      long session = script.engine();
      script.publish(session, "r-0", "00");
      script.add(
          new HostEvent.RegistrationRefused(
              "vllm-1", "llama", "dtype", "fp8 given, bf16 is bound"));
      script.pass(1_000_000).miss(session, "r-1", "aa");
    }
    assertWhy("r-1", "why-registration-refused");
  }

  @Test
  void shouldSayThatAPublishWasRefused() throws IOException {
    try (JournalScript script = JournalScript.open(dir)) {
      long session = script.engine();
      script.publish(session, "r-0", "00");
      for (String request : new String[] {"r-1", "r-2"}) {
        script.add(
            new HostEvent.RequestRefused(
                session,
                request,
                Operation.PUBLISH,
                RefusalCategory.RESOURCE,
                "POOL_FULL: no room for 1 of 1 blocks, and nothing to evict"));
      }
      script.miss(session, "r-3", "aa");
    }
    assertWhy("r-3", "why-publish-refused");
  }

  @Test
  void shouldSayThatTheRequestItselfWasRefused() throws IOException {
    try (JournalScript script = JournalScript.open(dir)) {
      long session = script.engine();
      script.publish(session, "r-1", "aa");
      script.add(
          new HostEvent.RequestRefused(
              session,
              "r-2",
              Operation.QUERY,
              RefusalCategory.RESOURCE,
              "BUDGET_INSTANCE: 65536 bytes wanted, 0 of 0 in use"));
    }
    assertWhy("r-2", "why-refused");
  }

  @Test
  void shouldSayThatTheLeaseExpired() throws IOException {
    try (JournalScript script = JournalScript.open(dir)) {
      long session = script.engine();
      long first = script.publish(session, "r-1", "aa");
      long lease = script.lease(session, "r-2", LongRanges.of(first, 1), answer(0, 1, 1, 0));
      script.pass(30_000_000).release(lease, LeaseEnd.EXPIRED);
      script.add(
          new HostEvent.RequestRefused(
              session,
              "r-2",
              Operation.RESTORE,
              RefusalCategory.STALE,
              "LEASE_GONE: lease 1 has ended"));
    }
    assertWhy("r-2", "why-lease-expired");
  }

  @Test
  void shouldSayThatThePublishWasAborted() throws IOException {
    try (JournalScript script = JournalScript.open(dir)) {
      long session = script.engine();
      script.abort(script.reserve(session, "r-1", 0, 0, keys("aa")), AbortReason.COPY_FAILED);
      script.miss(session, "r-2", "aa");
    }
    assertWhy("r-2", "why-aborted");
    assertWhy("r-1", "why-aborted-itself");
  }

  @Test
  void shouldTellEachGroup() throws IOException {
    try (JournalScript script = JournalScript.open(dir)) {
      script.epoch();
      long session =
          script.connect(script.register("vllm-0", script.bind("llama", "bf16", 2, 1)), 0);
      long first = script.publish(session, "r-1", "aa", "ab");
      script.published(script.reserve(session, "r-1", 1, 0, keys("d1")));
      script.evict(first, 1, EvictionCause.CAPACITY, session, "r-9");
      script.add(
          new HostEvent.QueryMissed(
              session, "r-2", List.of(answer(0, 2, 0, 1, "aa"), answer(1, 2, 0, 1, "d0"))));
    }
    assertWhy("r-2", "why-two-groups");
  }

  @Test
  void shouldSuggestNamesLikeAnUnknownRequest() throws IOException {
    try (JournalScript script = JournalScript.open(dir)) {
      long session = script.engine();
      script.publish(session, "req-1041", "aa");
      script.miss(session, "req-1042", "bb");
    }
    assertWhy("req-1043", "why-unknown");
  }

  @Test
  void shouldTellTheLivesOfAKeyAndABlock() throws IOException {
    try (JournalScript script = JournalScript.open(dir)) {
      long session = script.engine();
      long first = script.publish(session, "r-1", "aa", "ab");
      long lease = script.lease(session, "r-2", LongRanges.of(first, 2), answer(0, 2, 2, 0));
      script.release(lease, LeaseEnd.RELEASED);
      script.evict(first, 1, EvictionCause.CAPACITY, session, "r-3");
      script.publish(session, "r-4", "aa");
    }
    Cli.replay(dir, "--why-key", "aa0").assertGolden("why-key");
    Cli.replay(dir, "--block", "1").assertGolden("block");
    Cli.replay(dir, "--block", "99").replacing(dir.toString(), "DIR").assertGolden("block-unknown");
  }
}
