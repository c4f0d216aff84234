package io.orbitkv.catalog.peer;

import io.orbitkv.catalog.calls.Refusal;
import io.orbitkv.state.catalog.NodeId;
import java.util.Optional;
import java.util.concurrent.CompletionStage;

/**
 * The owner of blocks, as peers ask it. It compares keys, generations and runtimes exactly: what
 * led a peer here was evidence only. The stages must end by themselves; the peer's deadline does
 * not end them.
 */
public interface GrantAuthority {
  /** Pins what may be read and says where it lies. */
  CompletionStage<GrantAnswer> authorize(NodeId peer, GrantRequest request);

  /** Ends a grant; a refusal when there is no such grant of this peer. */
  CompletionStage<Optional<Refusal>> release(NodeId peer, GrantRelease release);
}
