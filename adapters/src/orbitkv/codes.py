"""Refusal categories and codes (protocol, section 4). A program acts on the category; the code says more."""

from __future__ import annotations

import enum


class Category(enum.IntEnum):
    NONE = 0
    USER = 1
    RESOURCE = 2
    STALE = 3
    UNAVAILABLE = 4
    INTERNAL = 5

    @staticmethod
    def of(number: int) -> Category:
        """The category of that number; INTERNAL for one that this client does not know."""
        return Category(number) if 0 <= number <= 5 else Category.INTERNAL


class Code(enum.IntEnum):
    NONE = 0
    BAD_FRAME = 100
    UNSUPPORTED_VERSION = 101
    UNKNOWN_TYPE = 102
    BAD_JSON = 103
    UNKNOWN_FIELD = 104
    MISSING_FIELD = 105
    BAD_VALUE = 106
    HELLO_FIRST = 107
    ALREADY_REGISTERED = 108
    NOT_REGISTERED = 109
    BAD_FD_COUNT = 110
    PEER_NOT_ALLOWED = 111
    FORMAT_MISMATCH = 120
    BUFFER_NOT_SEALED = 121
    BAD_BUFFER = 122
    LAYER_OUT_OF_RANGE = 123
    LAYER_OVERLAP = 124
    BAD_GROUP = 125
    ATTACH_MISMATCH = 126
    UNKNOWN_OP = 130
    UNKNOWN_FLAG = 131
    RESERVED_NOT_ZERO = 132
    BAD_SLOT = 133
    SLOT_BUSY = 134
    BAD_LENGTH = 135
    BAD_PAYLOAD = 136
    BAD_REQUEST_NAME = 137
    NO_BUFFERS = 138
    BLOCK_OUT_OF_RANGE = 139
    DUPLICATE_DESTINATION = 140
    RANGE_NOT_LEASED = 141
    MISALIGNED = 142
    TOO_MANY_KEYS = 143
    TICKET_PENDING = 144
    POOL_FULL = 200
    BUDGET_GLOBAL = 201
    BUDGET_INSTANCE = 202
    QUEUE_FULL = 203
    JOURNAL_FULL = 204
    TOO_MANY_SESSIONS = 205
    TOO_MANY_TICKETS = 206
    TOO_MANY_LEASES = 207
    EPOCH = 300
    SESSION_SUPERSEDED = 301
    SESSION = 302
    SLOT_GENERATION = 303
    REQUEST_ID = 304
    LEASE_GONE = 305
    TICKET_GONE = 306
    TICKET_EXPIRED = 307
    TICKET_REPLACED = 308
    SESSION_LOST = 390
    BUFFER_KIND = 400
    DRAINING = 401
    STARTING = 402
    PREDECESSOR_DRAINING = 403
    DISCONNECTED = 490
    DEADLINE = 491
    VERIFY_FAILED = 500
    COPY_FAILED = 501
    INTERNAL_ERROR = 502


