/** Measures the catalog: tables alone, and changes on their way between processes. */
@NullMarked
package io.orbitkv.catalog.bench;

import org.jspecify.annotations.NullMarked;
