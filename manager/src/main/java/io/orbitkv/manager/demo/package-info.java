/** {@code orbitkv demo}: a Manager, an engine and a replay, each in its own process. */
@NullMarked
package io.orbitkv.manager.demo;

import org.jspecify.annotations.NullMarked;
