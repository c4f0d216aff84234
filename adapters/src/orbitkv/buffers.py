"""Buffers that an engine shares with the Manager."""

from __future__ import annotations

import ctypes
import fcntl
import mmap
import os
import weakref
from types import TracebackType

from orbitkv.registration import Layer


class HostBuffer:
    """Host memory as a memfd that cannot shrink, which is what the Manager asks for before it maps it.

    `view` is its memory, from `address` on. Close it only when no client has it registered and no slice of `view` is in use.
    """

    __slots__ = ("__weakref__", "_map", "address", "fd", "size_bytes", "view")

    def __init__(self, size_bytes: int, name: str = "orbitkv-buffer") -> None:
        if size_bytes < 1:
            raise ValueError(f"a buffer has at least 1 byte, not {size_bytes}")
        fd = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        try:
            os.ftruncate(fd, size_bytes)
            fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
            self._map = mmap.mmap(fd, size_bytes)
        except BaseException:
            os.close(fd)
            raise
        self.fd = fd
        self.size_bytes = size_bytes
        self.view = memoryview(self._map)
        self.address = ctypes.addressof(ctypes.c_char.from_buffer(self._map))
        _open_buffers.add(self)

    def to_json(self) -> dict[str, object]:
        return {"kind": "HOST", "bytes": self.size_bytes}

    def segment(self, layer: Layer, block: int, segment: int = 0) -> memoryview:
        """The bytes of one segment of a layer's block that lies in this buffer."""
        start = layer.offset_of(block, segment)
        return self.view[start : start + layer.segment_bytes]

    def close(self) -> None:
        if self.fd >= 0:
            _open_buffers.discard(self)
            self.view.release()
            self._map.close()
            os.close(self.fd)
            self.fd = -1

    def __enter__(self) -> HostBuffer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


_open_buffers: weakref.WeakSet[HostBuffer] = weakref.WeakSet()


def buffer_with(address: int, size_bytes: int) -> HostBuffer | None:
    """The open buffer of this process that holds those bytes whole."""
    for buffer in _open_buffers:
        if buffer.address <= address and address + size_bytes <= buffer.address + buffer.size_bytes:
            return buffer
    return None
