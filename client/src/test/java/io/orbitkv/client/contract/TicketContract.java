package io.orbitkv.client.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import io.orbitkv.client.OrbitClient;
import io.orbitkv.client.PendingPrepare;
import io.orbitkv.client.PrepareResult;
import io.orbitkv.client.QueryResult;
import io.orbitkv.client.Ticket;
import io.orbitkv.client.control.Register.Rule;
import io.orbitkv.client.wire.Category;
import io.orbitkv.client.wire.KeyRun;
import io.orbitkv.client.wire.QueryRequest;
import io.orbitkv.client.wire.RefusalCode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Contracts about queries that wait for blocks on their way. */
public interface TicketContract extends Contract {
  /** Two shards, of which only the first has published. */
  record Half(
      ContractEngine one, ContractEngine two, OrbitClient first, OrbitClient second, KeyRun keys)
      implements AutoCloseable {
    static Half of(ManagerUnderTest manager) throws IOException {
      String name = Contract.fresh("ticket");
      ContractEngine one =
          ContractEngine.of(name, List.of(ContractEngine.group(0, Rule.PREFIX)), 0, 2);
      ContractEngine two =
          ContractEngine.of(name, List.of(ContractEngine.group(0, Rule.PREFIX)), 1, 2);
      KeyRun keys = ContractEngine.keys(Contract.seed(), 2);
      Half half = new Half(one, two, one.connect(manager), two.connect(manager), keys);
      var _ = QueryContract.publish(half.first, 0, keys, 0);
      return half;
    }

    Ticket ask(String request, int millis) {
      QueryResult result = first.queryWaiting(ContractEngine.query(request, keys), millis);
      return assertInstanceOf(QueryResult.Loading.class, result, result.toString()).ticket();
    }

    @Override
    public void close() {
      first.close();
      second.close();
      one.close();
      two.close();
    }
  }

  @Test
  default void waitAnswersLoadingThenNotice() throws IOException {
    try (Half half = Half.of(manager())) {
      Ticket ticket = half.ask("q", 5000);
      assertInstanceOf(QueryResult.Loading.class, half.first.poll(ticket));
      var _ = QueryContract.publish(half.second, 0, half.keys, 0);
      QueryResult.Ready ready = Contract.ready(half.first.awaitAnswer(ticket, 3000));
      assertEquals(128, ready.answer().boundaryToken());
      Contract.assertRefused(RefusalCode.TICKET_GONE, half.first.poll(ticket));
      assertEquals(true, half.first.release(ready.lease()).orThrow());
      assertEquals(0, half.first.outstanding());
    }
  }

  @Test
  default void ticketExpiresWithAnAnswer() throws IOException {
    try (Half half = Half.of(manager())) {
      Ticket ticket = half.ask("q", 100);
      QueryResult.Miss miss =
          assertInstanceOf(QueryResult.Miss.class, half.first.awaitAnswer(ticket, 3000));
      assertEquals(RefusalCode.TICKET_EXPIRED.number(), miss.reasonCode());
    }
  }

  @Test
  default void cancelEndsATicket() throws IOException {
    try (Half half = Half.of(manager())) {
      Ticket ticket = half.ask("q", 5000);
      assertEquals(true, half.first.cancel(ticket).orThrow());
      assertEquals(false, half.first.cancel(ticket).orThrow());
      QueryResult result = half.first.awaitAnswer(ticket, 3000);
      assertInstanceOf(QueryResult.Cancelled.class, result, result.toString());
      assertEquals(0, half.first.outstanding());
    }
  }

  @Test
  default void sameQueryFindsTheTicketAgain() throws IOException {
    try (Half half = Half.of(manager())) {
      Ticket ticket = half.ask("q", 5000);
      Ticket again = half.ask("q", 5000);
      assertEquals(ticket.ticketId(), again.ticketId());
      assertEquals(1, ticketsOf(half));
      var _ = QueryContract.publish(half.second, 0, half.keys, 0);
      QueryResult.Ready one = Contract.ready(half.first.awaitAnswer(ticket, 3000));
      QueryResult.Ready two = Contract.ready(half.first.awaitAnswer(again, 3000));
      assertEquals(one.lease(), two.lease());
      Contract.assertRefused(RefusalCode.TICKET_GONE, half.first.poll(again));
      assertEquals(true, half.first.release(one.lease()).orThrow());
      assertEquals(0, half.first.outstanding());
    }
  }

  private static int ticketsOf(Half half) {
    return half.first.sessions().orThrow().sessions().stream()
        .filter(session -> session.instance().equals(half.one.name()))
        .mapToInt(session -> session.tickets())
        .sum();
  }

  @Test
  default void otherQueryIsRefusedWhileOneIsPending() throws IOException {
    try (Half half = Half.of(manager())) {
      Ticket ticket = half.ask("q", 5000);
      QueryRequest less = ContractEngine.query("q", half.keys.slice(0, 1));
      Contract.assertRefused(RefusalCode.TICKET_PENDING, half.first.queryWaiting(less, 5000));
      assertInstanceOf(QueryResult.Miss.class, half.first.query(less), "it opens no ticket");
      assertInstanceOf(QueryResult.Loading.class, half.first.poll(ticket));
      assertEquals(true, half.first.cancel(ticket).orThrow());
      Ticket next =
          assertInstanceOf(QueryResult.Loading.class, half.first.queryWaiting(less, 5000)).ticket();
      assertEquals(true, half.first.cancel(next).orThrow());
    }
  }

