@NullMarked
package io.orbitkv.client;

import org.jspecify.annotations.NullMarked;
