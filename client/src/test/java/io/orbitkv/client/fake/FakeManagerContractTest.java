package io.orbitkv.client.fake;

import io.orbitkv.client.contract.ClientContract;
import io.orbitkv.client.contract.ManagerUnderTest;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/** The contract suite against the fake Manager: proves the client and the suite itself. */
class FakeManagerContractTest extends ClientContract {
  @TempDir static Path folder;

  @Override
  protected ManagerUnderTest startManager() throws IOException {
    String path = folder.resolve("manager.sock").toString();
    return new ManagerUnderTest() {
      private long epoch = 1;
      private FakeManager running = FakeManager.start(path, epoch, 30_000, 0);

      @Override
      public String socketPath() {
        return path;
      }

      @Override
      public void start() throws IOException {
        running = FakeManager.start(path, ++epoch, 30_000, 0);
      }

      @Override
      public void kill() {
        running.close();
      }

      @Override
      public void close() {
        running.close();
      }
    };
  }
}
