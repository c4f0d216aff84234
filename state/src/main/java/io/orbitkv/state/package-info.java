/**
 * What is true: identity, the recovery contract, facts, and the fold that turns facts into state.
 */
@NullMarked
package io.orbitkv.state;

import org.jspecify.annotations.NullMarked;
