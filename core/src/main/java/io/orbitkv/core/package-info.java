/**
 * What the Manager decides: a loop that turns commands into facts, and facts into effects and
 * replies.
 */
@NullMarked
package io.orbitkv.core;

import org.jspecify.annotations.NullMarked;
