"""Moves between staging slots and pages: checks what is posted for a slot and puts its kernel on a stream.

A kernel that reads or writes where it must not would end the engine's context, so nothing of what the Manager posts is
believed: every page and every offset is compared with what was registered.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from pathlib import Path

from orbitkv.cuda.api import CudaApi, address, number
from orbitkv.cuda.board import ENTRY_BYTES, GATHER, MAX_ENTRIES, MAX_SUMS, SCATTER, Board, Work
from orbitkv.cuda.ring import StagingRing
from orbitkv.cuda.tables import GroupTable

PTX = Path(__file__).with_name("pages.ptx")
KERNELS = ("orbitkv_begin", "orbitkv_scatter", "orbitkv_gather")
THREADS = 256
"""Of a block. With one block for each multiprocessor this was measured to disturb a decoding engine least (docs/benchmarks.md)."""
WARPS_PER_BLOCK = THREADS // 32
CHUNK_BYTES = 4096
"""What a warp takes at a time."""

INLINE_ENTRIES = 240
"""So many travel with a launch; more are brought by a small kernel before it."""
INLINE_BYTES = INLINE_ENTRIES * ENTRY_BYTES

SMALL_BLOCKS = 8
"""Of the kernel that brings entries."""

_ENTRIES_SIZE = MAX_ENTRIES * ENTRY_BYTES
_SUMS_SIZE = MAX_SUMS * 8
_FINISHED_SIZE = 64
"""The word that counts a launch's blocks, and what keeps the next slot's memory aligned."""
_SCRATCH_SIZE = _ENTRIES_SIZE + _SUMS_SIZE + _FINISHED_SIZE
# Bits that must be zero in every entry: the reserved word, and the offset's below 64.
_ENTRY_ZEROS = (0xFFFFFFFF << 32) | (63 << 64)
_ALL_ZEROS = sum(_ENTRY_ZEROS << (8 * ENTRY_BYTES * index) for index in range(MAX_ENTRIES))


class BadWork(ValueError):
    """What is posted does not fit what was registered."""


def _small(words: int) -> int:
    """Blocks of a kernel that moves so many words."""
    return min(SMALL_BLOCKS, -(-words // THREADS))


class Kernels:
    """The kernels, two streams, and for each slot the memory that a launch needs. The device's context is current."""

    def __init__(self, api: CudaApi, ring: StagingRing, tables: Mapping[int, GroupTable]) -> None:
        self._api = api
        self._ring = ring
        self._tables = dict(tables)
        self._module, (self._begin, self._scatter, self._gather) = api.load(PTX.read_bytes() + b"\0", KERNELS)
        self._layers: dict[int, int] = {}
        packed = bytearray()
        for group_id, table in self._tables.items():
            self._layers[group_id] = len(packed)
            packed += table.packed
        slots = ring.shape.slot_count
        self._device = api.allocate(-(-len(packed) // 256) * 256 + slots * _SCRATCH_SIZE)
        self._scratch = self._device + -(-len(packed) // 256) * 256
        self._host = api.allocate_host(slots * _SCRATCH_SIZE)
        self._blocks = ring.device.multiprocessors
        self.load_stream = api.open_stream()
        self.save_stream = api.open_stream()
        self._events = [api.open_event() for _ in range(slots)]
        self._ordering = [api.open_event() for _ in range(2)]
        api.upload(self._device, bytes(packed))
        # A launch leaves its sums and its count of blocks as it needs them: zero.
        api.upload(self._scratch, bytes(slots * _SCRATCH_SIZE))

    def close(self) -> None:
        """Nothing may be under way."""
        api = self._api
        for event in (*self._events, *self._ordering):
            api.close_event(event)
        for stream in (self.load_stream, self.save_stream):
            api.close_stream(stream)
        api.free_host(self._host)
        api.free(self._device)
        api.unload(self._module)

    def stream_of(self, slot: int) -> int:
        return self.load_stream if slot < self._ring.shape.load_slots else self.save_stream

    def order_after(self, engine_stream: int, *, saves: bool) -> None:
        """Gathers (or scatters) launched from now on wait for what is on that stream now."""
        event = self._ordering[saves]
        self._api.record(event, engine_stream)
        self._api.wait_event(self.save_stream if saves else self.load_stream, event)

    def launch(self, board: Board, slot: int, work: Work) -> bool:
        """Puts the slot's kernel on its stream; whether it can run at once, or waits for the engine's work first.

        BadWork where it must not run.
        """
        table = self._checked(slot, work)
        api, stream = self._api, self.stream_of(slot)
        host, device = self._host + slot * _SCRATCH_SIZE, self._scratch + slot * _SCRATCH_SIZE
        board.copy_entries(slot, work.entry_count, host)
        piece = table.piece_bytes(work.first_layer, work.layer_count)
        entries = self._checked_entries(table, piece, host, work.entry_count)
        travel = work.entry_count <= INLINE_ENTRIES
        if not travel:
            words = work.entry_count * ENTRY_BYTES // 8
            api.launch(self._begin, _small(words), THREADS, [address(host), address(device), number(words)], stream)
        sums = device + _ENTRIES_SIZE if work.wants_sums else 0
        chunks = work.entry_count * (piece // CHUNK_BYTES + 2)
        arguments = [
            address(self._device + self._layers[work.group_id]),
            number(work.first_layer),
            number(work.layer_count),
            address(0 if travel else device),
            number(work.entry_count),
            address(self._ring.slot_address(slot)),
            address(sums),
            address(host + _ENTRIES_SIZE if sums else 0),
            address(sums + _SUMS_SIZE if sums else 0),
            (entries if travel else b"").ljust(INLINE_BYTES, b"\0"),
        ]
        function = self._scatter if work.kind == SCATTER else self._gather
        blocks = max(1, min(self._blocks, -(-chunks // WARPS_PER_BLOCK)))
        api.launch(function, blocks, THREADS, arguments, stream)
        api.record(self._events[slot], stream)
        return api.passed(self._ordering[stream == self.save_stream])

    def passed(self, slot: int) -> bool:
        """Whether the slot's last kernel is done."""
        return self._api.passed(self._events[slot])

    def wait(self, slot: int) -> None:
        self._api.await_event(self._events[slot])

    def write_sums(self, board: Board, slot: int, work: Work) -> None:
        """Copies the sums of a kernel that is done to the board."""
        if work.wants_sums:
            sums = work.entry_count * work.layer_count
            board.write_sums(slot, self._host + slot * _SCRATCH_SIZE + _ENTRIES_SIZE, sums)

    def _checked(self, slot: int, work: Work) -> GroupTable:
        expected = SCATTER if slot < self._ring.shape.load_slots else GATHER
        if work.kind != expected:
            raise BadWork(f"work of kind {work.kind} for slot {slot}")
        table = self._tables.get(work.group_id)
        if table is None:
            raise BadWork(f"group {work.group_id} was not registered")
        if not 1 <= work.layer_count <= table.layer_count - work.first_layer:
            raise BadWork(f"layers {work.first_layer}+{work.layer_count} of {table.layer_count}")
        if not 1 <= work.entry_count <= MAX_ENTRIES or work.entry_count * work.layer_count > MAX_SUMS:
            raise BadWork(f"{work.entry_count} entries of {work.layer_count} layers")
        return table

    def _checked_entries(self, table: GroupTable, piece: int, host: int, count: int) -> bytes:
        data = ctypes.string_at(host, count * ENTRY_BYTES)
        if int.from_bytes(data, "little") & _ALL_ZEROS:
            raise BadWork("an entry whose offset is no multiple of 64, or whose reserved word is not zero")
        with memoryview(data) as view:
            highest_page = max(view.cast("I")[0::4])
            highest_offset = max(view.cast("Q")[1::2])
        if highest_page >= table.block_count:
            raise BadWork(f"page {highest_page} of {table.block_count}")
        if highest_offset + piece > self._ring.shape.slot_bytes:
            raise BadWork(f"{piece} bytes at {highest_offset} of a slot of {self._ring.shape.slot_bytes}")
        return data


