/**
 * An engine's side of pages on a GPU: a staging ring that the Manager's copy engine reaches, and a
 * thread that scatters and gathers what the Manager posts.
 */
@NullMarked
package io.orbitkv.client.gpu;

import org.jspecify.annotations.NullMarked;
