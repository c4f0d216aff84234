"""An engine's pages as the Manager can reach them: the seam between adapters and kinds of memory.

`PageBuffers` is what adapters use; `open_pages` chooses the kind by where the tensors are. HOST serves CPU memory: pages
that lie in a `HostBuffer` are shared as they are, others are mirrored through one, at the price of a copy by this process.
CUDA_STAGED serves a GPU's (`orbitkv.cuda`).
"""

from __future__ import annotations

import ctypes
import hashlib
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from orbitkv.buffers import HostBuffer, buffer_with
from orbitkv.cuda.api import CudaApi, CudaError, CudaUnavailable
from orbitkv.cuda.ring import RingShape
from orbitkv.geometry import Plane, TensorLike, device_kind, planes_of
from orbitkv.registration import Buffer, Layer
from orbitkv.staging import Staging

MAX_WIRE_LAYERS = 4096


class UnsupportedPages(RuntimeError):
    """Pages in memory that this version cannot register."""


@dataclass(frozen=True, slots=True)
class NamedTensor:
    """One layer's pages of a group. A layer may have several tensors (recurrent and convolution state)."""

    layer_name: str
    tensor: TensorLike
    layer_index: int | None = None
    """Entry of the tensor's first dimension, where one tensor holds all layers."""
    rows_per_block: int | None = None
    """Where the first dimension counts rows, so many of them to a block; else it is told from the shape."""


@dataclass(frozen=True, slots=True)
class GroupTensors:
    group_id: int
    block_count: int
    tensors: Sequence[NamedTensor]


@dataclass(frozen=True, slots=True)
class Entry:
    """One plane and the number it has on the wire. Layers are restored in the order of these numbers."""

    wire_layer: int
    model_layer: int
    group_id: int
    layer_name: str
    plane: Plane


class PageBuffers(ABC):
    """The pages of one worker. Its methods belong to the thread that drives the engine."""

    kind: str

    def __init__(self, entries: Sequence[Entry], layout: str) -> None:
        self._entries = entries
        self.layout = layout
        """What engines must have in common, beside the dtype, for a page's bytes to mean the same."""
        self.buffers: Sequence[Buffer] = ()
        self.layers: Sequence[Layer] = ()
        self.staging: Staging | None = None
        """What the registration needs beside its buffers, where only this process touches the pages."""

    def bytes_per_block(self, group_id: int) -> int:
        return sum(entry.plane.bytes_per_block for entry in self._entries if entry.group_id == group_id)

    def layers_until(self, layer_name: str, group_ids: Iterable[int]) -> int:
        """How many layers a restore of these groups must have put in place for that one to be whole."""
        groups = set(group_ids)
        restored = [entry for entry in self._entries if entry.group_id in groups]
        ends = [index + 1 for index, entry in enumerate(restored) if entry.layer_name == layer_name]
        return ends[-1] if ends else 0

    def layers_through(self, model_layer: int, group_ids: Iterable[int]) -> int:
        """How many layers a restore of these groups must have put in place for that of the model and those before it."""
        groups = set(group_ids)
        return sum(entry.group_id in groups and entry.model_layer <= model_layer for entry in self._entries)

    @property
    @abstractmethod
    def direct(self) -> bool:
        """Whether a restore writes the engine's own memory, so that a layer can be used as soon as it is in place."""

    @abstractmethod
    def before_publish(self, group_id: int, blocks: Sequence[int]) -> None:
        """Makes the bytes of these blocks visible to the Manager; called before PUBLISH."""

    def before_restore(self, group_id: int, blocks: Sequence[int]) -> None:
        """Called before RESTORE into these blocks is asked for."""
        del group_id, blocks

    @abstractmethod
    def after_restore(self, group_id: int, blocks: Sequence[int]) -> None:
        """Makes restored bytes visible to the engine; called when the restore of these blocks is over and good."""

    @abstractmethod
    def close(self) -> None:
        """Gives up what this object allocated; called when no client has it registered."""


