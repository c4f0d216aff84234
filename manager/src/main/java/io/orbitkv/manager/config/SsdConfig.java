package io.orbitkv.manager.config;

import io.orbitkv.core.ssd.SsdSettings;
import io.orbitkv.core.ssd.device.SsdBackend;
import io.orbitkv.core.ssd.device.SsdFileSpec;
import java.util.List;

/**
 * The SSD tier as it was asked for.
 *
 * @param files one for each path, of equal length
 * @param backend how they are to be read and written
 * @param depth operations in flight
 * @param settings the loop's bounds
 */
public record SsdConfig(
    List<SsdFileSpec> files, SsdBackend backend, int depth, SsdSettings settings) {}
