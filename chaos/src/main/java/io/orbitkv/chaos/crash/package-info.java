/** Kills the daemon under load and compares its journal with what clients were told. */
@NullMarked
package io.orbitkv.chaos.crash;

import org.jspecify.annotations.NullMarked;
