/** Transfers through Mooncake's engine, for its RDMA; a library that the user brings. */
@NullMarked
package io.orbitkv.transfer.mooncake;

import org.jspecify.annotations.NullMarked;
