/** Moves bytes of granted ranges between the pools of hosts. */
@NullMarked
package io.orbitkv.transfer;

import org.jspecify.annotations.NullMarked;
