/** Daemons with a fault in them, which the suites have to find. */
@NullMarked
package io.orbitkv.chaos.fault;

import org.jspecify.annotations.NullMarked;
