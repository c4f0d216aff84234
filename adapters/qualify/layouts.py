"""Every layout of the engines: random bytes published from one engine's pages and restored to other pages of another engine.

All bytes of both engines' tensors are compared: restored pages with their source, every other page with what it was.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from orbitkv import Group, RestoreGroup
from orbitkv.cuda.ring import RingShape
from orbitkv.pages import GroupTensors, NamedTensor
from qualify.common import Manager, PagedEngine, gigabytes_per_second, keys_of, say, torch_module

Tensors = list[Any]


@dataclass(frozen=True, slots=True)
class Kind:
    """A group of a layout: its rule, and how to make its tensors and the views that index them by block."""

    group: Group
    make: Callable[[Any, int], tuple[Tensors, list[NamedTensor]]]
    block_dim: int


def _group(group_id: int, component: str = "ATTENTION_KV", rule: str = "PREFIX", replicated: bool = False) -> Group:
    return Group(group_id, component, 16, rule, 0, None, replicated)


def _named(tensors: Tensors) -> list[NamedTensor]:
    return [NamedTensor(f"model.layers.{index}", tensor) for index, tensor in enumerate(tensors)]


def _bytes(torch: Any, *shape: int) -> Any:
    return torch.randint(0, 256, shape, dtype=torch.uint8, device="cuda")


def _dense(layers: int, *inner: int, order: tuple[int, ...] | None = None, leading: int = 0) -> Callable[..., Any]:
    """Tensors of (blocks, *inner), or (leading, blocks, *inner); `order` permutes what is dense in memory."""

    def make(torch: Any, blocks: int) -> tuple[Tensors, list[NamedTensor]]:
        shape = (leading, blocks, *inner) if leading else (blocks, *inner)
        tensors: Tensors = []
        for _ in range(layers):
            if order is None:
                tensors.append(_bytes(torch, *shape))
            else:
                dense = _bytes(torch, *(shape[dim] for dim in order))
                tensors.append(dense.permute(*(order.index(dim) for dim in range(len(shape)))))
        return tensors, _named(tensors)

    return make


def _cross_layers(layers: int, *inner: int) -> Callable[..., Any]:
    """One tensor of all layers, block-first in memory: (layers, blocks, ...) with a block's layers side by side."""

    def make(torch: Any, blocks: int) -> tuple[Tensors, list[NamedTensor]]:
        whole = _bytes(torch, blocks, layers, *inner).transpose(0, 1)
        return [whole], [NamedTensor(f"model.layers.{layer}", whole, layer) for layer in range(layers)]

    return make


def _recurrent(layers: int, conv: int, state: int) -> Callable[..., Any]:
    """Convolution and recurrent state of each layer in one storage, a page's parts side by side."""

    def make(torch: Any, blocks: int) -> tuple[Tensors, list[NamedTensor]]:
        storages: Tensors = [_bytes(torch, blocks, conv + state + 48) for _ in range(layers)]
        named: list[NamedTensor] = []
        for index, storage in enumerate(storages):
            named.append(NamedTensor(f"model.layers.{index}.mixer", storage[:, :conv]))
            named.append(NamedTensor(f"model.layers.{index}.mixer", storage[:, conv : conv + state]))
        return storages, named

    return make


BLOCKS = 257
LAYOUTS: dict[str, list[Kind]] = {
    # Sizes in bytes: 16 tokens, 8 heads, 128 elements of 2 bytes.
    "NHD, K and V planes": [Kind(_group(0), _dense(8, 16, 8, 256, leading=2), 1)],
    "NHD, K and V in the last dimension": [Kind(_group(0), _dense(8, 8, 16, 512, order=(0, 2, 1, 3)), 0)],
    "HND": [Kind(_group(0), _dense(8, 8, 16, 512), 0)],
    "heads outside of blocks": [Kind(_group(0), _dense(8, 8, 16, 512, order=(1, 0, 2, 3)), 0)],
    "block first, all layers": [Kind(_group(0), _cross_layers(24, 8, 16, 512), 1)],
    "MLA": [Kind(_group(0, "MLA", replicated=True), _dense(8, 16, 1152), 0)],
    "fp8 with odd sizes": [Kind(_group(0), _dense(5, 5, 3, 77, leading=2), 1)],
    "hybrid with recurrent state": [
        Kind(_group(0), _dense(2, 16, 8, 256, leading=2), 1),
        Kind(_group(1, "RECURRENT", "CHECKPOINT"), _recurrent(6, 6144, 524_288), 0),
    ],
}


