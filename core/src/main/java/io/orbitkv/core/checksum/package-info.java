/** The one checksum of extents: what it promises is in {@code docs/checksum.md}. */
@NullMarked
package io.orbitkv.core.checksum;

import org.jspecify.annotations.NullMarked;
