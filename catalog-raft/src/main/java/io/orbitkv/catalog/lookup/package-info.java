/**
 * Who has a block: a bounded index of what was found before, and batched questions to the replicas
 * of catalog shards. What comes out are candidates; their owners decide.
 */
@NullMarked
package io.orbitkv.catalog.lookup;

import org.jspecify.annotations.NullMarked;
