"""Payloads of the operations (protocol, section 3), written into and read out of a slot."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from orbitkv.wire import WireError

MAX_KEY_BYTES = 64
MAX_REQUEST_BYTES = 64
MAX_TOKEN = 1 << 24

_QUERY = struct.Struct("<IIHB5x")
_QUERY_GROUP = struct.Struct("<HHI")
_ANSWER = struct.Struct("<QIIIHHII")
_ANSWER_GROUP = struct.Struct("<HHIII")
_PUBLISH = struct.Struct("<HHIB7x")
_PUBLISH_REPLY = struct.Struct("<IIIIII")
_RESTORE = struct.Struct("<HB5x")
_RESTORE_GROUP = struct.Struct("<HHIII")
_TEXT = struct.Struct("<HHI")


@dataclass(frozen=True, slots=True)
class PackedKeys:
    """Block hashes of one length (1 to 64 bytes), one after the other."""

    key_bytes: int
    packed: bytes

    def __post_init__(self) -> None:
        if not 1 <= self.key_bytes <= MAX_KEY_BYTES:
            raise ValueError(f"a key has 1 to {MAX_KEY_BYTES} bytes, not {self.key_bytes}")
        if len(self.packed) % self.key_bytes:
            raise ValueError(f"{len(self.packed)} bytes are no whole number of {self.key_bytes}-byte keys")

    def __len__(self) -> int:
        return len(self.packed) // self.key_bytes

    @staticmethod
    def of(keys: Keys) -> PackedKeys:
        if isinstance(keys, PackedKeys):
            return keys
        if not keys:
            return NO_KEYS
        key_bytes = len(keys[0])
        for key in keys:
            if len(key) != key_bytes:
                raise ValueError(f"keys of one request and group have one length; {key_bytes} and {len(key)} were given")
        return PackedKeys(key_bytes, b"".join(keys))


Keys = Sequence[bytes] | PackedKeys
NO_KEYS = PackedKeys(1, b"")


class RestoreGroup(NamedTuple):
    """Pages of a group from `from_token` on, into these blocks of the registered buffers."""

    group_id: int
    from_token: int
    blocks: Sequence[int]


class AnswerGroup(NamedTuple):
    group_id: int
    from_token: int
    to_token: int
    hit_blocks: int


class Answer(NamedTuple):
    lease_id: int
    lease_millis: int
    start_token: int
    boundary_token: int
    groups: tuple[AnswerGroup, ...]
    boundaries: tuple[int, ...]


class PublishReply(NamedTuple):
    stored: int
    already: int
    elsewhere: int
    refused: int
    outcomes: bytes


def request_name(name: str) -> bytes:
    if len(name) > MAX_REQUEST_BYTES or not name.isascii() or not name.isprintable() or " " in name:
        raise ValueError(f"a request name has 0 to {MAX_REQUEST_BYTES} visible ASCII characters, unlike {name!r}")
    return name.encode("ascii")


def _pad8(length: int) -> int:
    return (length + 7) & ~7


def _need(buffer: memoryview, length: int) -> None:
    if length > len(buffer):
        raise ValueError(f"the request needs {length} bytes, a slot has {len(buffer)}: split the request")


def _put(buffer: memoryview, offset: int, data: bytes) -> int:
    """Writes the bytes and zeros up to a multiple of 8; returns the offset after them."""
    end = offset + len(data)
    buffer[offset:end] = data
    padded = _pad8(end)
    if padded != end:
        buffer[end:padded] = bytes(padded - end)
    return padded


def _u32s(values: Sequence[int]) -> bytes:
    try:
        return struct.pack(f"<{len(values)}I", *values)
    except struct.error as e:
        raise ValueError(f"block indices are integers from 0 to 2^32-1: {e}") from e


def encode_query(
    buffer: memoryview,
    start_token: int,
    limit_token: int,
    request: bytes,
    groups: Sequence[tuple[int, PackedKeys]],
) -> int:
    """Writes a QUERY's payload; groups in ascending order. Returns its length."""
    length = 16 + _pad8(len(request))
    for _, keys in groups:
        length += 8 + _pad8(len(keys.packed))
    _need(buffer, length)
    try:
        _QUERY.pack_into(buffer, 0, start_token, limit_token, len(groups), len(request))
        offset = _put(buffer, 16, request)
        for group_id, keys in groups:
            _QUERY_GROUP.pack_into(buffer, offset, group_id, keys.key_bytes, len(keys))
            offset = _put(buffer, offset + 8, keys.packed)
    except struct.error as e:
        raise ValueError(f"a token position or group id is out of range: {e}") from e
    return length


