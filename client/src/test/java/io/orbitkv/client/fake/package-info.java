/** A Manager without a cache behind it, for the tests of the client. */
@NullMarked
package io.orbitkv.client.fake;

import org.jspecify.annotations.NullMarked;
