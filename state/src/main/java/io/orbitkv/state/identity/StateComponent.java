package io.orbitkv.state.identity;

/** The kind of model state that a group holds. */
public enum StateComponent {
  /** Keys and values of full attention. */
  ATTENTION_KV,
  /** The compressed latent of multi-head latent attention. */
  MLA,
  /** The running state of a recurrent or state-space layer. */
  RECURRENT,
  /** The last inputs of a causal convolution. */
  CONVOLUTION,
  /** Keys and values of sliding-window attention. */
  SWA,
  /** State of a draft model for speculative decoding. */
  DRAFT,
  /** Keys of a sparse-attention indexer. */
  INDEXER;

  /**
   * Whether one page can hold everything up to its end, so that a {@link RecoveryRule.Checkpoint}
   * is enough. Attention reads many positions: one page of it never restores more than that page.
   */
  public boolean allowsCheckpoint() {
    return switch (this) {
      case RECURRENT, CONVOLUTION, DRAFT -> true;
      case ATTENTION_KV, MLA, SWA, INDEXER -> false;
    };
  }
}
