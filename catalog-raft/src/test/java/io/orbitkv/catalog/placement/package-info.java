/** What hosts know of placements, and what they take for orders. */
@NullMarked
package io.orbitkv.catalog.placement;

import org.jspecify.annotations.NullMarked;
