package io.orbitkv.client.contract;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;

/**
 * The contract suite of docs/protocol.md, section 7, for the Java client. A subclass brings the
 * Manager; one Manager serves all contracts, each under names of its own.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(20)
public abstract class ClientContract
    implements SessionContract,
        RegistrationContract,
        QueryContract,
        RestoreContract,
        TicketContract,
        ForgeryContract {
  private @Nullable ManagerUnderTest manager;

  /** Starts the Manager. */
  protected abstract ManagerUnderTest startManager() throws IOException;

  @BeforeAll
  final void startOnce() throws IOException {
    manager = startManager();
  }

  @AfterAll
  final void stopOnce() throws IOException {
    manager().close();
  }

  @Override
  public final ManagerUnderTest manager() {
    ManagerUnderTest running = manager;
    if (running == null) {
      throw new IllegalStateException("the Manager was not started");
    }
    return running;
  }
}
