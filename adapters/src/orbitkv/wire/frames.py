"""Control frames (protocol, section 1.1): a 24-byte header, then JSON.

     byte 0         4         6        8            12        16
         +---------+---------+--------+------------+---------+----------------+
         | magic   | version |  type  |payloadBytes| fdCount | correlationId  |
         +---------+---------+--------+------------+---------+----------------+
"""

from __future__ import annotations

import enum
import struct
from dataclasses import dataclass

from orbitkv.wire import WireError

MAGIC = 0x31564B4F
VERSION = 1
HEADER_BYTES = 24
MAX_PAYLOAD_BYTES = 1 << 20
MAX_FDS = 64

_HEADER = struct.Struct("<IHHIIQ")


class FrameType(enum.IntEnum):
    HELLO = 1
    HELLO_OK = 2
    REGISTER = 3
    REGISTERED = 4
    HEALTH = 5
    HEALTH_OK = 6
    SESSIONS = 7
    SESSIONS_OK = 8
    UNREGISTER = 9
    UNREGISTERED = 10
    CLEANUP = 11
    CLEANED = 12
    REFUSED = 128
    CLOSING = 129


@dataclass(frozen=True, slots=True)
class FrameHeader:
    type: int
    payload_bytes: int
    fd_count: int
    correlation_id: int


def encode_frame(kind: int, correlation_id: int, payload: bytes, fd_count: int = 0) -> bytes:
    if not 2 <= len(payload) <= MAX_PAYLOAD_BYTES:
        raise ValueError(f"a control payload has 2 to {MAX_PAYLOAD_BYTES} bytes, not {len(payload)}")
    if not 0 <= fd_count <= MAX_FDS:
        raise ValueError(f"a frame carries at most {MAX_FDS} file descriptors, not {fd_count}")
    return encode_header(FrameHeader(kind, len(payload), fd_count, correlation_id)) + payload


def encode_header(header: FrameHeader) -> bytes:
    return _HEADER.pack(
        MAGIC, VERSION, header.type, header.payload_bytes, header.fd_count, header.correlation_id
    )


def decode_header(data: bytes) -> FrameHeader:
    if len(data) != HEADER_BYTES:
        raise WireError(f"a frame header has {HEADER_BYTES} bytes, not {len(data)}")
    magic, version, kind, payload_bytes, fd_count, correlation_id = _HEADER.unpack(data)
    if magic != MAGIC:
        raise WireError(f"frame magic 0x{magic:08x}: the peer is not an OrbitKV Manager")
    if version != VERSION:
        raise WireError(f"frame version {version}; this client speaks {VERSION}")
    if not 2 <= payload_bytes <= MAX_PAYLOAD_BYTES:
        raise WireError(f"frame payload of {payload_bytes} bytes")
    if fd_count > MAX_FDS:
        raise WireError(f"frame with {fd_count} file descriptors")
    if correlation_id >= 1 << 63:
        raise WireError(f"correlation id {correlation_id} out of range")
    return FrameHeader(kind, payload_bytes, fd_count, correlation_id)