def encode_publish(
    buffer: memoryview, group_id: int, request: bytes, keys: PackedKeys, blocks: Sequence[int]
) -> int:
    """Writes a PUBLISH's payload. Returns its length."""
    count = len(keys)
    if count == 0 or count != len(blocks):
        raise ValueError(f"a publish has one block per key and at least one; got {count} keys, {len(blocks)} blocks")
    length = 16 + _pad8(len(request)) + _pad8(len(keys.packed)) + _pad8(4 * count)
    _need(buffer, length)
    try:
        _PUBLISH.pack_into(buffer, 0, group_id, keys.key_bytes, count, len(request))
    except struct.error as e:
        raise ValueError(f"group id {group_id} is out of range") from e
    offset = _put(buffer, 16, request)
    offset = _put(buffer, offset, keys.packed)
    _put(buffer, offset, _u32s(blocks))
    return length


def encode_restore(buffer: memoryview, request: bytes, groups: Sequence[RestoreGroup]) -> int:
    """Writes a RESTORE's payload; groups in ascending order. Returns its length."""
    length = 8 + _pad8(len(request))
    for group in groups:
        length += 16 + _pad8(4 * len(group.blocks))
    _need(buffer, length)
    try:
        _RESTORE.pack_into(buffer, 0, len(groups), len(request))
        offset = _put(buffer, 8, request)
        for group in groups:
            _RESTORE_GROUP.pack_into(buffer, offset, group.group_id, 0, group.from_token, len(group.blocks), 0)
            offset = _put(buffer, offset + 16, _u32s(group.blocks))
    except struct.error as e:
        raise ValueError(f"a token position or group id is out of range: {e}") from e
    return length


def _read_boundaries(payload: memoryview, offset: int, runs: int, total: int) -> tuple[int, ...]:
    """Ascending numbers that are written as runs of equal steps."""
    boundaries: list[int] = []
    last = -1
    for first, step, count in struct.iter_unpack("<3I", payload[offset : offset + 12 * runs]):
        if first <= last or count < 1 or (step == 0) != (count == 1):
            raise WireError(f"a run of {count} boundaries from {first} by {step} after {last}")
        last = first + step * (count - 1)
        if last > MAX_TOKEN or len(boundaries) + count > total:
            raise WireError(f"a run of {count} boundaries from {first} by {step}, of {total} in all")
        boundaries += range(first, last + 1, step or 1)
    if len(boundaries) != total:
        raise WireError(f"{len(boundaries)} boundaries where {total} are announced")
    return tuple(boundaries)


def decode_answer(payload: memoryview) -> Answer:
    """Reads the answer of a QUERY or POLL."""
    size = len(payload)
    if size < 32:
        raise WireError(f"an answer of {size} bytes")
    lease_id, lease_millis, start, boundary, group_count, _, boundary_count, run_count = _ANSWER.unpack_from(payload)
    if size != 32 + 16 * group_count + _pad8(12 * run_count):
        raise WireError(f"an answer of {size} bytes for {group_count} groups and {run_count} runs of boundaries")
    groups: list[AnswerGroup] = []
    offset = 32
    previous = -1
    for _ in range(group_count):
        group_id, _, from_token, to_token, hit_blocks = _ANSWER_GROUP.unpack_from(payload, offset)
        if group_id <= previous or from_token > to_token:
            raise WireError(f"an answer with group {group_id} after {previous}, range [{from_token},{to_token})")
        previous = group_id
        groups.append(AnswerGroup(group_id, from_token, to_token, hit_blocks))
        offset += 16
    boundaries = _read_boundaries(payload, offset, run_count, boundary_count)
    if boundary < start:
        raise WireError(f"an answer with boundary {boundary} before its start {start}")
    return Answer(lease_id, lease_millis, start, boundary, tuple(groups), boundaries)


def decode_publish_reply(payload: memoryview) -> PublishReply:
    if len(payload) < 24:
        raise WireError(f"a publish reply of {len(payload)} bytes")
    count, stored, already, elsewhere, refused, _ = _PUBLISH_REPLY.unpack_from(payload)
    if len(payload) != 24 + _pad8(count):
        raise WireError(f"a publish reply of {len(payload)} bytes for {count} blocks")
    outcomes = bytes(payload[24 : 24 + count])
    counted = tuple(outcomes.count(outcome) for outcome in range(4))
    if counted != (stored, already, elsewhere, refused) or sum(counted) != count:
        raise WireError("a publish reply whose counts are not those of its outcomes")
    return PublishReply(stored, already, elsewhere, refused, outcomes)


def decode_refusal_text(payload: memoryview) -> tuple[str, str]:
    """The message and the remedy."""
    if len(payload) < 8:
        raise WireError(f"a refusal text of {len(payload)} bytes")
    message_bytes, remedy_bytes, _ = _TEXT.unpack_from(payload)
    end = 8 + message_bytes + remedy_bytes
    if len(payload) != _pad8(end):
        raise WireError(f"a refusal text of {len(payload)} bytes for {message_bytes} + {remedy_bytes}")
    try:
        message = str(payload[8 : 8 + message_bytes], "utf-8")
        return message, str(payload[8 + message_bytes : end], "utf-8")
    except UnicodeDecodeError as e:
        raise WireError("a refusal text that is not UTF-8") from e
