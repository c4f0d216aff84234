/** The SSD tier's books and the worker that moves blocks between the pool and its files. */
@NullMarked
package io.orbitkv.core.ssd;

import org.jspecify.annotations.NullMarked;
