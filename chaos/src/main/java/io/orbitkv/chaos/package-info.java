/** Breaks real daemons and engines on purpose, and says whether the promises held. */
@NullMarked
package io.orbitkv.chaos;

import org.jspecify.annotations.NullMarked;
