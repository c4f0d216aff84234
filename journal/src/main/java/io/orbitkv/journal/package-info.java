/** Makes facts durable: the journal's files, its codec, checkpoints, reader and replay. */
@NullMarked
package io.orbitkv.journal;

import org.jspecify.annotations.NullMarked;
