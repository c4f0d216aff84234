/** Engines whose bytes must not be mixed up. */
@NullMarked
package io.orbitkv.chaos.mismatch;

import org.jspecify.annotations.NullMarked;
