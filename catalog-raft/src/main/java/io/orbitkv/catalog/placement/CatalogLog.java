package io.orbitkv.catalog.placement;

import io.orbitkv.catalog.calls.Refusal;
import io.orbitkv.state.catalog.CatalogAnswer;
import io.orbitkv.state.catalog.CatalogCommand;
import io.orbitkv.state.catalog.NodeId;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * The agreed log of every catalog shard, as one host reaches it, whether it is a member of the
 * catalog shard or not. Every future ends within the log's own deadline; none ends exceptionally.
 */
public interface CatalogLog {

  /** What was asked for, or why it is not to be had now. */
  sealed interface LogAnswer<T> {
    /** It. */
    record Given<T>(T value) implements LogAnswer<T> {}

    /**
     * Nobody answered in time. Whether commands were taken is not known: they can be sent again,
     * since none does anything twice.
     */
    record NotGiven<T>(Refusal why) implements LogAnswer<T> {}
  }

  /**
   * Appends commands as one entry.
   *
   * @return one answer for each, in order
   */
  CompletableFuture<LogAnswer<List<CatalogAnswer>>> propose(
      int catalogShard, List<CatalogCommand> commands);

  /** Reads linearizably: what comes includes all that was answered before the call. */
  CompletableFuture<LogAnswer<CatalogView>> read(int catalogShard);

  /** What this host's own replica has applied; empty if it has none. Never waits. */
  Optional<CatalogView> local(int catalogShard);

  /** Whether this host leads the catalog shard's members, as far as it knows. */
  boolean leads(int catalogShard);

  /**
   * Makes those who replicate the log these; does nothing if they are. It may take ten times as
   * long as an answer, since members that join are sent the log first. Members that join have the
   * log when it ends, members that leave have dropped theirs or will when they hear of it.
   *
   * @param voters who decide, at least one
   * @param learners who have the log and do not decide
   */
  CompletableFuture<LogAnswer<Boolean>> configure(
      int catalogShard, List<NodeId> voters, List<NodeId> learners);

  /** Calls a listener on each change that a replica of this host applies, in the log's order. */
  AutoCloseable onChange(CatalogChangeListener listener);
}
