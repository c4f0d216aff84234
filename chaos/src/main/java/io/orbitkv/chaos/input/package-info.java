/** Sends a daemon what no honest client would send, and watches that nobody else notices. */
@NullMarked
package io.orbitkv.chaos.input;

import org.jspecify.annotations.NullMarked;