def run(launcher: str) -> list[dict[str, object]]:
    torch = torch_module()
    manager = Manager(launcher, "6gb")
    rows: list[dict[str, object]] = []
    try:
        manager.start()
        for name, kinds in LAYOUTS.items():
            for slot_mb in (16, 2):
                rows.append(_run_layout(torch, manager, name, kinds, slot_mb))
                say("layouts:", rows[-1])
    finally:
        manager.close()
    return rows


def _run_layout(torch: Any, manager: Manager, name: str, kinds: list[Kind], slot_mb: int) -> dict[str, object]:
    rng = random.Random(f"{name}/{slot_mb}")
    count = BLOCKS // 2
    source = [kind.make(torch, BLOCKS) for kind in kinds]
    target = [kind.make(torch, BLOCKS) for kind in kinds]
    before = [[tensor.clone() for tensor in tensors] for tensors, _ in source]
    expected = [[tensor.clone() for tensor in tensors] for tensors, _ in target]
    ring = RingShape(slot_mb << 20, 3, 3)
    title = f"{name}/{slot_mb}".replace(" ", "-").replace(",", "")

    def engine(which: list[tuple[Tensors, list[NamedTensor]]], role: str) -> PagedEngine:
        groups = [
            (kind.group, GroupTensors(kind.group.group_id, BLOCKS, named))
            for kind, (_, named) in zip(kinds, which, strict=True)
        ]
        return PagedEngine(manager.socket_path, f"{title}/{role}", groups, ring, title)

    writer, reader = engine(source, "writer"), engine(target, "reader")
    keys = {kind.group.group_id: keys_of(f"{title}/{kind.group.group_id}", count) for kind in kinds}
    seconds = {"publish": 0.0, "restore": 0.0}
    asked: list[RestoreGroup] = []
    try:
        stored = 0
        for index, kind in enumerate(kinds):
            blocks = rng.sample(range(BLOCKS), count)
            began = time.perf_counter()
            stored += writer.publish(kind.group.group_id, keys[kind.group.group_id], blocks).stored_bytes
            seconds["publish"] += time.perf_counter() - began
            places = rng.sample(range(BLOCKS), count)
            needed = range(count) if kind.group.rule == "PREFIX" else range(count - 1, count)
            for tensor, former in zip(expected[index], before[index], strict=True):
                for at in needed:
                    tensor.select(kind.block_dim, places[at]).copy_(former.select(kind.block_dim, blocks[at]))
            if kind.group.component == "RECURRENT":
                # The bytes behind a page's parts are nobody's.
                for tensor, own in zip(expected[index], target[index][0], strict=True):
                    tensor[:, -48:] = own[:, -48:]
            asked.append(RestoreGroup(kind.group.group_id, min(needed) * 16, [places[at] for at in needed]))
        torch.cuda.synchronize()
        ready = reader.lookup(keys)
        began = time.perf_counter()
        restored = reader.restore(ready, asked).restored_bytes
        seconds["restore"] += time.perf_counter() - began
        exact = all(
            torch.equal(got, want)
            for (tensors, _), wanted in zip(target, expected, strict=True)
            for got, want in zip(tensors, wanted, strict=True)
        )
        untouched = all(
            torch.equal(got, want)
            for (tensors, _), wanted in zip(source, before, strict=True)
            for got, want in zip(tensors, wanted, strict=True)
        )
    finally:
        reader.close()
        writer.close()
    return {
        "layout": name,
        "slot MiB": slot_mb,
        "segments of": "/".join(str(size) for size in sorted({layer.segment_bytes for layer in writer.pages.layers})),
        "MB": round(restored / 1e6),
        "exact": exact and untouched,
        "publish GB/s": gigabytes_per_second(stored, seconds["publish"]),
        "restore GB/s": gigabytes_per_second(restored, seconds["restore"]),
    }

