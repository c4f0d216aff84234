package io.orbitkv.core.remote;

import io.orbitkv.state.HostEvent.RefusalCategory;

/** Why a peer gets no grant, or not of a block. */
public enum GrantRefusal {
  /** The request makes no sense. */
  BAD_REQUEST(RefusalCategory.USER, "ask for 1 to 4096 blocks of one namespace, each once"),
  /** The namespace holds other bytes here. */
  FOREIGN_FORMAT(RefusalCategory.USER, "give namespaces of different formats different names"),
  /** Another run of this host was meant. */
  WRONG_RUNTIME(RefusalCategory.STALE, "look the blocks up again"),
  /** There is no such block. */
  UNKNOWN_KEY(RefusalCategory.STALE, "look the block up again, or compute it"),
  /** The key is there, and not what the evidence spoke of. */
  WRONG_GENERATION(RefusalCategory.STALE, "look the block up again, or compute it"),
  /** There is no such grant of that peer. */
  UNKNOWN_GRANT(RefusalCategory.STALE, "nothing is to be done"),
  /** As many bytes are granted as may be. */
  BUDGET(RefusalCategory.RESOURCE, "release grants, or read from another source"),
  /** As many grants are open as may be. */
  TOO_MANY_GRANTS(RefusalCategory.RESOURCE, "release grants, or read from another source"),
  /** The block is on SSD, and there is no memory to stage it, or the disk is busy. */
  NOT_STAGED(RefusalCategory.RESOURCE, "read from another source, or compute the block"),
  /** The journal has no room for the fact. */
  JOURNAL_FULL(RefusalCategory.RESOURCE, "read from another source"),
  /** This host is about to stop. */
  DRAINING(RefusalCategory.UNAVAILABLE, "read from another source"),
  /** This host works alone. */
  ALONE(RefusalCategory.UNAVAILABLE, "read from another source");

  private final RefusalCategory category;
  private final String remedy;

  GrantRefusal(RefusalCategory category, String remedy) {
    this.category = category;
    this.remedy = remedy;
  }

  /** Whose affair it is. */
  public RefusalCategory category() {
    return category;
  }

  /** What to do about it. */
  public String remedy() {
    return remedy;
  }
}
