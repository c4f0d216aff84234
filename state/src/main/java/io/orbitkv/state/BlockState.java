package io.orbitkv.state;

/** How far a block is in its life. */
public enum BlockState {
  /** Found, not readable: some shard's slice has not been published. */
  RESERVED,
  /** Found and readable: every slice has been published. */
  SEALED,
  /** Found no more; it is kept until its last lease and its last submitted operation end. */
  EVICTED,
  /** Found, and on SSD only. */
  DEMOTED,
  /** Found, and on its way from SSD back into DRAM. */
  LOADING,
  /** Found, and kept from an earlier run: nobody reads it before its bytes have been verified. */
  UNVERIFIED
}
