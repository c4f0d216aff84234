"""A group's layers as the kernels read them, and where each lies in an extent."""

from __future__ import annotations

import struct
from collections.abc import Sequence

from orbitkv.geometry import Plane

LAYER = struct.Struct("<3Q2IQ")
LAYER_ALIGNMENT = 64
SUM_BYTES = 8


class GroupTable:
    """Layers in the order of their numbers. An extent has them end to end, each from a multiple of 64 bytes on, then
    8 bytes for each.
    """

    def __init__(self, group_id: int, planes: Sequence[Plane]) -> None:
        self.group_id = group_id
        self.block_count = planes[0].block_count
        self._offsets: list[int] = []
        self._ends: list[int] = []
        packed = bytearray()
        at = 0
        for plane in planes:
            self._offsets.append(at)
            self._ends.append(at + plane.bytes_per_block)
            packed += LAYER.pack(
                plane.address,
                plane.block_stride,
                plane.segment_stride,
                plane.segment_count,
                plane.segment_bytes,
                at,
            )
            at = -(-self._ends[-1] // LAYER_ALIGNMENT) * LAYER_ALIGNMENT
        self.packed = bytes(packed)
        self.extent_bytes = at + SUM_BYTES * len(planes)

    @property
    def layer_count(self) -> int:
        return len(self._offsets)

    def piece_bytes(self, first: int, count: int) -> int:
        """From the beginning of a layer to the end of the last of so many."""
        return self._ends[first + count - 1] - self._offsets[first]
