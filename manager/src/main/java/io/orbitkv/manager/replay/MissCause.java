package io.orbitkv.manager.replay;

import io.orbitkv.manager.replay.BlockLife.Mark;
import io.orbitkv.state.identity.FormatMismatch;
import org.jspecify.annotations.Nullable;

/** Why a key was not there when a query asked for it. */
sealed interface MissCause {

  /** No fact before the query names the key in its namespace and group. */
  record NeverPublished() implements MissCause {}

  /** Nothing is known of it since the journal's oldest fact; what was before is deleted. */
  record NotSinceOldest(long oldestPosition) implements MissCause {}

  /** Some shard's slice was missing. */
  record NotSealed(BlockLife life) implements MissCause {}

  /** It was there and went, for the cause that its eviction names. */
  record Evicted(BlockLife life, Mark at) implements MissCause {}

  /** Every publish of it was aborted. */
  record Aborted(BlockLife life, Mark at) implements MissCause {}

  /**
   * It was on SSD, and not in memory.
   *
   * @param demoted how it left memory
   * @param loading the read that was under way, null if there was none
   */
  record OnSsdOnly(BlockLife life, SsdLife.Event demoted, SsdLife.@Nullable Event loading)
      implements MissCause {}

  /** It was on SSD only, and its copy was dropped or could not be read. */
  record SsdGone(BlockLife life, SsdLife.Event how) implements MissCause {}

  /** A restarted daemon had kept it, and nobody had verified it yet. */
  record NotVerified(BlockLife life, Mark kept) implements MissCause {}

  /** A restarted daemon found other bytes in its pool than were published. */
  record DamagedInPool(BlockLife life, Mark at) implements MissCause {}

  /** It was published when the namespace was bound to another format. */
  record OtherFormat(BlockLife life, FormatMismatch mismatch) implements MissCause {}

  /** The facts say that it was sealed, so the query should have found it. */
  record Contradiction(BlockLife life) implements MissCause {}

  /** Equal for keys that went the same way by the same facts. */
  default String signature() {
    return switch (this) {
      case NeverPublished _ -> "never";
      case NotSinceOldest _ -> "oldest";
      case NotSealed(BlockLife life) ->
          "unsealed "
              + life.slices.values().stream()
                  .map(slice -> slice.publishId + ":" + (slice.published != null))
                  .toList();
      case Evicted(_, Mark at) -> "evicted " + at.position();
      case OnSsdOnly(_, SsdLife.Event demoted, _) -> "ssd " + demoted.mark().position();
      case SsdGone(_, SsdLife.Event how) -> "gone " + how.mark().position();
      case NotVerified(_, Mark kept) -> "unverified " + kept.position();
      case DamagedInPool(_, Mark at) -> "damaged " + at.position();
      case Aborted(_, Mark at) -> "aborted " + at.position();
      case OtherFormat(BlockLife life, _) -> "format " + life.namespaceId;
      case Contradiction _ -> "contradiction";
    };
  }
}
