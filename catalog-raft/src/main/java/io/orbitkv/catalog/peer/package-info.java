/**
 * Hosts speak to each other by gRPC: the service, its clients, who may call and how much. What the
 * calls mean is decided behind ports.
 */
@NullMarked
package io.orbitkv.catalog.peer;

import org.jspecify.annotations.NullMarked;
