/**
 * What an engine would ask: traces of requests and the player that plays them with real bytes
 * against a Manager.
 */
@NullMarked
package io.orbitkv.manager.workload;

import org.jspecify.annotations.NullMarked;
