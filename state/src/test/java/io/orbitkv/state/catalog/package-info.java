@NullMarked
package io.orbitkv.state.catalog;

import org.jspecify.annotations.NullMarked;
