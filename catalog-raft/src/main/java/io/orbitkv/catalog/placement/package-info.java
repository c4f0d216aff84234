/** What stands between the agreed logs of the catalog shards and those who use them. */
@NullMarked
package io.orbitkv.catalog.placement;

import org.jspecify.annotations.NullMarked;
