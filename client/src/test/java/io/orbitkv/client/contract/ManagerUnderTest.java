package io.orbitkv.client.contract;

import java.io.Closeable;
import java.io.IOException;

/** A Manager, real or fake, that the contract suite drives. */
public interface ManagerUnderTest extends Closeable {
  /** Where it listens, or will after {@link #start}. */
  String socketPath();

  /** Starts it again at the same path, with the same journal if it has one. */
  void start() throws IOException;

  /** Ends it at once, as {@code kill -9} does. */
  void kill() throws IOException;
}
