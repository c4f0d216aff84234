/** Kills daemons that have an SSD tier, and breaks its disk. */
@NullMarked
package io.orbitkv.chaos.ssd;

import org.jspecify.annotations.NullMarked;
