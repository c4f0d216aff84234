package io.orbitkv.transfer;

import java.time.Duration;

/**
 * Why a read gave nothing. What its destination holds is undefined, and not to be touched before
 * {@link TransferRead#released}.
 */
public sealed interface TransferFailure extends ReadOutcome {

  RefusalCategory category();

  /** What to do about it. */
  String remedy();

  /** The source served nothing of it. */
  record Refused(Refusal refusal) implements TransferFailure {
    @Override
    public RefusalCategory category() {
      return refusal.category();
    }

    @Override
    public String remedy() {
      return refusal.remedy();
    }
  }

  /** It took longer than it was given. */
  record DeadlinePassed(Duration deadline) implements TransferFailure {
    @Override
    public RefusalCategory category() {
      return RefusalCategory.UNAVAILABLE;
    }

    @Override
    public String remedy() {
      return "compute the blocks, or read them from another source";
    }
  }

  /** The caller gave it up. */
  record Cancelled() implements TransferFailure {
    @Override
    public RefusalCategory category() {
      return RefusalCategory.USER;
    }

    @Override
    public String remedy() {
      return "nothing is to be done";
    }
  }

  /** No connection to the source came about. */
  record Unreachable(String why) implements TransferFailure {
    @Override
    public RefusalCategory category() {
      return RefusalCategory.UNAVAILABLE;
    }

    @Override
    public String remedy() {
      return "read from another source; check the transfer endpoint of this one";
    }
  }

  /** The connection ended in the middle of the read. */
  record PeerLost(String why) implements TransferFailure {
    @Override
    public RefusalCategory category() {
      return RefusalCategory.UNAVAILABLE;
    }

    @Override
    public String remedy() {
      return "compute the blocks, or read them from another source";
    }
  }

  /** The source sent what the protocol does not allow, or did not know the token. */
  record Misbehaved(String why) implements TransferFailure {
    @Override
    public RefusalCategory category() {
      return RefusalCategory.INTERNAL;
    }

    @Override
    public String remedy() {
      return "read from another source; compare versions and tokens of both hosts";
    }
  }

  /** A range's verifier did not agree. */
  record Corrupt(int index, PoolRange range) implements TransferFailure {
    @Override
    public RefusalCategory category() {
      return RefusalCategory.STALE;
    }

    @Override
    public String remedy() {
      return "read from another source; the bytes were not what the block's checksum says";
    }
  }

  /** This engine has too much under way, or too little room for the request. */
  record Overloaded(String what) implements TransferFailure {
    @Override
    public RefusalCategory category() {
      return RefusalCategory.RESOURCE;
    }

    @Override
    public String remedy() {
      return "wait for reads under way";
    }
  }

  /** This engine has been closed. */
  record Closed() implements TransferFailure {
    @Override
    public RefusalCategory category() {
      return RefusalCategory.UNAVAILABLE;
    }

    @Override
    public String remedy() {
      return "the host is shutting down";
    }
  }
}
