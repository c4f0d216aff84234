/**
 * {@code orbitkv bench}: measures OrbitKV against its budgets. Every figure that depends on the
 * machine stands beside its floor, the least that the machine can do, measured in the same run.
 */
@NullMarked
package io.orbitkv.manager.bench;

import org.jspecify.annotations.NullMarked;
