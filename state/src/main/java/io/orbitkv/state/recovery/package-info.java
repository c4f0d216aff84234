/**
 * Which pages a restore needs, and which boundaries the leased pages allow: the one place that
 * decides what a legal recovery point is.
 */
@NullMarked
package io.orbitkv.state.recovery;

import org.jspecify.annotations.NullMarked;
