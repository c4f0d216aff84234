/** How often and how much other hosts are asked: back-off, circuit breakers, budgets. */
@NullMarked
package io.orbitkv.catalog.calls;

import org.jspecify.annotations.NullMarked;
