/** Kills engines in the middle of what they do and looks for anything they left behind. */
@NullMarked
package io.orbitkv.chaos.engine;

import org.jspecify.annotations.NullMarked;
