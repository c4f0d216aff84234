/** The daemon, its endpoints and the {@code orbitkv} command line: composes all other modules. */
@NullMarked
package io.orbitkv.manager;

import org.jspecify.annotations.NullMarked;
