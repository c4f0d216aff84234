/** The contract suite of docs/protocol.md, section 7, which any Manager can be held to. */
@NullMarked
package io.orbitkv.client.contract;

import org.jspecify.annotations.NullMarked;
