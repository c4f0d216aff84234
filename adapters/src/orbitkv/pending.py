"""Requests under way."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Generic, TypeVar

from orbitkv.codes import Code
from orbitkv.results import PrepareResult, Refused, RestoreResult, Ticket
from orbitkv.wire.rings import Completion, Status

if TYPE_CHECKING:
    from orbitkv.link import Link
    from orbitkv.session import Session

T = TypeVar("T")

Decoder = Callable[[Completion, memoryview, "Session"], T]


class Pending(Generic[T]):
    """A submitted request. Its slot and its pages are the Manager's until it is done, also when a wait gave up."""

    __slots__ = ("_decode", "abandoned", "generation", "link", "op", "request_id", "result", "session_id", "slot")

    def __init__(self, link: Link, op: int, decode: Decoder[T]) -> None:
        self.link = link
        self._decode = decode
        self.op = op
        self.request_id = 0
        self.session_id = 0
        self.slot = -1
        self.generation = 0
        self.result: T | Refused | None = None
        self.abandoned = False

    @property
    def done(self) -> bool:
        """Whether the answer has been taken in; `wait` with 0 seconds looks for it."""
        return self.result is not None

    def wait(self, timeout_seconds: float) -> T | Refused:
        """The answer; UNAVAILABLE DEADLINE when there was none in time, and then it may be waited for again."""
        if self.result is None:
            self.link.run_until(lambda: self.result is not None, time.monotonic() + timeout_seconds)
        if self.result is None:
            return Refused.local(Code.DEADLINE, f"no answer within {timeout_seconds:g} s")
        return self.result

    def settle(self, completion: Completion, payload: memoryview, session: Session) -> None:
        """Takes its last completion, or its first where a NOTICE follows. Called by the session alone."""
        self.result = self._decode(completion, payload, session)

    def refuse(self, refusal: Refused) -> None:
        if self.result is None:
            self.result = refusal


class PendingPrepare(Pending[PrepareResult]):
    """A preparation. Answered LOADING it is not done yet: its NOTICE says what it came to."""

    __slots__ = ()

    def settle(self, completion: Completion, payload: memoryview, session: Session) -> None:
        if completion.status == Status.LOADING:
            session.await_notice(self, completion)
        else:
            super().settle(completion, payload, session)


class PendingRestore(Pending[RestoreResult]):
    """A restore that counts the layers it has put in place."""

    __slots__ = ("_layers",)

    def __init__(self, link: Link, op: int, decode: Decoder[RestoreResult]) -> None:
        super().__init__(link, op, decode)
        self._layers = (0, 0)

    def layers(self) -> tuple[int, int]:
        """How many layers are in place, and how many there will be (0 before it starts).

        Layers come in ascending order of layer number, then of group. Zeros unless progress was asked for.
        """
        return self.link.sample(self)

    def wait_layers(self, count: int, timeout_seconds: float) -> bool:
        """Waits until that many layers are in place or the restore is over; whether they are in place."""
        deadline = time.monotonic() + timeout_seconds
        self.link.run_until(lambda: self.result is not None or self.look()[0] >= count, deadline)
        return self.layers()[0] >= count

    def look(self) -> tuple[int, int]:
        """Reads the count again; under the link's lock."""
        session = self.link.session
        if self.result is None and session is not None and session.session_id == self.session_id:
            self._layers = session.channel.progress(self.slot)
        return self._layers

    def settle(self, completion: Completion, payload: memoryview, session: Session) -> None:
        self._layers = session.channel.progress(self.slot)
        super().settle(completion, payload, session)


class TicketState:
    """What the client knows of a ticket of this session: its NOTICE, once it has come."""

    __slots__ = ("abandoned_by", "lost", "notice", "ticket")

    def __init__(self, ticket: Ticket) -> None:
        self.ticket = ticket
        self.abandoned_by: Link | None = None
        self.notice: Completion | None = None
        self.lost: Refused | None = None

    @property
    def known(self) -> bool:
        return self.notice is not None or self.lost is not None
