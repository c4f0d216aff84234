package io.orbitkv.catalog.inventory;

/** Where an owner holds a block, with the code it has in rows. */
public enum Tier {
  /** In the pinned pool. */
  DRAM(0),
  /** On SSD; the owner stages it when it is asked. */
  SSD(1);

  private final int code;

  Tier(int code) {
    this.code = code;
  }

  /** The number in rows, 0 to 15. */
  public int code() {
    return code;
  }

  /**
   * The tier of a code.
   *
   * @throws IllegalArgumentException when no tier has it
   */
  public static Tier ofCode(int code) {
    return switch (code) {
      case 0 -> DRAM;
      case 1 -> SSD;
      default -> throw new IllegalArgumentException("no tier has the code " + code);
    };
  }
}
