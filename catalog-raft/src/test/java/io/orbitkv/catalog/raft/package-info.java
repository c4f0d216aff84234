@NullMarked
package io.orbitkv.catalog.raft;

import org.jspecify.annotations.NullMarked;
