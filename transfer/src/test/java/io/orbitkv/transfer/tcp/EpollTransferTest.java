package io.orbitkv.transfer.tcp;

/** The built-in engine over epoll. */
class EpollTransferTest extends TcpTransferContract {
  EpollTransferTest() {
    super(TcpOptions.Preference.EPOLL);
  }
}
