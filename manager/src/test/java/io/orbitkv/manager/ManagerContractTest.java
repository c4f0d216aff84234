package io.orbitkv.manager;

import io.orbitkv.client.contract.ClientContract;
import io.orbitkv.client.contract.ManagerUnderTest;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/** The Java client's contract suite against a real daemon in a process of its own. */
class ManagerContractTest extends ClientContract {
  @TempDir static Path folder;

  @Override
  protected ManagerUnderTest startManager() throws IOException {
    ProcessDaemon daemon = new ProcessDaemon(folder);
    daemon.start();
    return new ManagerUnderTest() {
      @Override
      public String socketPath() {
        return daemon.socketPath();
      }

      @Override
      public void start() throws IOException {
        daemon.start();
      }

      @Override
      public void kill() {
        daemon.kill();
      }

      @Override
      public void close() {
        daemon.close();
      }
    };
  }
}
