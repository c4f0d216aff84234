package io.orbitkv.state;

/**
 * A counter for each constant of an enum. Checkpoints hold the counters in the order of the
 * constants, so a new constant goes to the end.
 */
@SuppressWarnings("EnumOrdinal") // an EnumMap would box what every fact counts up
final class Tally<E extends Enum<E>> {
  final long[] counts;

  Tally(Class<E> type) {
    counts = new long[type.getEnumConstants().length];
  }

  long get(E constant) {
    return counts[constant.ordinal()];
  }

  void add(E constant, long amount) {
    counts[constant.ordinal()] += amount;
  }
}
