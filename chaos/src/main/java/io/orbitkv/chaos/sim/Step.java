package io.orbitkv.chaos.sim;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * One step of a schedule. Whatever it decides comes from its own draw and from the state it meets,
 * so that a schedule with some steps left out is a schedule too; that is what shrinking needs.
 *
 * @param index in the whole schedule of the seed, from 0
 */
record Step(int index, Kind kind, long draw) {

  /** What happens, and how often beside the others. */
  enum Kind {
    REGISTER(8),
    PUBLISH(18),
    QUERY(16),
    RESTORE(20),
    RELEASE(5),
    CANCEL(3),
    POLL(2),
    CLOSE(1),
    CLEANUP(1),
    EVICT(4),
    COPY(22),
    DISK(26),
    TIME(6),
    ROOM(1),
    CRASH(1),
    SHUTDOWN(1),
    DAMAGE(4),
    ILLEGAL(3),
    STALE(5),
    STATUS(2);

    final int weight;

    Kind(int weight) {
      this.weight = weight;
    }

    /** Kind of each place of a wheel, as often as its weight says. */
    private static final Kind[] WHEEL =
        Arrays.stream(values())
            .flatMap(kind -> java.util.Collections.nCopies(kind.weight, kind).stream())
            .toArray(Kind[]::new);
  }

  /** The engine that the step is about; its first draw. */
  int engine(int engines) {
    return new Draws(draw).below(engines);
  }

  /** The schedule of a seed; its first steps are mostly registrations. */
  static List<Step> schedule(long seed, int steps) {
    Draws draws = new Draws(Draws.mix(seed) ^ 0x5EED_0F57_E950L);
    List<Step> schedule = new ArrayList<>(steps);
    for (int i = 0; i < steps; i++) {
      Kind kind = Kind.WHEEL[draws.below(Kind.WHEEL.length)];
      if (i < 12 && draws.below(3) > 0) {
        kind = Kind.REGISTER;
      }
      schedule.add(new Step(i, kind, draws.next()));
    }
    return schedule;
  }
}
