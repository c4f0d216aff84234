/**
 * What owners have: their streams of snapshots and changes to the replicas of each catalog shard,
 * and the tables that the replicas make of them. Rows are evidence, never authority.
 */
@NullMarked
package io.orbitkv.catalog.inventory;

import org.jspecify.annotations.NullMarked;