class HostPages(PageBuffers):
    """CPU memory."""

    kind = "HOST"

    def __init__(self, entries: Sequence[Entry], layout: str) -> None:
        super().__init__(entries, layout)
        shared = [buffer_with(entry.plane.address, entry.plane.span_bytes) for entry in entries]
        found = [buffer for buffer in shared if buffer is not None]
        self._mirror: HostBuffer | None = None
        if len(found) == len(entries):
            distinct = list(dict.fromkeys(found))
            self.buffers = distinct
            self.layers = [
                wire_layer(entry, distinct.index(buffer), entry.plane.address - buffer.address, entry.plane)
                for entry, buffer in zip(entries, found, strict=True)
            ]
        else:
            self._mirror_all(entries)

    @property
    def direct(self) -> bool:
        """False where pages are copied through a buffer of this object's: the engine's own cannot be shared."""
        return self._mirror is None

    def _mirror_all(self, entries: Sequence[Entry]) -> None:
        total = sum(entry.plane.block_count * entry.plane.bytes_per_block for entry in entries)
        mirror = HostBuffer(total, "orbitkv-mirror")
        layers: list[Layer] = []
        offset = 0
        for entry in entries:
            size = entry.plane.bytes_per_block
            layers.append(wire_layer(entry, 0, offset, Plane(0, entry.plane.block_count, size, size)))
            offset += entry.plane.block_count * size
        self._mirror, self.buffers, self.layers = mirror, [mirror], layers

    def before_publish(self, group_id: int, blocks: Sequence[int]) -> None:
        self._copy(group_id, blocks, to_mirror=True)

    def after_restore(self, group_id: int, blocks: Sequence[int]) -> None:
        self._copy(group_id, blocks, to_mirror=False)

    def _copy(self, group_id: int, blocks: Sequence[int], *, to_mirror: bool) -> None:
        if self._mirror is None:
            return
        for entry, layer in zip(self._entries, self.layers, strict=True):
            if entry.group_id != group_id:
                continue
            plane = entry.plane
            for block in blocks:
                mirrored = self._mirror.address + layer.offset_of(block)
                for segment in range(plane.segment_count):
                    there = plane.segment_address(block, segment)
                    target, source = (mirrored, there) if to_mirror else (there, mirrored)
                    ctypes.memmove(target, source, plane.segment_bytes)
                    mirrored += plane.segment_bytes

    def close(self) -> None:
        if self._mirror is not None:
            self._mirror.close()
            self._mirror = None


def wire_layer(entry: Entry, buffer: int, base_offset: int, plane: Plane) -> Layer:
    return Layer(
        entry.group_id,
        entry.wire_layer,
        buffer,
        base_offset,
        plane.block_count,
        plane.block_stride,
        plane.segment_bytes,
        plane.segment_count,
        plane.segment_stride,
    )


def model_layer(name: str, otherwise: int) -> int:
    """The number of a layer in its model, told from the first number in its name."""
    found = re.search(r"(?:^|\.)(\d+)(?:\.|$)", name)
    return int(found.group(1)) if found else otherwise


def open_pages(
    groups: Sequence[GroupTensors], ring: RingShape | None = None, cuda: Callable[[], CudaApi] | None = None
) -> PageBuffers:
    """Registrable pages of these tensors. UnsupportedPages or GeometryError say why there are none.

    `ring` shapes the staging slots of pages on a GPU; `cuda` opens the driver, by default this process's.
    """
    kinds = {device_kind(named.tensor) for group in groups for named in group.tensors}
    if kinds - {"cpu", "cuda"} or len(kinds) > 1:
        raise UnsupportedPages(
            f"the engine's pages are on {' and '.join(sorted(kinds))}: OrbitKV serves pages that are all on an NVIDIA GPU "
            "(cuda) or all in host memory (cpu); run this engine without OrbitKV"
        )
    found: list[tuple[int, int, int, str, Plane]] = []
    orders: list[str] = []
    for group in groups:
        for position, named in enumerate(group.tensors):
            planes = planes_of(
                named.tensor,
                group.block_count,
                layer_index=named.layer_index,
                rows_per_block=named.rows_per_block,
            )
            orders.append(f"{group.group_id}/{planes.order}/{named.tensor.element_size()}")
            number = model_layer(named.layer_name, position)
            found += [(number, group.group_id, position, named.layer_name, plane) for plane in planes.planes]
    if not found:
        raise UnsupportedPages("the engine registered no pages")
    if len(found) > MAX_WIRE_LAYERS:
        raise UnsupportedPages(f"{len(found)} separate planes of pages, a registration has at most {MAX_WIRE_LAYERS}")
    found.sort(key=lambda entry: entry[:3])
    entries = [
        Entry(wire_layer, number, group_id, name, plane)
        for wire_layer, (number, group_id, _, name, plane) in enumerate(found)
    ]
    digest = hashlib.sha256("\n".join(orders).encode()).hexdigest()[:16]
    layout = f"{orders[0].split('/')[1]}-{digest}"[-64:]
    return _staged(entries, layout, ring or RingShape(), cuda) if kinds == {"cuda"} else HostPages(entries, layout)


def _staged(
    entries: Sequence[Entry], layout: str, ring: RingShape, cuda: Callable[[], CudaApi] | None
) -> PageBuffers:
    # Only processes with pages on a GPU load the driver.
    from orbitkv.cuda.libcuda import open_library
    from orbitkv.cuda.pages import StagedPages

    try:
        return StagedPages(entries, layout, ring, (cuda or open_library)())
    except (CudaUnavailable, CudaError) as e:
        raise UnsupportedPages(f"the engine's pages are on a GPU that OrbitKV cannot use: {e}") from e
