/**
 * Other hosts as the loop sees them: the ports through which it finds their blocks, reads them and
 * lets them read its own. Nothing here knows of a network.
 */
@NullMarked
package io.orbitkv.core.remote;

import org.jspecify.annotations.NullMarked;
