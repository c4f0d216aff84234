package io.orbitkv.core.eviction;

import java.util.function.IntPredicate;

/**
 * LRU that does not forget what was used twice: {@link TwoRegions} with a {@link FrequencySketch}
 * that decides who may stay, in the manner of W-TinyLFU.
 *
 * <p>How large the window should be depends on how far apart the uses of a block are, measured in
 * sizes of the tier. Where that is more than the tier holds, a small window keeps at least what has
 * proved itself; where it is less, a large one is better, and sometimes LRU is best. So each size
 * is tried all the time, at a small scale: a {@link Rehearsal} of each plays a sample of the keys,
 * chosen by their hash, and every time about as many references have passed as the tier has blocks,
 * the size with the most hits lately becomes the real one. Plain LRU is one of the sizes, so that
 * the policy cannot stay behind it for long.
 *
 * <p>Whether a block stays is judged by nothing that is random for each block, as a tie broken by
 * chance or a contest with whoever is coldest at the moment would be. A hit ends at the first block
 * that is missing, so the blocks of a prompt are worth something only as long as all of them stay.
 *
 * <p>Each call takes constant time, but for the growth of the arrays; 21 to 29 bytes a block and
 * half a megabyte at most for the rehearsals.
 */
public final class TinyLfuPolicy implements EvictionPolicy {
  private static final double[] WINDOW_SHARES = {0.1, 0.5, 0.7, TwoRegions.WHOLE};
  private static final int FIRST_CHOICE = 1;

  /** The most keys of a rehearsal. */
  private static final int MAX_SAMPLE = 2_048;

  private static final int MIN_ROUND_REFERENCES = 1_024;
  private static final double FADE_EACH_ROUND = 0.8;

  /**
   * What a hit of LRU is worth in a comparison: a rehearsal counts single blocks, while a request
   * has only those up to the first that is missing, and LRU keeps prompts whole a little better.
   */
  private static final double LRU_HIT = 1.03;

  private final FrequencySketch sketch = new FrequencySketch();
  private final TwoRegions blocks =
      new TwoRegions(sketch, WINDOW_SHARES[FIRST_CHOICE], MIN_ROUND_REFERENCES);
  private final Rehearsal[] rehearsals = new Rehearsal[WINDOW_SHARES.length];

  /** A key is of the sample when its hash begins with so many zeros. */
  private int sampleZeros;

  /** The most blocks that were held in this round. */
  private int mostBlocks;

  private int roundReferences;

  public TinyLfuPolicy() {
    for (int i = 0; i < rehearsals.length; i++) {
      rehearsals[i] = new Rehearsal(sketch, WINDOW_SHARES[i]);
    }
  }

  @Override
  public void entered(int slot, long keyHash) {
    int hash = fold(keyHash);
    blocks.enter(slot, hash);
    if (blocks.size() > mostBlocks) {
      sketch.ensureCapacity(blocks.size());
      scaleRehearsals(blocks.size());
    }
    referenced(hash);
  }

  @Override
  public boolean wantsKeyHash() {
    return true;
  }

  @Override
  public void touched(int slot) {
    if (blocks.holds(slot)) {
      blocks.touch(slot);
      referenced(blocks.keyHash(slot));
    }
  }

  @Override
  public void removed(int slot) {
    if (blocks.holds(slot)) {
      blocks.remove(slot);
    }
  }

  @Override
  public int takeVictim(IntPredicate mayGo) {
    return blocks.takeVictim(mayGo);
  }

  @Override
  public void putBack(int slot, long keyHash) {
    blocks.enterColdest(slot, fold(keyHash));
  }

  @Override
  public int size() {
    return blocks.size();
  }

  @Override
  public String name() {
    return "tinylfu";
  }

  /** The window's present part of the tier, 1 where the policy does as LRU does. */
  double windowShare() {
    return blocks.windowShare();
  }

  private void referenced(int hash) {
    sketch.increment(hash);
    if (Integer.numberOfLeadingZeros(hash) >= sampleZeros) {
      for (Rehearsal rehearsal : rehearsals) {
        rehearsal.reference(hash);
      }
    }
    if (++roundReferences >= Math.max(MIN_ROUND_REFERENCES, mostBlocks)) {
      roundReferences = 0;
      chooseWindow();
      scaleRehearsals(blocks.size());
    }
  }

  private void chooseWindow() {
    Rehearsal best = rehearsals[0];
    for (Rehearsal rehearsal : rehearsals) {
      if (worth(rehearsal) > worth(best)) {
        best = rehearsal;
      }
    }
    blocks.windowShare(best.windowShare());
    for (Rehearsal rehearsal : rehearsals) {
      rehearsal.fade(FADE_EACH_ROUND);
    }
  }

  private static double worth(Rehearsal rehearsal) {
    return rehearsal.windowShare() < TwoRegions.WHOLE
        ? rehearsal.hits()
        : rehearsal.hits() * LRU_HIT;
  }

  /** Makes the rehearsals as large, in proportion to the sample, as the tier is. */
  private void scaleRehearsals(int size) {
    mostBlocks = Math.max(1, size);
    sampleZeros = Integer.SIZE - Integer.numberOfLeadingZeros((mostBlocks - 1) / MAX_SAMPLE);
    for (Rehearsal rehearsal : rehearsals) {
      rehearsal.resize(mostBlocks >> sampleZeros);
    }
  }

  private static int fold(long keyHash) {
    return (int) (keyHash ^ (keyHash >>> 32));
  }
}
