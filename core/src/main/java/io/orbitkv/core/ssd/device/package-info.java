/**
 * Files on SSDs and the ways to read and write them past the page cache, between their extents and
 * the pool.
 */
@NullMarked
package io.orbitkv.core.ssd.device;

import org.jspecify.annotations.NullMarked;
