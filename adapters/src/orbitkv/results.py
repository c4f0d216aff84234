"""What operations answer: values, never exceptions. `match` on the type.

    match client.query(0, {0: keys}):
        case Ready(lease=lease, boundary_token=end): ...
        case Miss(): ...
        case Refused(category=Category.RESOURCE, retry_after_millis=pause): ...
"""

from __future__ import annotations

from dataclasses import dataclass

from orbitkv.codes import Category, Code, name_of, remedy_of
from orbitkv.wire.payloads import AnswerGroup

STORED, ALREADY, ELSEWHERE, NOT_STORED = 0, 1, 2, 3
"""Outcomes of a block in Published.outcomes."""


@dataclass(frozen=True, slots=True)
class Refused:
    """Nothing was done. `category` is what a program acts on, `code` and `message` say why, `remedy` what to do."""

    category: Category
    code: int
    message: str
    remedy: str
    retry_after_millis: int = 0
    field: str | None = None

    @property
    def name(self) -> str:
        return name_of(self.code)

    @staticmethod
    def local(code: Code, message: str) -> Refused:
        """A refusal that this client gives itself."""
        category = Category.of(code // 100)
        return Refused(category, code, message, remedy_of(category, code))

    def __str__(self) -> str:
        where = f" (field {self.field})" if self.field else ""
        return f"{self.category.name} {self.name}{where}: {self.message}; {self.remedy}"


@dataclass(frozen=True, slots=True)
class Failed:
    """It was begun and did not succeed. After a restore the contents of its destination blocks are undefined."""

    category: Category
    code: int
    message: str
    remedy: str

    @property
    def name(self) -> str:
        return name_of(self.code)


@dataclass(frozen=True, slots=True)
class Cancelled:
    """Ended by a cancel or by a newer query of the same request (code TICKET_REPLACED)."""

    code: int

    @property
    def name(self) -> str:
        return name_of(self.code)


@dataclass(frozen=True, slots=True)
class Lease:
    """The right to restore from the blocks of one answer. Any session of the same instance may use it."""

    lease_id: int
    epoch: int
    session_id: int
    """The session that queried; the lease ends with it."""
    life_millis: int
    """Its life from the moment of the answer."""


@dataclass(frozen=True, slots=True)
class Ticket:
    """A claim on the answer of a query that waits."""

    ticket_id: int
    epoch: int
    session_id: int
    request_id: int


@dataclass(frozen=True, slots=True)
class Pong:
    monotonic_nanos: int
    """The Manager's CLOCK_MONOTONIC."""


@dataclass(frozen=True, slots=True)
class Ready:
    """The state can be restored up to `boundary_token`, under the lease."""

    lease: Lease
    start_token: int
    boundary_token: int
    groups: tuple[AnswerGroup, ...]
    """What must be restored of each group for the boundary."""
    boundaries: tuple[int, ...]
    """Every legal boundary that the lease covers, ascending; the last is `boundary_token`."""

    def group(self, group_id: int) -> AnswerGroup:
        for group in self.groups:
            if group.group_id == group_id:
                return group
        raise KeyError(f"no group {group_id} in this answer")


@dataclass(frozen=True, slots=True)
class Discovered:
    """Boundaries on the present evidence, without a lease: no promise."""

    start_token: int
    boundary_token: int
    groups: tuple[AnswerGroup, ...]
    boundaries: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Loading:
    """The answer is on its way; `OrbitClient.wait` waits for it."""

    ticket: Ticket


@dataclass(frozen=True, slots=True)
class Miss:
    """Nothing can be restored. `code` may give a reason, TICKET_EXPIRED for example."""

    start_token: int
    groups: tuple[AnswerGroup, ...]
    code: int

    @property
    def name(self) -> str:
        return name_of(self.code)


@dataclass(frozen=True, slots=True)
class Prepared:
    """Everything up to `boundary_token` is in memory, and nothing keeps it there. The start token if nothing is."""

    boundary_token: int
    expired: bool
    """The deadline came while more was on its way."""


@dataclass(frozen=True, slots=True)
class Published:
    """The source pages may be reused."""

    stored: int
    already: int
    elsewhere: int
    refused: int
    outcomes: bytes
    """Per block: STORED, ALREADY, ELSEWHERE or NOT_STORED."""
    stored_bytes: int
    refusal: Refused | None
    """Why some blocks were refused."""


@dataclass(frozen=True, slots=True)
class Restored:
    """All bytes are in place."""

    restored_bytes: int


@dataclass(frozen=True, slots=True)
class Released:
    was_open: bool


@dataclass(frozen=True, slots=True)
class CancelAnswer:
    was_open: bool
    """False: there was nothing to cancel."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What the Manager allows, from HELLO_OK."""

    max_control_bytes: int
    max_buffers: int
    max_groups: int
    max_layers: int
    max_keys_per_request: int
    max_outstanding: int
    lease_millis: int
    ticket_millis: int
    max_ticket_millis: int
    hello_timeout_millis: int


@dataclass(frozen=True, slots=True)
class Health:
    status: str
    """SERVING, DEGRADED or DRAINING."""
    epoch: int
    server: str
    uptime_millis: int
    sessions: int
    pool_bytes: int
    pool_used_bytes: int
    journal_position: int
    problems: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SessionInfo:
    session_id: int
    instance_id: int
    instance: str
    namespace: str
    shard: int
    role: str
    pid: int
    uid: int
    opened_at_millis: int
    leases: int
    tickets: int
    outstanding: int


@dataclass(frozen=True, slots=True)
class Sessions:
    sessions: tuple[SessionInfo, ...]
    omitted: int
    """How many sessions there are beyond those listed."""


@dataclass(frozen=True, slots=True)
class Unregistered:
    """Every copy has ended: no byte of the buffers is touched any more."""

    session_id: int


@dataclass(frozen=True, slots=True)
class Cleaned:
    instance: str
    sessions_closed: int
    leases_released: int
    tickets_closed: int


QueryResult = Ready | Loading | Miss | Cancelled | Refused | Failed
PrepareResult = Prepared | Cancelled | Refused | Failed
DiscoverResult = Discovered | Miss | Refused | Failed
PublishResult = Published | Cancelled | Refused | Failed
RestoreResult = Restored | Cancelled | Refused | Failed