_REMEDIES: dict[int, str] = {
    Code.BAD_FRAME: "check the frame writer against section 1.1",
    Code.UNSUPPORTED_VERSION: "upgrade the older side",
    Code.UNKNOWN_TYPE: "send only the types of section 1.1",
    Code.BAD_JSON: "see section 1.2",
    Code.UNKNOWN_FIELD: "remove or rename the field",
    Code.MISSING_FIELD: "give the field",
    Code.BAD_VALUE: "give a value in the documented range",
    Code.HELLO_FIRST: "send HELLO as the first frame",
    Code.ALREADY_REGISTERED: "open another connection",
    Code.NOT_REGISTERED: "register first",
    Code.BAD_FD_COUNT: "pass one descriptor per HOST buffer with the header's first byte",
    Code.PEER_NOT_ALLOWED: "run as the daemon's user or in its socket's group",
    Code.FORMAT_MISMATCH: "use another namespace, or register the bound format",
    Code.BUFFER_NOT_SEALED: "create the memfd with MFD_ALLOW_SEALING and add F_SEAL_SHRINK",
    Code.BAD_BUFFER: "pass a writable memfd of exactly the given size",
    Code.LAYER_OUT_OF_RANGE: "correct baseOffset, strides or blockCount",
    Code.LAYER_OVERLAP: "correct the strides",
    Code.BAD_GROUP: "name each registered group once, ascending",
    Code.ATTACH_MISMATCH: "attach to the worker's own LOAD session",
    Code.UNKNOWN_OP: "use the ops of section 3",
    Code.UNKNOWN_FLAG: "use the flags of section 3",
    Code.RESERVED_NOT_ZERO: "write zero to unused fields",
    Code.BAD_SLOT: "pass a slot exactly where the op needs one",
    Code.SLOT_BUSY: "wait for the slot's completion",
    Code.BAD_LENGTH: "give the length of the payload",
    Code.BAD_PAYLOAD: "check the encoder against section 3",
    Code.BAD_REQUEST_NAME: "0 to 64 visible ASCII bytes",
    Code.NO_BUFFERS: "use a session that registered buffers",
    Code.BLOCK_OUT_OF_RANGE: "give block indices below blockCount",
    Code.DUPLICATE_DESTINATION: "give each page its own destination block",
    Code.RANGE_NOT_LEASED: "restore only ranges of the lease",
    Code.MISALIGNED: "align to the group's pageTokens",
    Code.TOO_MANY_KEYS: "split the request",
    Code.TICKET_PENDING: "cancel the pending ticket, or ask with REPLACE",
    Code.POOL_FULL: "retry later, or enlarge the pool",
    Code.BUDGET_GLOBAL: "retry later, or raise the budget",
    Code.BUDGET_INSTANCE: "release leases, or raise the budget",
    Code.QUEUE_FULL: "retry later",
    Code.JOURNAL_FULL: "free disk space under the journal",
    Code.TOO_MANY_SESSIONS: "close sessions",
    Code.TOO_MANY_TICKETS: "poll or cancel tickets",
    Code.TOO_MANY_LEASES: "release leases",
    Code.EPOCH: "register again",
    Code.SESSION_SUPERSEDED: "stop this process, its successor runs",
    Code.SESSION: "use this connection's session",
    Code.SLOT_GENERATION: "increase the generation at each use of a slot",
    Code.REQUEST_ID: "use increasing request ids",
    Code.LEASE_GONE: "query again",
    Code.TICKET_GONE: "query again",
    Code.TICKET_EXPIRED: "query again, or recompute",
    Code.TICKET_REPLACED: "use the newer query's ticket",
    Code.SESSION_LOST: "recompute, the client reconnects",
    Code.BUFFER_KIND: "register a HOST buffer",
    Code.DRAINING: "go on without the cache, reconnect later",
    Code.STARTING: "retry later",
    Code.PREDECESSOR_DRAINING: "retry later",
    Code.DISCONNECTED: "go on without the cache",
    Code.DEADLINE: "go on without the cache",
    Code.VERIFY_FAILED: "recompute, check the host's memory",
    Code.COPY_FAILED: "recompute",
    Code.INTERNAL_ERROR: "recompute, and report the daemon's log",
}

_BY_CATEGORY: dict[Category, str] = {
    Category.NONE: "",
    Category.USER: "fix the caller, do not retry",
    Category.RESOURCE: "go on without the cache, retry later",
    Category.STALE: "drop the handle, ask again",
    Category.UNAVAILABLE: "go on without the cache",
    Category.INTERNAL: "recompute, and report",
}


def name_of(code: int) -> str:
    """The code's name, or CODE_n for one that this client does not know."""
    try:
        return Code(code).name
    except ValueError:
        return f"CODE_{code}"


def remedy_of(category: Category, code: int) -> str:
    """What to do about a refusal that came without a text."""
    return _REMEDIES.get(code, _BY_CATEGORY[category])
