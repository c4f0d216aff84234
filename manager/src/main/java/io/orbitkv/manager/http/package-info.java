/** HTTP for operators: health, status, metrics, and a few levers. */
@NullMarked
package io.orbitkv.manager.http;

import org.jspecify.annotations.NullMarked;
