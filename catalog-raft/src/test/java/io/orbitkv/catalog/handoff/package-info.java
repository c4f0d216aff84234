/** Handoffs in a cluster of one thread, whose log loses, delays and repeats. */
@NullMarked
package io.orbitkv.catalog.handoff;

import org.jspecify.annotations.NullMarked;
