package io.orbitkv.catalog.membership;

/** An operation on etcd did not succeed; whether it had an effect is not known. */
final class EtcdTrouble extends Exception {
  private static final long serialVersionUID = 1L;

  EtcdTrouble(String message) {
    super(message);
  }
}
