/** Catalog shards as Raft groups: one server a host, one group a catalog shard, on Apache Ratis. */
@NullMarked
package io.orbitkv.catalog.raft;

import org.jspecify.annotations.NullMarked;
