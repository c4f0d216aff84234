@NullMarked
package io.orbitkv.client.wire;

import org.jspecify.annotations.NullMarked;
