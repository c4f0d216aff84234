/**
 * The Manager's end of the process channel (docs/protocol.md): the control socket on a thread of
 * its own, and the sessions' rings, which the manager loop polls.
 */
@NullMarked
package io.orbitkv.manager.endpoint;

import org.jspecify.annotations.NullMarked;
