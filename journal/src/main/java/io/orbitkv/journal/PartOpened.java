package io.orbitkv.journal;

import java.util.UUID;

/**
 * The first record of every part: which journal and which part it is, so that a part that was
 * copied to another name or into another journal is noticed.
 */
record PartOpened(UUID journalId, long part) {

  void encode(WireWriter out) {
    out.fixed(1, journalId.getMostSignificantBits());
    out.fixed(2, journalId.getLeastSignificantBits());
    out.uint(3, part);
  }

  static PartOpened decode(WireReader in) {
    long high = 0;
    long low = 0;
    long part = 0;
    for (int number; (number = in.nextField()) != 0; ) {
      switch (number) {
        case 1 -> high = in.fixed();
        case 2 -> low = in.fixed();
        case 3 -> part = in.uint();
        default -> throw in.unknownField("PartOpened");
      }
    }
    return new PartOpened(new UUID(high, low), part);
  }
}
