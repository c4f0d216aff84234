/**
 * What an engine declares about its state: keys, formats, groups and their recovery rules.
 *
 * <p>Everything here is a value. A factory named {@code of} or {@code derive} takes untrusted input
 * and answers {@link io.orbitkv.state.identity.Checked}; a record's constructor takes input that
 * was checked before (a journaled fact, a literal in a test) and throws on a broken promise.
 */
@NullMarked
package io.orbitkv.state.identity;

import org.jspecify.annotations.NullMarked;
