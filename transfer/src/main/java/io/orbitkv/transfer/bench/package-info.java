/** Measures the built-in engine on loopback, beside iperf3 and plain sockets in the same run. */
@NullMarked
package io.orbitkv.transfer.bench;

import org.jspecify.annotations.NullMarked;
