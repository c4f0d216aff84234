/** The built-in engine: granted ranges over striped TCP connections, into place. */
@NullMarked
package io.orbitkv.transfer.tcp;

import org.jspecify.annotations.NullMarked;
