/** Takes the journal's disk away and gives it back. */
@NullMarked
package io.orbitkv.chaos.disk;

import org.jspecify.annotations.NullMarked;
