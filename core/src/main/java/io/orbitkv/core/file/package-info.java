/** What files of ours have in common. */
@NullMarked
package io.orbitkv.core.file;

import org.jspecify.annotations.NullMarked;
