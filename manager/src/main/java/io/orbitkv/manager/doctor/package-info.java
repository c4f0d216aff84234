/** Looks at what a host offers to a Manager. */
@NullMarked
package io.orbitkv.manager.doctor;

import org.jspecify.annotations.NullMarked;
