package io.orbitkv.core.eviction;

/**
 * How often each key was seen lately, near enough: a count-min sketch of counters up to {@value
 * #MAX_FREQUENCY}, two bits each. A key has four counters and the smallest counts, so a count is
 * never too low; there are so many counters that few are too high.
 *
 * <p>All counters are halved each time {@value #REFERENCES_PER_BLOCK} times as many references have
 * passed as the tier has blocks, so that old fame fades. The blocks of one prompt must fade
 * together, or some of them would leave and end every later hit there; so the halving takes effect
 * for all keys at once, although the work is spread: a line knows how many halvings it has seen and
 * is brought up to date when it is used, or by a hand that goes round between two halvings.
 *
 * <pre>
 *   line (64 bytes, all four counters of a key):  | row 0 | row 1 | row 2 | row 3 |
 *   row:   2 words of 32 counters
 * </pre>
 *
 * <p>One to two words a block: 8 to 16 bytes.
 */
final class FrequencySketch {
  static final int MAX_FREQUENCY = 3;

  private static final int REFERENCES_PER_BLOCK = 6;
  private static final int ROWS = 4;
  private static final int WORDS_PER_ROW = 2;
  private static final int WORDS_PER_LINE = ROWS * WORDS_PER_ROW;
  private static final int MIN_LINES = 8;
  private static final long HALVED_BITS = 0x5555_5555_5555_5555L;

  private long[] words = new long[MIN_LINES * WORDS_PER_LINE];

  /** Halvings that each line has seen, modulo 256; behind by one at most. */
  private byte[] halvingsOfLine = new byte[MIN_LINES];

  private byte halvings;
  private int blocks = MIN_LINES * WORDS_PER_LINE;

  /** The next line that the hand brings up to date. */
  private int hand;

  /** Grows by the number of lines with each reference; a step of the hand takes a round's. */
  private long credit;

  /** Makes room for so many blocks; keeps what was counted. */
  void ensureCapacity(int atLeast) {
    blocks = Math.max(blocks, atLeast);
    while (words.length < blocks) {
      long[] grownWords = new long[2 * words.length];
      byte[] grownHalvings = new byte[2 * halvingsOfLine.length];
      for (int half = 0; half < 2; half++) {
        System.arraycopy(words, 0, grownWords, half * words.length, words.length);
        System.arraycopy(
            halvingsOfLine, 0, grownHalvings, half * halvingsOfLine.length, halvingsOfLine.length);
      }
      words = grownWords;
      halvingsOfLine = grownHalvings;
    }
  }

  /** Counts a reference. */
  void increment(int keyHash) {
    long mixed = mix(keyHash);
    int least = least(mixed);
    if (least < MAX_FREQUENCY) {
      for (int row = 0; row < ROWS; row++) {
        int word = word(mixed, row);
        int shift = shift(mixed, row);
        if (((words[word] >>> shift) & MAX_FREQUENCY) == least) {
          words[word] += 1L << shift;
        }
      }
    }
    advance();
  }

  /** References lately, 0 to {@value #MAX_FREQUENCY}. */
  int frequency(int keyHash) {
    return least(mix(keyHash));
  }

  private int least(long mixed) {
    update(line(mixed));
    int least = MAX_FREQUENCY;
    for (int row = 0; row < ROWS; row++) {
      int counter = (int) (words[word(mixed, row)] >>> shift(mixed, row)) & MAX_FREQUENCY;
      least = Math.min(least, counter);
    }
    return least;
  }

  private void advance() {
    credit += halvingsOfLine.length;
    long round = (long) REFERENCES_PER_BLOCK * blocks;
    if (credit >= round) {
      credit -= round;
      update(hand++);
      if (hand == halvingsOfLine.length) {
        hand = 0;
        halvings++;
      }
    }
  }

  /** Halves a line that has not seen the last halving. */
  private void update(int line) {
    if (halvingsOfLine[line] != halvings) {
      halvingsOfLine[line] = halvings;
      for (int word = line * WORDS_PER_LINE; word < (line + 1) * WORDS_PER_LINE; word++) {
        words[word] = (words[word] >>> 1) & HALVED_BITS;
      }
    }
  }

  private static long mix(int keyHash) {
    long mixed = keyHash * 0x9E37_79B9_7F4A_7C15L;
    mixed = (mixed ^ (mixed >>> 32)) * 0xD6E8_FEB8_6659_FD93L;
    return mixed ^ (mixed >>> 29);
  }

  private int line(long mixed) {
    return (int) (mixed >>> 32) & (halvingsOfLine.length - 1);
  }

  /** Six bits of the hash for each row: one chooses the word, five the counter in it. */
  private int word(long mixed, int row) {
    return line(mixed) * WORDS_PER_LINE
        + row * WORDS_PER_ROW
        + ((int) (mixed >>> (6 * row + 5)) & (WORDS_PER_ROW - 1));
  }

  private static int shift(long mixed, int row) {
    return ((int) (mixed >>> (6 * row)) & 31) * 2;
  }
}
