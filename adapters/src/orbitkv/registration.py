"""What an engine tells the Manager about itself: REGISTER (protocol, section 1.4).

Ranges and consistency are the Manager's to check: it refuses with the field named.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from orbitkv.staging import Staging

LOAD, SAVE, QUERY = "LOAD", "SAVE", "QUERY"


class Buffer(Protocol):
    """Memory that layers lie in."""

    @property
    def size_bytes(self) -> int: ...
    @property
    def fd(self) -> int | None:
        """What goes with REGISTER, where the Manager maps the memory."""
        ...

    def to_json(self) -> dict[str, object]: ...


@dataclass(frozen=True, slots=True)
class ParallelShape:
    """How the model is cut."""

    tensor_parallel: int = 1
    pipeline_parallel: int = 1
    context_parallel: int = 1
    kv_heads: int = 0
    """KV heads of the whole model, 0 where there are none."""

    def to_json(self) -> dict[str, object]:
        return {
            "tensorParallel": self.tensor_parallel,
            "pipelineParallel": self.pipeline_parallel,
            "contextParallel": self.context_parallel,
            "kvHeads": self.kv_heads,
        }


@dataclass(frozen=True, slots=True)
class StateFormat:
    """What two engines must have in common to share bytes. Opaque strings, compared byte for byte."""

    model_digest: str
    implementation_digest: str
    dtype: str
    layout: str
    parallel: ParallelShape = ParallelShape()

    def to_json(self) -> dict[str, object]:
        return {
            "modelDigest": self.model_digest,
            "implementationDigest": self.implementation_digest,
            "dtype": self.dtype,
            "layout": self.layout,
            "parallel": self.parallel.to_json(),
        }


@dataclass(frozen=True, slots=True)
class Group:
    """One kind of state: its recovery rule and its page size."""

    group_id: int
    component: str
    """ATTENTION_KV, MLA, RECURRENT, CONVOLUTION, SWA, DRAFT or INDEXER."""
    page_tokens: int
    rule: str
    """PREFIX, WINDOW or CHECKPOINT."""
    bytes_per_block: int
    """One shard's slice of a block: what its layers' segments add up to."""
    window_tokens: int | None = None
    """With WINDOW only."""
    replicated: bool = False

    def to_json(self) -> dict[str, object]:
        fields: dict[str, object] = {
            "groupId": self.group_id,
            "component": self.component,
            "pageTokens": self.page_tokens,
            "rule": self.rule,
        }
        if self.window_tokens is not None:
            fields["windowTokens"] = self.window_tokens
        fields["replicated"] = self.replicated
        fields["bytesPerBlock"] = self.bytes_per_block
        return fields


@dataclass(frozen=True, slots=True)
class Layer:
    """Where the blocks of one layer of one group lie in a buffer. Offsets, strides and sizes in bytes."""

    group_id: int
    layer: int
    buffer: int
    """Index in Registration.buffers."""
    base_offset: int
    block_count: int
    block_stride: int
    segment_bytes: int
    segment_count: int = 1
    segment_stride: int = 0

    def offset_of(self, block: int, segment: int = 0) -> int:
        """Where in the buffer that segment begins."""
        return self.base_offset + block * self.block_stride + segment * self.segment_stride

    def to_json(self) -> dict[str, object]:
        return {
            "groupId": self.group_id,
            "layer": self.layer,
            "buffer": self.buffer,
            "baseOffset": self.base_offset,
            "blockCount": self.block_count,
            "blockStride": self.block_stride,
            "segmentCount": self.segment_count,
            "segmentStride": self.segment_stride,
            "segmentBytes": self.segment_bytes,
        }


def dense_layers(
    layer_count: int,
    block_count: int,
    bytes_per_layer: int,
    *,
    group_id: int = 0,
    first_layer: int = 0,
    buffer: int = 0,
    base_offset: int = 0,
) -> tuple[Layer, ...]:
    """Layers one after the other, each an array of blocks of `bytes_per_layer` bytes."""
    plane_bytes = block_count * bytes_per_layer
    return tuple(
        Layer(
            group_id,
            first_layer + index,
            buffer,
            base_offset + index * plane_bytes,
            block_count,
            bytes_per_layer,
            bytes_per_layer,
        )
        for index in range(layer_count)
    )


@dataclass(frozen=True, slots=True)
class Registration:
    """One process's part of an instance. A QUERY session has groups but neither buffers nor layers."""

    instance: str
    namespace: str
    format: StateFormat
    groups: Sequence[Group]
    layers: Sequence[Layer] = ()
    buffers: Sequence[Buffer] = ()
    shard: int = 0
    shard_count: int = 1
    role: str = LOAD
    staging: Staging | None = None
    """With buffers of kind CUDA_STAGED."""

    @property
    def fds(self) -> list[int]:
        """The descriptors that go with REGISTER."""
        return [buffer.fd for buffer in self.buffers if buffer.fd is not None]

    def to_json(self) -> dict[str, object]:
        fields: dict[str, object] = {
            "instance": self.instance,
            "namespace": self.namespace,
            "format": self.format.to_json(),
            "shard": self.shard,
            "shardCount": self.shard_count,
            "role": self.role,
            "groups": [group.to_json() for group in self.groups],
            "buffers": [buffer.to_json() for buffer in self.buffers],
            "layers": [layer.to_json() for layer in self.layers],
        }
        if self.staging is not None:
            fields["staging"] = self.staging.to_json()
        return fields

    def save_json(self, parent_session_id: int) -> dict[str, object]:
        """A SAVE session attached to that LOAD session."""
        return {
            "instance": self.instance,
            "namespace": self.namespace,
            "shard": self.shard,
            "shardCount": self.shard_count,
            "role": SAVE,
            "attachTo": parent_session_id,
        }
