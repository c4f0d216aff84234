"""The channel's shared memory (protocol, section 2): header page, descriptors, slots."""

from __future__ import annotations

import enum
import struct
from dataclasses import dataclass
from typing import NamedTuple

from orbitkv.wire import WireError

CHANNEL_MAGIC = 0x314E4843564B524F
LAYOUT_VERSION = 1
DESCRIPTOR_BYTES = 64
HEADER_PAGE_BYTES = 4096
SLOT_HEADER_BYTES = 64
NO_SLOT = 0xFFFF
MAX_CHANNEL_BYTES = 1 << 32

# Offsets of the cursors in the header page.
SUBMISSION_TAIL = 1024
SUBMISSION_HEAD = 1152
COMPLETION_TAIL = 1280
COMPLETION_HEAD = 1408

# Offsets in a slot.
SLOT_GENERATION = 0
SLOT_LAYERS_DONE = 8
SLOT_LAYERS_TOTAL = 12

SUBMISSION = struct.Struct("<BBHIQQQQQQII")
COMPLETION = struct.Struct("<BBHIQQQBBHIQQQ")
CHANNEL_HEADER = struct.Struct("<QIIQQQQQQII")


class Op(enum.IntEnum):
    PING = 1
    QUERY = 2
    POLL = 3
    CANCEL = 4
    PUBLISH = 5
    RESTORE = 6
    RELEASE = 7
    PREPARE = 8


class Status(enum.IntEnum):
    OK = 1
    READY = 2
    LOADING = 3
    MISS = 4
    REFUSED = 5
    CANCELLED = 6
    FAILED = 7


# Flags of submissions.
QUERY_WAIT = 1
QUERY_DISCOVER = 2
QUERY_REPLACE = 4
CANCEL_BY_REQUEST = 1
RESTORE_PROGRESS = 1
RESTORE_RELEASE = 2

# Flags of completions.
MORE = 1
NOTICE = 2
TEXT = 4


class Submission(NamedTuple):
    """In the order of the wire, so that SUBMISSION.pack(*submission) encodes it."""

    op: int
    flags: int
    slot: int
    payload_bytes: int
    sequence: int
    request_id: int
    epoch: int
    session_id: int
    slot_generation: int
    handle: int
    timeout_millis: int
    reserved: int = 0


class Completion(NamedTuple):
    """In the order of the wire, so that Completion._make(COMPLETION.unpack(...)) decodes it."""

    op: int
    flags: int
    slot: int
    payload_bytes: int
    sequence: int
    request_id: int
    epoch: int
    status: int
    category: int
    code: int
    retry_after_millis: int
    slot_generation: int
    handle: int
    value: int


@dataclass(frozen=True, slots=True)
class Geometry:
    """Where things lie in the channel, from REGISTERED. Checked at construction, so that no later access is out of bounds."""

    total_bytes: int
    submission_offset: int
    completion_offset: int
    entries: int
    arena_offset: int
    slot_count: int
    slot_bytes: int

    def __post_init__(self) -> None:
        if not 1 <= self.entries <= 1 << 16 or self.entries & (self.entries - 1):
            raise WireError(f"{self.entries} ring entries: no power of two up to 65536")
        if not 1 <= self.slot_count < NO_SLOT or self.slot_bytes <= SLOT_HEADER_BYTES:
            raise WireError(f"{self.slot_count} slots of {self.slot_bytes} bytes")
        if not HEADER_PAGE_BYTES <= self.total_bytes <= MAX_CHANNEL_BYTES:
            raise WireError(f"a channel of {self.total_bytes} bytes")
        ring_bytes = self.entries * DESCRIPTOR_BYTES
        parts = sorted(
            (
                (0, HEADER_PAGE_BYTES),
                (self.submission_offset, ring_bytes),
                (self.completion_offset, ring_bytes),
                (self.arena_offset, self.slot_count * self.slot_bytes),
            )
        )
        if any(offset % 8 for offset, _ in parts) or self.slot_bytes % 8:
            raise WireError("a part of the channel is not 8-byte aligned")
        end = 0
        for offset, size in parts:
            if offset < end:
                raise WireError("two parts of the channel overlap")
            end = offset + size
        if end > self.total_bytes:
            raise WireError("a part of the channel lies beyond its end")

    @property
    def max_payload_bytes(self) -> int:
        return self.slot_bytes - SLOT_HEADER_BYTES


@dataclass(frozen=True, slots=True)
class ChannelHeader:
    """What the Manager wrote into the header page before it handed the channel over."""

    epoch: int
    session_id: int
    geometry: Geometry


def decode_channel_header(page: bytes | memoryview) -> ChannelHeader:
    if len(page) < CHANNEL_HEADER.size:
        raise WireError(f"a channel header of {len(page)} bytes")
    (magic, layout, entries, total, epoch, session_id, submission, completion, arena, slots, slot_bytes) = (
        CHANNEL_HEADER.unpack_from(page)
    )
    if magic != CHANNEL_MAGIC:
        raise WireError(f"channel magic 0x{magic:016x}")
    if layout != LAYOUT_VERSION:
        raise WireError(f"channel layout version {layout}; this client knows {LAYOUT_VERSION}")
    geometry = Geometry(total, submission, completion, entries, arena, slots, slot_bytes)
    return ChannelHeader(epoch, session_id, geometry)
