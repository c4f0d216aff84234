/** What the daemon counts and times, and its text for Prometheus. */
@NullMarked
package io.orbitkv.manager.metrics;

import org.jspecify.annotations.NullMarked;
