"""Where an engine's pages lie in memory, told from a tensor's address, shape and strides.

Nothing is assumed about the order of dimensions: the block dimension is the one that has as many entries as the engine
has blocks, and a page is what remains, in ascending address order. What two engines must have in common to share such
bytes, the logical order of the dimensions, is named by `Planes.order`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol


class TensorLike(Protocol):
    """What is read of a torch tensor."""

    @property
    def shape(self) -> Sequence[int]: ...
    @property
    def device(self) -> object: ...
    def stride(self) -> Sequence[int]: ...
    def element_size(self) -> int: ...
    def data_ptr(self) -> int: ...


class GeometryError(ValueError):
    """A layout that cannot be registered; the message says why."""


@dataclass(frozen=True, slots=True)
class Plane:
    """Segments of every block, at one stride: one entry of a registration's `layers`. Sizes and strides in bytes."""

    address: int
    block_count: int
    block_stride: int
    segment_bytes: int
    segment_count: int = 1
    segment_stride: int = 0

    @property
    def bytes_per_block(self) -> int:
        return self.segment_bytes * self.segment_count

    @property
    def span_bytes(self) -> int:
        """From `address` to the end of the last block's last segment."""
        blocks = (self.block_count - 1) * self.block_stride
        return blocks + (self.segment_count - 1) * self.segment_stride + self.segment_bytes

    def segment_address(self, block: int, segment: int) -> int:
        return self.address + block * self.block_stride + segment * self.segment_stride


@dataclass(frozen=True, slots=True)
class Planes:
    planes: tuple[Plane, ...]
    order: str
    """Sizes of a page's dimensions as the engine names them, and their order in memory: `8x16x128:0,1,2`."""


def device_kind(tensor: TensorLike) -> str:
    """`cpu`, `cuda`, ..."""
    return str(getattr(tensor.device, "type", tensor.device)).split(":")[0]


def planes_of(
    tensor: TensorLike, block_count: int, *, layer_index: int | None = None, rows_per_block: int | None = None
) -> Planes:
    """The planes of one layer's tensor; with `layer_index`, of that entry of its first dimension.

    With `rows_per_block` the (then) first dimension is known to count rows, so many of them to a block.
    """
    item = tensor.element_size()
    dims = [(int(size), int(stride) * item) for size, stride in zip(tensor.shape, tensor.stride(), strict=True)]
    address = tensor.data_ptr()
    if layer_index is not None:
        address += layer_index * dims[0][1]
        dims = dims[1:]
    if any(size > 1 and stride <= 0 for size, stride in dims):
        raise GeometryError(f"a tensor of shape {tuple(tensor.shape)} and strides {tuple(tensor.stride())} repeats bytes")
    if rows_per_block is None:
        block_dim, per_block = _block_dimension([size for size, _ in dims], block_count)
    elif block_count * rows_per_block <= dims[0][0]:
        block_dim, per_block = 0, rows_per_block
    else:
        raise GeometryError(f"{dims[0][0]} rows are fewer than {block_count} blocks of {rows_per_block}")
    block_stride = dims[block_dim][1] * per_block
    inner = [dim for index, dim in enumerate(dims) if index != block_dim]
    if per_block > 1:
        inner.insert(0, (per_block, dims[block_dim][1]))
    by_stride = sorted(range(len(inner)), key=lambda index: -inner[index][1])
    order = "x".join(str(size) for size, _ in inner) + ":" + ",".join(str(index) for index in by_stride)
    outer, run = _coalesce([inner[index] for index in by_stride], item)
    segment_count, segment_stride = outer.pop() if outer else (1, 0)
    addresses = [address]
    for size, stride in outer:
        addresses = [base + index * stride for base in addresses for index in range(size)]
    planes = tuple(
        Plane(base, block_count, block_stride, run, segment_count, segment_stride) for base in sorted(addresses)
    )
    return Planes(planes, order)


def _block_dimension(sizes: Sequence[int], block_count: int) -> tuple[int, int]:
    """Which dimension counts blocks, and how many of its entries make one block."""
    exact = [index for index, size in enumerate(sizes) if size == block_count]
    if len(exact) == 1:
        return exact[0], 1
    if exact:
        raise GeometryError(f"in shape {tuple(sizes)} more than one dimension could be that of {block_count} blocks")
    # Kernels with smaller pages than the engine's: a block is some consecutive ones of theirs.
    multiple = [index for index, size in enumerate(sizes) if size > block_count and size % block_count == 0]
    if len(multiple) == 1:
        return multiple[0], sizes[multiple[0]] // block_count
    raise GeometryError(f"in shape {tuple(sizes)} no dimension is that of {block_count} blocks")


def _coalesce(dims: Sequence[tuple[int, int]], item: int) -> tuple[list[tuple[int, int]], int]:
    """Dimensions by falling stride to those that are not contiguous, and the bytes of a contiguous run."""
    outer = [(size, stride) for size, stride in dims if size > 1]
    run = item
    while outer and outer[-1][1] == run:
        run *= outer.pop()[0]
    merged: list[tuple[int, int]] = []
    for size, stride in outer:
        if merged and merged[-1][1] == size * stride:
            merged[-1] = (merged[-1][0] * size, stride)
        else:
            merged.append((size, stride))
    if merged and merged[-1][1] < run:
        raise GeometryError("a tensor whose elements overlap")
    return merged, run
