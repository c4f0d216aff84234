/** The daemon's settings: flags, environment, file, defaults. */
@NullMarked
package io.orbitkv.manager.config;

import org.jspecify.annotations.NullMarked;
