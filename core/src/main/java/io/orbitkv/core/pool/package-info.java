/** Where slices lie in DRAM: one pinned mapping and the allocator that cuts extents from it. */
@NullMarked
package io.orbitkv.core.pool;

import org.jspecify.annotations.NullMarked;
