package io.orbitkv.catalog.membership;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.orbitkv.catalog.calls.Endpoint;
import io.orbitkv.state.catalog.NodeId;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Membership against a real etcd that is paused, killed, cut off and compacted. */
class MembershipTest {
  private static final Duration TTL = Duration.ofSeconds(2);
  private static final NodeId A = new NodeId("a");
  private static final NodeId B = new NodeId("b");

  @TempDir Path dir;

  private EtcdProcess etcd;
  private final List<Membership> open = new ArrayList<>();

  @BeforeEach
  void start() throws IOException, InterruptedException {
    if (!EtcdProcess.isInstalled()) {
      System.out.println("MembershipTest is skipped: there is no etcd on PATH (apt: etcd-server)");
    }
    Assumptions.assumeTrue(EtcdProcess.isInstalled(), "no etcd on PATH (apt: etcd-server)");
    etcd = new EtcdProcess(dir);
  }

  @AfterEach
  void stop() throws InterruptedException {
    open.forEach(Membership::close);
    if (etcd != null) {
      etcd.close();
    }
  }

  private Membership member(String node, String uri) {
    Membership membership =
        Membership.start(
            new MembershipConfig(
                List.of(uri),
                "test",
                new NodeId(node),
                new Endpoint("127.0.0.1", 7000),
                new Endpoint("127.0.0.1", 7001),
                new Endpoint("127.0.0.1", 7002),
                TransferCarrier.TCP,
                UUID.randomUUID(),
                TTL),
            new Random(1),
            System::nanoTime,
            InstantSource.system());
    open.add(membership);
    return membership;
  }

  private Membership member(String node) {
    return member(node, etcd.uri());
  }

  private static MemberRecord joined(Membership membership) {
    JoinOutcome outcome = membership.joined().orTimeout(30, TimeUnit.SECONDS).join();
    return assertInstanceOf(JoinOutcome.Joined.class, outcome).record();
  }

