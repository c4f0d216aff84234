/** The GPUs of the host, as far as the daemon serves engines on them. */
@NullMarked
package io.orbitkv.manager.gpu;

import org.jspecify.annotations.NullMarked;
