/**
 * The deterministic simulator: the manager loop with its time, channel, copies, journal and faults
 * in the hands of one seed. {@code Simulation} is where to begin.
 */
@NullMarked
package io.orbitkv.chaos.sim;

import org.jspecify.annotations.NullMarked;
