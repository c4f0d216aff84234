/**
 * A host among others: membership, calls, inventories, lookups and reads, put together. Nothing
 * outside of this package but who shows it to operators knows its parts, and a Manager that works
 * alone loads none of it.
 */
@NullMarked
package io.orbitkv.manager.cluster;

import org.jspecify.annotations.NullMarked;
