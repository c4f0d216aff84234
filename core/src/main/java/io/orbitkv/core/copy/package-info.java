/**
 * Bytes between an engine's pages and extents: layouts, gather and scatter with checksums, and the
 * workers.
 */
@NullMarked
package io.orbitkv.core.copy;

import org.jspecify.annotations.NullMarked;
