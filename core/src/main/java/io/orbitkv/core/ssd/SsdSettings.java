package io.orbitkv.core.ssd;

/**
 * The bounds of the SSD tier.
 *
 * @param admission which blocks are written
 * @param writeQueueBytes the most bytes that wait for the disk or are on their way to it; beyond it
 *     blocks are not admitted
 * @param maxLoadingBytes the most bytes that are being read back at one time
 * @param hangMillis how long an operation may take before the disk counts as hanging: the tier then
 *     takes no work until it has ended
 * @param retryMillis how long the tier takes no writes after the disk refused some
 */
public record SsdSettings(
    SsdAdmission admission,
    long writeQueueBytes,
    long maxLoadingBytes,
    long hangMillis,
    long retryMillis) {

  /** Which blocks go to SSD. */
  public enum SsdAdmission {
    /** Every block, when it is sealed. */
    ALL,
    /** A block that was used at least once after it was sealed. */
    REUSE
  }

  /** The defaults for a pool of that size. */
  public static SsdSettings forPool(long poolBytes) {
    return new SsdSettings(
        SsdAdmission.ALL,
        Math.min(256L << 20, Math.max(1, poolBytes / 4)),
        Math.max(1, poolBytes / 2),
        2_000,
        5_000);
  }
}
