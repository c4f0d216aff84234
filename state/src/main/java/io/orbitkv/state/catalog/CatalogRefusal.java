package io.orbitkv.state.catalog;

/** Why a catalog shard does not do what a command asks, and what to do next. */
public enum CatalogRefusal {
  /** There is no placement yet. */
  NOT_FOUNDED(Category.UNAVAILABLE, "wait for the first placement, or send it"),
  /** The catalog shard was founded with other members, or has moved on since. */
  FOUNDED_OTHERWISE(Category.STALE, "take the placement that is there"),
  /** The members are none, too many, or one of them twice. */
  BAD_MEMBERS(Category.USER, "give 1 to 15 different hosts"),
  /** The placement has a higher generation. */
  OLD_GENERATION(Category.STALE, "take the placement that is there and ask again"),
  /** No placement has had that generation. */
  UNKNOWN_GENERATION(Category.USER, "read the placement first"),
  /** The target is what the placement is already. */
  NOTHING_TO_MOVE(Category.USER, "name other members, or be content"),
  /** Another handoff has begun and is not over. */
  HANDOFF_OPEN(Category.UNAVAILABLE, "wait until it is over, or roll it back first"),
  /** A later attempt of a handoff was made, or that attempt was rolled back. */
  OLD_ATTEMPT(Category.STALE, "read where the handoff stands, then ask anew"),
  /** No handoff has been attempted so often. */
  UNKNOWN_ATTEMPT(Category.USER, "read where the handoff stands first"),
  /** The new members do not have everything yet. */
  NOT_CAUGHT_UP(Category.UNAVAILABLE, "wait until the new members have caught up"),
  /** The handoff is not committed: nobody may let go. */
  NOT_COMMITTED(Category.UNAVAILABLE, "commit it first, or roll it back"),
  /** The handoff is committed: it can only be finished. */
  COMMITTED_ALREADY(Category.STALE, "finish it, and hand off again to go back"),
  /** A later run of that owner has a stream, or the owner was fenced. */
  OLD_EPOCH(Category.STALE, "this run is over: start again with a higher epoch"),
  /** No run of that owner with that epoch has streamed to this catalog shard. */
  UNKNOWN_RUN(Category.USER, "there is nothing to fence or forget: read the owners first"),
  /** Only an owner that is fenced can be forgotten. */
  NOT_FENCED(Category.USER, "fence its run first"),
  /** Too many owners are known, and none is fenced. */
  TOO_MANY_OWNERS(Category.UNAVAILABLE, "fence and forget owners that are gone"),
  /** Another run has that epoch. */
  EPOCH_TAKEN(Category.STALE, "two runs of one node must not have one epoch: start again");

  /** Who can do something about it. */
  public enum Category {
    USER,
    STALE,
    UNAVAILABLE
  }

  private final Category category;
  private final String remedy;

  CatalogRefusal(Category category, String remedy) {
    this.category = category;
    this.remedy = remedy;
  }

  public Category category() {
    return category;
  }

  /** What to do next, for people. */
  public String remedy() {
    return remedy;
  }
}
