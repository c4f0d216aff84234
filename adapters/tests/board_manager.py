"""The Manager's side of a board, as the contract has it: what a test posts, and what it gets back."""

from __future__ import annotations

import fcntl
import mmap
import os
import select
import struct
import time
from collections.abc import Sequence
from dataclasses import dataclass

from orbitkv.staging import BoardHandover

SLOTS_AT = 4096
STRIDE = 69_632 + 8 * 65_536
SCATTER, GATHER = 1, 2


@dataclass(frozen=True, slots=True)
class Outcome:
    status: int
    detail: int
    sums: tuple[int, ...]


class BoardManager:
    def __init__(self, slots: int, loads: int, epoch: int = 7, session_id: int = 12) -> None:
        self.size = SLOTS_AT + slots * STRIDE
        self.fd = os.memfd_create("board", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self.fd, self.size)
        fcntl.fcntl(self.fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
        self.memory = mmap.mmap(self.fd, self.size)
        header = struct.pack("<8s6I4Q", b"OKVBRD01", 1, slots, loads, 4096, 65_536, 0, STRIDE, SLOTS_AT, epoch, session_id)
        self.memory[: len(header)] = header
        flags = os.EFD_CLOEXEC | os.EFD_NONBLOCK
        self.to_engine, self.to_manager = os.eventfd(0, flags), os.eventfd(0, flags)
        self._posted = [(0, 0)] * slots

    @property
    def fds(self) -> tuple[int, int, int]:
        return self.fd, self.to_engine, self.to_manager

    def handover(self) -> BoardHandover:
        return BoardHandover(self.size, *(os.dup(fd) for fd in self.fds))

    def turn(self, slot: int) -> int:
        return int.from_bytes(self.memory[SLOTS_AT + slot * STRIDE :][:8], "little")

    def post(
        self,
        slot: int,
        kind: int,
        entries: Sequence[tuple[int, int]],
        *,
        group: int = 0,
        first: int = 0,
        layers: int = 1,
        sums: bool = True,
        reserved: int = 0,
    ) -> None:
        """Entries are pages and offsets in the slot."""
        start = SLOTS_AT + slot * STRIDE
        turn = self.turn(slot)
        assert turn % 2 == 0, "the slot is the engine's"
        work = struct.pack("<3Q6I", 1, 2, 12, group, kind, first, layers, len(entries), int(sums))
        self.memory[start + 128 : start + 128 + len(work)] = work
        packed = b"".join(struct.pack("<2IQ", page, reserved, offset) for page, offset in entries)
        self.memory[start + 512 : start + 512 + len(packed)] = packed
        self._posted[slot] = (turn + 1, len(entries) * layers)
        self.memory[start : start + 8] = (turn + 1).to_bytes(8, "little")
        os.eventfd_write(self.to_engine, 1)

    def is_done(self, slot: int) -> bool:
        return self.turn(slot) == self._posted[slot][0] + 1

    def outcome(self, slot: int, seconds: float = 5) -> Outcome:
        """Waits for the engine."""
        deadline = time.monotonic() + seconds
        while not self.is_done(slot):
            assert time.monotonic() < deadline, f"slot {slot} was not done within {seconds} s"
            select.select([self.to_manager], [], [], 0.05)
        start = SLOTS_AT + slot * STRIDE
        status, detail = struct.unpack_from("<2I", self.memory, start + 256)
        count = self._posted[slot][1]
        return Outcome(status, detail, struct.unpack_from(f"<{count}Q", self.memory, start + 69_632))

    def close(self) -> None:
        self.memory.close()
        for fd in self.fds:
            os.close(fd)
