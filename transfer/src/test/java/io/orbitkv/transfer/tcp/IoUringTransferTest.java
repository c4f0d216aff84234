package io.orbitkv.transfer.tcp;

/** The built-in engine over io_uring. */
class IoUringTransferTest extends TcpTransferContract {
  IoUringTransferTest() {
    super(TcpOptions.Preference.IO_URING);
  }
}
