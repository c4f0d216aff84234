"""One session's shared memory: the two rings, the slots, the two eventfds (protocol, section 2).

No locks here: its user sees to it that one thread at a time touches it, but for `await_signal`.

Order of stores: payload, descriptor, tail, doorbell, always. The doorbell's system call makes the stores before it
visible to whoever reads the doorbell, so Python needs no fence. Cursors are read and written through views of u64,
which is one aligned access each; `struct` would write them byte by byte.
"""

from __future__ import annotations

import mmap
import os
import select
import time

from orbitkv.control import Registered
from orbitkv.wire import WireError
from orbitkv.wire.rings import (
    COMPLETION,
    COMPLETION_HEAD,
    COMPLETION_TAIL,
    DESCRIPTOR_BYTES,
    HEADER_PAGE_BYTES,
    SLOT_HEADER_BYTES,
    SLOT_LAYERS_DONE,
    SLOT_LAYERS_TOTAL,
    SUBMISSION,
    SUBMISSION_HEAD,
    SUBMISSION_TAIL,
    Completion,
    Submission,
    decode_channel_header,
)

TORN_SECONDS = 0.1
"""How long a completion may have a wrong sequence before the channel counts as broken."""


class Channel:
    def __init__(self, registered: Registered) -> None:
        """Maps the channel and takes over its descriptors; closes them if it is not as REGISTERED says."""
        self._fds = (registered.channel_fd, registered.doorbell_fd, registered.signal_fd)
        self.geometry = registered.geometry
        self.epoch = registered.epoch
        self.session_id = registered.session_id
        try:
            size = os.fstat(registered.channel_fd).st_size
            if size != self.geometry.total_bytes:
                raise WireError(f"the channel has {size} bytes, not {self.geometry.total_bytes}")
            self._map = mmap.mmap(registered.channel_fd, size)
        except BaseException:
            self._close_fds()
            raise
        self._doorbell_fd = registered.doorbell_fd
        self._signal_fd = registered.signal_fd
        self._poll = select.poll()
        self._poll.register(registered.signal_fd, select.POLLIN)
        self._bytes = memoryview(self._map)
        aligned = self._bytes[: size & ~7]
        self._u64 = aligned.cast("Q")
        self._u32 = aligned.cast("I")
        aligned.release()
        first = self.geometry.arena_offset + SLOT_HEADER_BYTES
        self._payloads = [
            self._bytes[first + slot * self.geometry.slot_bytes :][: self.geometry.max_payload_bytes]
            for slot in range(self.geometry.slot_count)
        ]
        self._mask = self.geometry.entries - 1
        self._submission_tail = 0
        self._completion_head = 0
        self._torn_since = 0.0
        try:
            header = decode_channel_header(self._bytes[:HEADER_PAGE_BYTES])
            expected = (registered.epoch, registered.session_id, registered.geometry)
            if (header.epoch, header.session_id, header.geometry) != expected:
                raise WireError("the channel's header page differs from REGISTERED")
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Unmaps the channel and closes its descriptors. Nobody may be in `await_signal`."""
        for view in (*self._payloads, self._u32, self._u64, self._bytes):
            view.release()
        self._map.close()
        self._close_fds()

    def _close_fds(self) -> None:
        for fd in self._fds:
            os.close(fd)

    # Submitting.

    def has_room(self) -> bool:
        return self._submission_tail - self._u64[SUBMISSION_HEAD // 8] <= self._mask

    def payload_of(self, slot: int) -> memoryview:
        return self._payloads[slot]

    def stamp(self, slot: int, generation: int) -> None:
        """Writes a slot's generation, and zero to its progress."""
        start = self.geometry.arena_offset + slot * self.geometry.slot_bytes
        self._u64[start // 8] = generation
        self._u32[(start + SLOT_LAYERS_DONE) // 4] = 0
        self._u32[(start + SLOT_LAYERS_TOTAL) // 4] = 0

    def submit(
        self,
        op: int,
        flags: int,
        slot: int,
        payload_bytes: int,
        request_id: int,
        slot_generation: int,
        handle: int,
        timeout_millis: int,
    ) -> None:
        """Writes the next descriptor and rings. There must be room; what the slot holds must be there already."""
        tail = self._submission_tail
        self.submit_raw(
            Submission(
                op,
                flags,
                slot,
                payload_bytes,
                tail,
                request_id,
                self.epoch,
                self.session_id,
                slot_generation,
                handle,
                timeout_millis,
            )
        )

    def submit_raw(self, submission: Submission) -> None:
        """The same with a descriptor that the caller made; only a test has a reason to."""
        tail = self._submission_tail
        entry = self.geometry.submission_offset + (tail & self._mask) * DESCRIPTOR_BYTES
        SUBMISSION.pack_into(self._bytes, entry, *submission)
        self._submission_tail = tail + 1
        self._u64[SUBMISSION_TAIL // 8] = tail + 1
        self.ring()

    @property
    def next_sequence(self) -> int:
        return self._submission_tail

    def ring(self) -> None:
        try:
            os.eventfd_write(self._doorbell_fd, 1)
        except BlockingIOError:
            pass  # It is ringing already.

    # Receiving.

    def await_signal(self, timeout_seconds: float) -> bool:
        """Waits until the signal rings, and takes the ring. False when it did not in time."""
        if self._torn_since:
            timeout_seconds = min(timeout_seconds, 0.001)
        rang = bool(self._poll.poll(timeout_seconds * 1000))
        try:
            os.eventfd_read(self._signal_fd)
        except BlockingIOError:
            pass  # Another thread took it.
        return rang

    def wake_self(self) -> None:
        """Lets the thread in `await_signal` return."""
        try:
            os.eventfd_write(self._signal_fd, 1)
        except BlockingIOError:
            pass

    def look(self) -> list[Completion]:
        """The completions that wait, oldest first. Their slots are the client's again after `taken`."""
        head = self._completion_head
        tail = self._u64[COMPLETION_TAIL // 8]
        if tail == head:
            return []
        if not head < tail <= head + self.geometry.entries:
            raise WireError(f"completionTail is {tail} where completionHead is {head}")
        found: list[Completion] = []
        for position in range(head, tail):
            entry = self.geometry.completion_offset + (position & self._mask) * DESCRIPTOR_BYTES
            completion = Completion._make(COMPLETION.unpack_from(self._bytes, entry))
            if completion.sequence != position:
                self._torn(position, completion.sequence)
                break
            self._torn_since = 0.0
            if completion.epoch != self.epoch:
                raise WireError(f"a completion of epoch {completion.epoch} in epoch {self.epoch}")
            if completion.payload_bytes > self.geometry.max_payload_bytes:
                raise WireError(f"a completion with a payload of {completion.payload_bytes} bytes")
            found.append(completion)
        return found

    def _torn(self, position: int, sequence: int) -> None:
        now = time.monotonic()
        if not self._torn_since:
            self._torn_since = now
        elif now - self._torn_since > TORN_SECONDS:
            raise WireError(f"completion {position} has sequence {sequence}")

    def taken(self, count: int) -> None:
        """Gives the entries of that many completions back.

        Rings when descriptors wait: the Manager may have stopped taking them for want of room in the completion ring.
        """
        self._completion_head += count
        self._u64[COMPLETION_HEAD // 8] = self._completion_head
        if self._u64[SUBMISSION_HEAD // 8] != self._submission_tail:
            self.ring()

    def progress(self, slot: int) -> tuple[int, int]:
        """layersDone and layersTotal of a slot with a running restore."""
        start = (self.geometry.arena_offset + slot * self.geometry.slot_bytes) // 4
        return self._u32[start + SLOT_LAYERS_DONE // 4], self._u32[start + SLOT_LAYERS_TOTAL // 4]