  private static void await(String what, BooleanSupplier condition) throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(30);
    while (!condition.getAsBoolean()) {
      assertTrue(System.nanoTime() - deadline < 0, what);
      Thread.sleep(5);
    }
  }

  private static Set<NodeId> seen(Membership membership) {
    return Set.copyOf(membership.snapshot().members().keySet());
  }

  @Test
  void shouldShowMembersToEachOtherAndCountStarts() throws InterruptedException {
    Membership a = member("a");
    MemberRecord record = joined(a);
    assertEquals(1, record.epoch());
    assertTrue(a.admission().isOpen());
    Membership b = member("b");
    joined(b);
    await("a does not see b", () -> seen(a).equals(Set.of(A, B)));
    assertTrue(b.snapshot().isLive(record.run()));
    assertTrue(a.snapshot().revision() > 0);
    a.close();
    assertFalse(a.admission().isOpen());
    await("b still sees a", () -> seen(b).equals(Set.of(B)));
    Membership again = member("a");
    assertEquals(2, joined(again).epoch());
  }

  @Test
  void shouldAgreeOnOneHostSet() throws InterruptedException {
    Membership a = member("a");
    Membership b = member("b");
    joined(a);
    joined(b);
    HostSet first = new HostSet(List.of(B, A), 2);
    assertEquals(new HostsOutcome.Agreed(first), a.agreeHosts(first).join());
    HostSet second = new HostSet(List.of(A), 1);
    assertEquals(new HostsOutcome.Agreed(first), b.agreeHosts(second).join());
    await("b does not see it", () -> b.snapshot().hosts().equals(Optional.of(first)));
    assertEquals(new HostsOutcome.Agreed(second), b.replaceHosts(second).join());
    await("a does not see it", () -> a.snapshot().hosts().equals(Optional.of(second)));
  }

  @Test
  void shouldRefuseANodeIdThatIsLiveAndTakeOverFromADeadOne() {
    Membership a = member("a");
    joined(a);
    Membership twin = member("a");
    JoinOutcome outcome = twin.joined().orTimeout(30, TimeUnit.SECONDS).join();
    JoinOutcome.Refused refused = assertInstanceOf(JoinOutcome.Refused.class, outcome);
    assertTrue(refused.refusal().remedy().contains("--node-id"), refused.toString());
    assertFalse(twin.admission().isOpen());
    assertTrue(a.admission().isOpen());
    a.abandon();
    long began = System.nanoTime();
    assertEquals(2, joined(member("a")).epoch());
    assertTrue(System.nanoTime() - began < TimeUnit.SECONDS.toNanos(10));
  }

  @Test
  void shouldRefuseAnotherFormat() throws IOException, InterruptedException {
    assertEquals(0, etcd.etcdctl("put", "/orbitkv/test/format", "9"));
    JoinOutcome outcome = member("a").joined().orTimeout(30, TimeUnit.SECONDS).join();
    JoinOutcome.Refused refused = assertInstanceOf(JoinOutcome.Refused.class, outcome);
    assertTrue(refused.refusal().reason().contains("format 9"), refused.toString());
  }

  @Test
  void shouldFenceWhileEtcdIsPausedAndComeBackByItself() throws Exception {
    Membership a = member("a");
    joined(a);
    MemberSnapshot before = a.snapshot();
    etcd.signal("STOP");
    long stopped = System.nanoTime();
    await("it is not fenced", () -> !a.admission().isOpen());
    assertTrue(System.nanoTime() - stopped < TTL.toNanos() + 500_000_000, "fenced too late");
    RemoteAdmission.Fenced fenced = assertInstanceOf(RemoteAdmission.Fenced.class, a.admission());
    assertTrue(fenced.reason().contains("ran out"), fenced.toString());
    long attempts = a.attempts();
    Thread.sleep(2000);
    assertTrue(a.attempts() - attempts < 20, "it asks again and again");
    assertEquals(before, a.snapshot());
    etcd.signal("CONT");
    await("it does not come back", () -> a.admission().isOpen());
    await("it is no member", () -> a.snapshot().member(A).isPresent());
    assertEquals(1, a.snapshot().member(A).orElseThrow().epoch());
  }

  @Test
  void shouldComeBackAfterEtcdWasKilled() throws Exception {
    Membership a = member("a");
    joined(a);
    etcd.kill();
    await("it is not fenced", () -> !a.admission().isOpen());
    etcd.restart();
    await("it does not come back", () -> a.admission().isOpen());
    Membership b = member("b");
    joined(b);
    await("the watch is dead", () -> seen(a).equals(Set.of(A, B)));
  }

  @Test
  void shouldComeBackAfterAPartitionAndACompaction() throws Exception {
    try (CuttableProxy proxy = new CuttableProxy(etcd.port)) {
      Membership a = member("a", proxy.uri());
      joined(a);
      Membership b = member("b");
      joined(b);
      await("a does not see b", () -> seen(a).contains(B));
      proxy.swallow(true);
      await("a is not fenced", () -> !a.admission().isOpen());
      await("b still sees a", () -> seen(b).equals(Set.of(B)));
      for (int i = 0; i < 5; i++) {
        assertEquals(0, etcd.etcdctl("put", "/orbitkv/test/other", "x" + i));
      }
      long revision = b.snapshot().revision();
      assertEquals(0, etcd.etcdctl("compact", Long.toString(revision)));
      proxy.swallow(false);
      proxy.cut();
      await("a does not come back", () -> a.admission().isOpen());
      await("b does not see a", () -> seen(b).equals(Set.of(A, B)));
      b.close();
      await("a still sees b", () -> seen(a).equals(Set.of(A)));
    }
  }

  @Test
  void shouldCloseInTwoSecondsWithoutEtcdAndLeaveNoThread() throws Exception {
    Membership a = member("a");
    joined(a);
    etcd.signal("STOP");
    long began = System.nanoTime();
    a.close();
    assertTrue(System.nanoTime() - began < TimeUnit.SECONDS.toNanos(2));
    etcd.signal("CONT");
    await("threads are left: " + threads(), () -> threads().isEmpty());
  }

  private static Set<String> threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(name -> name.startsWith("orbitkv-etcd") || name.startsWith("orbitkv-member"))
        .collect(Collectors.toSet());
  }
}
