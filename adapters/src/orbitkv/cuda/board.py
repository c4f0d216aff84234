"""The board: shared memory on which the Manager posts work for staging slots and the engine answers (docs/protocol.md).

The Manager made and sealed it. Neither side trusts the other: what is posted is copied out before it is looked at. A
slot's `turn` is odd while the slot is the engine's. Python has no fences of its own: a lock taken between the turn and what
it stands for orders them on every processor.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import struct
import threading
from dataclasses import dataclass

from orbitkv.wire import WireError

HEADER = struct.Struct("<8s6I4Q")
HEADER_BYTES = 4096
MAGIC = b"OKVBRD01"
VERSION = 1
MAX_ENTRIES = 4096
MAX_SUMS = 65_536
ENTRY_BYTES = 16

TURN = 0
WORK = struct.Struct("<3Q6I")
WORK_AT = 128
OUTCOME = struct.Struct("<2I")
OUTCOME_AT = 256
ENTRIES_AT = 512
SUMS_AT = 69_632

SCATTER, GATHER = 1, 2
SUMS_WANTED = 1
DONE, REFUSED, FAILED = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Work:
    """What is posted for a slot; its entries are copied separately."""

    operation_id: int
    request_id: int
    session_id: int
    group_id: int
    kind: int
    first_layer: int
    layer_count: int
    entry_count: int
    flags: int

    @property
    def wants_sums(self) -> bool:
        return bool(self.flags & SUMS_WANTED)


class Board:
    """The engine's view. For one thread at a time."""

    def __init__(self, fd: int, size_bytes: int, slot_count: int, load_slots: int) -> None:
        """Maps the board; the descriptor stays the caller's. WireError where it is not as the contract says."""
        size = os.fstat(fd).st_size
        if size != size_bytes or size < HEADER_BYTES:
            raise WireError(f"the board has {size} bytes, not {size_bytes}")
        self._map = mmap.mmap(fd, size)
        self._bytes = memoryview(self._map)
        self._address = ctypes.addressof(ctypes.c_char.from_buffer(self._map))
        self._order = threading.Lock()
        fields = HEADER.unpack_from(self._bytes, 0)
        magic, version, slots, loads, max_entries, max_sums, _, stride, first, self.epoch, self.session_id = fields
        expected = (MAGIC, VERSION, slot_count, load_slots, MAX_ENTRIES, MAX_SUMS)
        if (magic, version, slots, loads, max_entries, max_sums) != expected:
            self.close()
            raise WireError(f"the board's header is {fields}")
        if stride < SUMS_AT + 8 * MAX_SUMS or stride % 8 or first % 8 or first + slots * stride > size:
            self.close()
            raise WireError(f"a board of {size} bytes cannot have {slots} slots of {stride} bytes from {first} on")
        self.slot_count, self.load_slots = slot_count, load_slots
        self._starts: list[int] = [first + slot * stride for slot in range(slots)]
        self._u64 = self._bytes[: size & ~7].cast("Q")

    def close(self) -> None:
        for name in ("_u64", "_bytes"):
            view: memoryview | None = getattr(self, name, None)
            if view is not None:
                view.release()
        self._map.close()

    def turn(self, slot: int) -> int:
        return self._u64[(self._starts[slot] + TURN) // 8]

    def work(self, slot: int) -> Work:
        """What is posted for the slot, whose turn was seen to be odd."""
        with self._order:
            return Work(*WORK.unpack_from(self._bytes, self._starts[slot] + WORK_AT))

    def copy_entries(self, slot: int, count: int, address: int) -> None:
        """Copies that many entries to memory of the engine's own."""
        ctypes.memmove(address, self._address + self._starts[slot] + ENTRIES_AT, count * ENTRY_BYTES)

    def write_sums(self, slot: int, address: int, count: int) -> None:
        ctypes.memmove(self._address + self._starts[slot] + SUMS_AT, address, 8 * count)

    def finish(self, slot: int, turn: int, status: int, detail: int) -> None:
        """Writes the outcome, then hands the slot back."""
        OUTCOME.pack_into(self._bytes, self._starts[slot] + OUTCOME_AT, status, detail)
        with self._order:
            pass
        self._u64[(self._starts[slot] + TURN) // 8] = turn + 1
