/**
 * Calls to the operating system through the foreign function interface: memfd, mappings, eventfd,
 * epoll, Unix sockets with descriptor passing, and what this host offers. Linux on x86-64 and
 * aarch64 only.
 *
 * <p>A failed call is a {@link io.orbitkv.ffi.NativeException} that names the call and carries its
 * {@link io.orbitkv.ffi.Errno}. What a caller must branch on (would block, end of stream, a lost
 * descriptor, a memfd that is not sealed) is a value.
 */
@NullMarked
package io.orbitkv.ffi;

import org.jspecify.annotations.NullMarked;
