package io.orbitkv.client;

/**
 * How a client connects and how long it waits.
 *
 * @param socketPath the Manager's socket
 * @param clientName who calls, for the Manager's logs: 1 to 64 visible ASCII characters
 * @param operationMillis how long an operation may take before its caller goes on without it
 * @param controlMillis how long a control reply may take
 * @param drainMillis how long REGISTER, UNREGISTER and CLEANUP may take, which wait for copies of
 *     sessions that end
 * @param reconnect whether a lost connection is made again
 */
public record ClientOptions(
    String socketPath,
    String clientName,
    int operationMillis,
    int controlMillis,
    int drainMillis,
    boolean reconnect) {

  /** The usual waits, and reconnecting. */
  public static ClientOptions of(String socketPath) {
    return new ClientOptions(socketPath, "orbitkv-java/1", 5_000, 5_000, 30_000, true);
  }

  /** The same with another wait for operations. */
  public ClientOptions withOperationMillis(int millis) {
    return new ClientOptions(socketPath, clientName, millis, controlMillis, drainMillis, reconnect);
  }

  /** The same, with or without reconnecting. */
  public ClientOptions withReconnect(boolean wanted) {
    return new ClientOptions(
        socketPath, clientName, operationMillis, controlMillis, drainMillis, wanted);
  }

  /** The same under another name. */
  public ClientOptions withClientName(String name) {
    return new ClientOptions(
        socketPath, name, operationMillis, controlMillis, drainMillis, reconnect);
  }

  long operationNanos() {
    return operationMillis * 1_000_000L;
  }

  long controlNanos() {
    return controlMillis * 1_000_000L;
  }

  long drainNanos() {
    return drainMillis * 1_000_000L;
  }
}
