/**
 * Which hosts there are, agreed through etcd: leased records, the catalog's host set, epochs. All
 * that others ask is answered from memory.
 */
@NullMarked
package io.orbitkv.catalog.membership;

import org.jspecify.annotations.NullMarked;
