/**
 * {@code orbitkv replay}: reads a journal, folds it with the daemon's own {@code HostState.apply},
 * and answers questions about any moment of it. It never writes to the journal's directory.
 */
@NullMarked
package io.orbitkv.manager.replay;

import org.jspecify.annotations.NullMarked;