  @Test
  default void pendingTicketsAreBounded() throws IOException, InterruptedException {
    try (Half half = Half.of(manager())) {
      List<Ticket> tickets = new ArrayList<>();
      for (int i = 0; i < 128; i++) {
        tickets.add(half.ask("q" + i, 60_000));
      }
      QueryRequest one = ContractEngine.query("q128", half.keys);
      QueryResult.Refused refused =
          assertInstanceOf(QueryResult.Refused.class, half.first.queryWaiting(one, 60_000));
      assertEquals(RefusalCode.TOO_MANY_TICKETS.name(), refused.refusal().name());
      assertEquals(Category.RESOURCE, refused.refusal().category());
      assertFalse(refused.refusal().remedy().isEmpty());
      for (Ticket ticket : tickets) {
        assertEquals(true, half.first.cancel(ticket).orThrow());
      }
      Contract.eventually("nothing is outstanding", () -> half.first.outstanding() == 0);
      assertEquals(0, ticketsOf(half));
      assertEquals(true, half.first.cancel(half.ask("q128", 60_000)).orThrow());
    }
  }

  // ---- preparing

  private static PendingPrepare prepare(Half half, String request, int millis) {
    return half.first.prepare(ContractEngine.query(request, half.keys), millis).orThrow();
  }

  @Test
  default void prepareOfWhatIsThereAnswersAtOnce() throws IOException {
    try (ContractEngine engine = ContractEngine.simple(Contract.fresh("prepare"));
        OrbitClient client = engine.connect(manager())) {
      KeyRun keys = ContractEngine.keys(Contract.seed(), 4);
      var _ = QueryContract.publish(client, 0, keys.slice(0, 3), 0);
      PendingPrepare all = client.prepare(ContractEngine.query("q", keys), 0).orThrow();
      assertEquals(Optional.of(new PrepareResult.Prepared(192, false)), all.await(3000));
      KeyRun unknown = ContractEngine.keys(Contract.seed(), 2);
      PendingPrepare none = client.prepare(ContractEngine.query("r", unknown), 0).orThrow();
      assertEquals(Optional.of(new PrepareResult.Prepared(0, false)), none.await(3000));
      assertEquals(0, client.outstanding());
    }
  }

  @Test
  default void prepareWaitsAndLeasesNothing() throws IOException {
    try (Half half = Half.of(manager())) {
      PendingPrepare prepare = prepare(half, "q", 5000);
      PendingPrepare again = prepare(half, "q", 5000);
      Ticket query = half.ask("q", 5000);
      assertEquals(Optional.empty(), prepare.await(20));
      assertEquals(2, ticketsOf(half), "one of both preparations, one of the query");
      var _ = QueryContract.publish(half.second, 0, half.keys, 0);
      assertEquals(Optional.of(new PrepareResult.Prepared(128, false)), prepare.await(3000));
      assertEquals(Optional.of(new PrepareResult.Prepared(128, false)), again.await(3000));
      QueryResult.Ready ready = Contract.ready(half.first.awaitAnswer(query, 3000));
      assertEquals(true, half.first.release(ready.lease()).orThrow());
      boolean held =
          half.first.sessions().orThrow().sessions().stream()
              .anyMatch(s -> s.instance().equals(half.one.name()) && s.leases() + s.tickets() > 0);
      assertFalse(held);
    }
  }

  @Test
  default void prepareEndsAtItsDeadline() throws IOException {
    try (Half half = Half.of(manager())) {
      PendingPrepare prepare = prepare(half, "q", 100);
      assertEquals(Optional.of(new PrepareResult.Prepared(0, true)), prepare.await(3000));
      assertEquals(0, ticketsOf(half));
    }
  }

  @Test
  default void cancelStopsAPreparation() throws IOException {
    try (Half half = Half.of(manager())) {
      PendingPrepare prepare = prepare(half, "q", 5000);
      assertEquals(true, half.first.cancel(prepare).orThrow());
      assertEquals(Optional.of(new PrepareResult.Cancelled()), prepare.await(3000));
      assertEquals(false, half.first.cancel(prepare).orThrow());
      assertEquals(0, half.first.outstanding());
    }
  }

  @Test
  default void newerQueryReplacesTicket() throws IOException {
    try (Half half = Half.of(manager())) {
      Ticket older = half.ask("same", 5000);
      Ticket other = half.ask("other", 5000);
      QueryRequest less = ContractEngine.query("same", half.keys.slice(0, 1));
      Ticket newer =
          assertInstanceOf(QueryResult.Loading.class, half.first.queryReplacing(less, 5000))
              .ticket();
      QueryResult result = half.first.awaitAnswer(older, 3000);
      assertInstanceOf(QueryResult.Cancelled.class, result, result.toString());
      assertEquals(
          RefusalCode.TICKET_REPLACED.number(), ((QueryResult.Cancelled) result).reasonCode());
      var _ = QueryContract.publish(half.second, 0, half.keys, 0);
      var _ = Contract.ready(half.first.awaitAnswer(newer, 3000));
      var _ = Contract.ready(half.first.awaitAnswer(other, 3000));
    }
  }
}
