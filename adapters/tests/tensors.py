"""Tensors without torch: an address, a shape and strides.

With ORBITKV_TEST_GPU=true they are a GPU's: pinned memory that kernels and this process both reach at one address.
"""

from __future__ import annotations

import ctypes
import itertools
import math
import os
from collections.abc import Sequence

from orbitkv import HostBuffer
from orbitkv.cuda.libcuda import LibCuda, open_library

ON_GPU = os.environ.get("ORBITKV_TEST_GPU", "") == "true"


class FakeTensor:
    """One-byte elements. Its bytes are read and written by index, without the geometry under test."""

    def __init__(
        self, address: int, shape: Sequence[int], strides: Sequence[int], device: str = "cpu", item: int = 1
    ) -> None:
        self._address = address
        self.shape = tuple(shape)
        self._strides = tuple(strides)
        self.device = device
        self._item = item

    def stride(self) -> tuple[int, ...]:
        return self._strides

    def element_size(self) -> int:
        return self._item

    def data_ptr(self) -> int:
        return self._address

    def _runs(self, block_dim: int, block: int) -> tuple[list[int], int]:
        """Addresses of the runs of a block along the last dimension, in the order of the indices."""
        if self._strides[-1] != 1 or self._item != 1 or block_dim == len(self.shape) - 1:
            raise AssertionError("the last dimension is contiguous and of bytes")
        ranges = [
            [block] if dim == block_dim else list(range(size)) for dim, size in enumerate(self.shape[:-1])
        ]
        starts = [
            self._address + sum(index * stride for index, stride in zip(indices, self._strides, strict=False))
            for indices in itertools.product(*ranges)
        ]
        return starts, self.shape[-1]

    def page_bytes(self, block_dim: int) -> int:
        return math.prod(self.shape) // self.shape[block_dim]

    def read(self, block_dim: int, block: int) -> bytes:
        starts, run = self._runs(block_dim, block)
        return b"".join(ctypes.string_at(start, run) for start in starts)

    def write(self, block_dim: int, block: int, data: bytes) -> None:
        starts, run = self._runs(block_dim, block)
        for index, start in enumerate(starts):
            ctypes.memmove(start, data[index * run : (index + 1) * run], run)


class Memory:
    """Room for tensors: on a GPU, in a buffer that can be shared, or in memory of the process's own."""

    def __init__(self, size_bytes: int, shared: bool, on_gpu: bool = False) -> None:
        self._used = 0
        self._size = size_bytes
        self._cuda: LibCuda | None = None
        self.device = "cpu"
        self.buffer: HostBuffer | None = None
        if on_gpu:
            self._cuda = open_library()
            self._cuda.retain(0)
            self._cuda.bind(0)
            self.address = self._cuda.allocate_host(size_bytes)
            self.device = "cuda:0"
        elif shared:
            self.buffer = HostBuffer(size_bytes)
            self.address = self.buffer.address
        else:
            self._own = ctypes.create_string_buffer(size_bytes)
            self.address = ctypes.addressof(self._own)

    def tensor(self, shape: Sequence[int], order: Sequence[int] | None = None, item: int = 1) -> FakeTensor:
        """A dense tensor; `order` names its dimensions from the outermost in memory to the innermost."""
        strides = [0] * len(shape)
        step = 1
        for dim in reversed(order if order is not None else range(len(shape))):
            strides[dim] = step
            step *= shape[dim]
        return self.strided(shape, strides, 0, step * item, item)

    def strided(
        self, shape: Sequence[int], strides: Sequence[int], offset: int, size_bytes: int, item: int = 1
    ) -> FakeTensor:
        if self._used + size_bytes > self._size:
            raise AssertionError("no room for this tensor")
        tensor = FakeTensor(self.address + self._used + offset, shape, strides, self.device, item)
        self._used += -(-size_bytes // 64) * 64
        return tensor

    def close(self) -> None:
        if self.buffer is not None:
            self.buffer.close()
        if self._cuda is not None:
            self._cuda.bind(0)
            self._cuda.free_host(self.address)
            self._cuda.release(0)
