package io.orbitkv.journal;

import io.orbitkv.state.Fact;
import java.util.Arrays;

/**
 * A fact as the bytes of its record (see {@link RecordFormat}) and back, for whoever keeps facts
 * elsewhere than in the parts of a journal. Belongs to one thread.
 */
public final class FactBytes {
  private final RecordEncoder encoder = new RecordEncoder();
  private final RecordView view = new RecordView();

  /** The whole record of a fact, in an array of its own. */
  public byte[] encode(Fact fact) {
    int length = encoder.fact(fact.position(), fact.atMicros(), fact.event());
    return Arrays.copyOf(encoder.array(), length);
  }

  /**
   * The fact of a record.
   *
   * @throws IllegalArgumentException if the bytes are not one whole record
   * @throws UnreadableRecord when a newer format wrote it
   */
  public Fact decode(byte[] record) {
    String damage = view.damage(record, 0, record.length);
    if (damage != null) {
      throw new IllegalArgumentException(damage);
    }
    return view.fact();
  }
}
