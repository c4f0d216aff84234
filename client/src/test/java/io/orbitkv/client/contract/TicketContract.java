package io.orbitkv.client.contract;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import io.orbitkv.client.OrbitClient;
import io.orbitkv.client.QueryResult;
import io.orbitkv.client.Ticket;
import io.orbitkv.client.control.Register.Rule;
import io.orbitkv.client.wire.KeyRun;
import io.orbitkv.client.wire.RefusalCode;
import java.io.IOException;
import java.util.List;
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
  default void newerQueryReplacesTicket() throws IOException {
    try (Half half = Half.of(manager())) {
      Ticket older = half.ask("same", 5000);
      Ticket other = half.ask("other", 5000);
      Ticket newer = half.ask("same", 5000);
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
