package io.orbitkv.core.remote;

import io.orbitkv.state.identity.StateKey;
import java.util.Arrays;
import java.util.List;

/**
 * A question who else has some blocks. The loop makes it, {@link RemoteBlocks} writes the answer
 * into it from any thread, and the loop reads that when it is handed back.
 */
public final class RemoteLookup {
  private final long id;
  private final List<StateKey> keys;
  private final long timeoutMillis;
  private final List<RemoteCandidate>[] candidates;

  /**
   * A question without an answer.
   *
   * @param id the loop's number of it
   * @param keys at least one, each once
   * @param timeoutMillis after which it must be handed back, with whatever is known
   */
  @SuppressWarnings({"unchecked", "rawtypes"}) // an array of lists can be made in no other way
  public RemoteLookup(long id, List<StateKey> keys, long timeoutMillis) {
    this.id = id;
    this.keys = List.copyOf(keys);
    this.timeoutMillis = timeoutMillis;
    this.candidates = new List[keys.size()];
    Arrays.fill(candidates, List.<RemoteCandidate>of());
  }

  /** The loop's number of it. */
  public long id() {
    return id;
  }

  /** What is looked for; all of one namespace. */
  public List<StateKey> keys() {
    return keys;
  }

  /** Milliseconds from the call of {@link RemoteBlocks#lookup}. */
  public long timeoutMillis() {
    return timeoutMillis;
  }

  /**
   * Says who may have a key; of a key that nothing is said about nobody has it.
   *
   * @param key its place in {@link #keys}
   * @param found the best first
   */
  public void found(int key, List<RemoteCandidate> found) {
    candidates[key] = List.copyOf(found);
  }

  /** Who may have a key, possibly nobody. */
  public List<RemoteCandidate> candidates(int key) {
    return candidates[key];
  }
}
