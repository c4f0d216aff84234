/**
 * How a catalog shard's placement changes: whoever leads its members goes through the steps of the
 * agreed state, and whoever leads next goes on from there.
 */
@NullMarked
package io.orbitkv.catalog.handoff;

import org.jspecify.annotations.NullMarked;
