@NullMarked
package io.orbitkv.client.control;

import org.jspecify.annotations.NullMarked;
