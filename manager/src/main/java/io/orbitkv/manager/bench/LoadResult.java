package io.orbitkv.manager.bench;

/**
 * What a load on a disk came to.
 *
 * @param cpuNanosPerGb processor time of the process for each 10^9 bytes
 */
record LoadResult(double bytesPerSecond, double cpuNanosPerGb) {}
