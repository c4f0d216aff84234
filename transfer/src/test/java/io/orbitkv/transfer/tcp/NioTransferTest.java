package io.orbitkv.transfer.tcp;

/** The built-in engine over NIO. */
class NioTransferTest extends TcpTransferContract {
  NioTransferTest() {
    super(TcpOptions.Preference.NIO);
  }
}
