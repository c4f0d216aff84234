/** Which sealed block goes first when the pool is full. */
@NullMarked
package io.orbitkv.core.eviction;

import org.jspecify.annotations.NullMarked;
