package io.orbitkv.catalog.lookup;

import io.orbitkv.state.catalog.NodeId;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** Asks another host. */
@FunctionalInterface
public interface ReplicaAsker {
  /** The answer, within the timeout; what goes wrong is an {@link Answer.Refused}. */
  CompletableFuture<Answer> ask(NodeId replica, Question question, Duration timeout);
}
