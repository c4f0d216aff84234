/** What hosts agree on: which of them hold the catalog's shards. Pure, as all of {@code state}. */
@NullMarked
package io.orbitkv.state.catalog;

import org.jspecify.annotations.NullMarked;
