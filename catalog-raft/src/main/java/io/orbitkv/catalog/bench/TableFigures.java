package io.orbitkv.catalog.bench;

/**
 * Figures of one table.
 *
 * @param rows rows of each of two owners
 * @param bytesPerRow bytes of its arrays a row, with both owners' rows
 * @param lookupsPerSecond finds of single keys by one thread
 * @param calm finds of 64 keys while nothing else happens
 * @param removing the same while the rows of one owner are taken out
 * @param removingMillis how long that took beside the finds
 */
public record TableFigures(
    int rows,
    double bytesPerRow,
    double lookupsPerSecond,
    Latencies calm,
    Latencies removing,
    double removingMillis) {}
