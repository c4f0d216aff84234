/** The commands of {@code orbitkv}, one class each. */
@NullMarked
package io.orbitkv.manager.cli;

import org.jspecify.annotations.NullMarked;
