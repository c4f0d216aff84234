"""The client of a Manager.

    client = OrbitClient.connect(registration, "/run/orbitkv.sock")
    client.publish(0, keys, blocks)
    answer = client.query(0, {0: keys})

Threads: a client may be used by any number of threads of the process that connected it, never by a forked child. Every
wait has a deadline. Whichever thread waits for an answer also takes in those of the others; a thread of the client's
own watches the connection and registers again after it was lost, with pauses from 10 ms to 1 s, until `close`.

Answers are values (`orbitkv.results`). An exception means a mistake of the caller: ValueError for what the protocol
cannot express, RuntimeError for use after a fork.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import TypeVar

from orbitkv import answers
from orbitkv.codes import Code
from orbitkv.control import DRAIN_SECONDS, cleaned_of, cleanup_json, health_of, sessions_of, socket_path_of
from orbitkv.link import Ended, Link
from orbitkv.pending import Pending, PendingPrepare, PendingRestore
from orbitkv.registration import Registration
from orbitkv.results import (
    CancelAnswer,
    Cleaned,
    DiscoverResult,
    Failed,
    Health,
    Lease,
    Limits,
    Loading,
    Pong,
    PrepareResult,
    PublishResult,
    QueryResult,
    Refused,
    Released,
    RestoreResult,
    Sessions,
    Ticket,
    Unregistered,
)
from orbitkv.wire import rings
from orbitkv.wire.frames import FrameType
from orbitkv.wire.payloads import (
    Keys,
    PackedKeys,
    RestoreGroup,
    encode_publish,
    encode_query,
    encode_restore,
    request_name,
)
from orbitkv.wire.rings import Op, Status

OPERATION_SECONDS = 5.0

T = TypeVar("T")


class OrbitClient:
    def __init__(self, link: Link) -> None:
        """Use `connect`."""
        self._link = link

    @staticmethod
    def connect(registration: Registration, socket_path: str | None = None) -> OrbitClient:
        """Connects and registers; the path defaults to that of ORBITKV_SOCKET.

        The registration's buffers stay the caller's, who closes them after the client. Raises ManagerUnavailable or
        ConnectionLost, both of them ConnectionErrors, RegistrationRefused, or WireError where the socket is another
        program's.
        """
        return OrbitClient(Link(socket_path_of(socket_path), registration, None))

    def attach_save(self) -> OrbitClient:
        """A second session of this worker, so that publishes wait behind no query or restore. Ends with this one."""
        return OrbitClient(Link(self._link.path, self._link.registration, self._link))

    # The session.

    @property
    def connected(self) -> bool:
        return self._link.session is not None

    @property
    def ended(self) -> Ended | None:
        """Why the client will not reconnect any more; None while it is connected or tries to."""
        return self._link.ended

    @property
    def epoch(self) -> int:
        """The daemon's run that the client is registered with, 0 while it is not."""
        session = self._link.session
        return session.epoch if session is not None else 0

    @property
    def session_id(self) -> int:
        """The present session, 0 while there is none."""
        session = self._link.session
        return session.session_id if session is not None else 0

    @property
    def instance_id(self) -> int:
        session = self._link.session
        return session.instance_id if session is not None else 0

    @property
    def limits(self) -> Limits | None:
        session = self._link.session
        return session.hello.limits if session is not None else None

    @property
    def geometry(self) -> rings.Geometry | None:
        session = self._link.session
        return session.channel.geometry if session is not None else None

    @property
    def outstanding(self) -> int:
        """Requests that the Manager has not answered, and queries whose NOTICE is still to come."""
        with self._link.lock:
            session = self._link.session
            return session.outstanding if session is not None else 0

    def wait_connected(self, timeout_seconds: float, after_session_id: int = 0) -> bool:
        """Waits until there is a session other than that one; False when none came or the client has ended."""
        return self._link.wait_connected(timeout_seconds, after_session_id)

    def wait_ended(self, timeout_seconds: float) -> Ended | None:
        return self._link.wait_ended(timeout_seconds)

    def drain(self, timeout_seconds: float) -> bool:
        """Waits until nothing is outstanding. After a DEADLINE that is how to learn that pages are free again."""
        link = self._link

        def is_idle() -> bool:
            return link.session is None or link.session.outstanding == 0

        return link.run_until(is_idle, time.monotonic() + timeout_seconds)

    def is_quiet(self, session_id: int) -> bool:
        """Whether the Manager can no longer touch pages for requests of that former session of this client.

        A request that ended as SESSION_LOST leaves its pages to the Manager until this is true.
        """
        return self._link.is_quiet(session_id)

    def start_cancel(self, what: Ticket | Pending[T]) -> None:
        """Asks the Manager to end a ticket or a request that nobody wants any more, without waiting.

        A request's own last answer still comes. A lease that a ticket or query gets all the same is given back as its answer is taken in, which any later use of
        the client does, `drain` for example.
        """
        if isinstance(what, Ticket):
            self._link.abandon_ticket(what)
        else:
            self._link.abandon(what)

    # Operations that wait. Each answers within its timeout, with DEADLINE if with nothing else.

    def ping(self, timeout_seconds: float = OPERATION_SECONDS) -> Pong | Failed | Refused:
        return self._finish(self.start_ping(timeout_seconds), timeout_seconds)

    def query(
        self,
        start_token: int,
        keys: Mapping[int, Keys],
        *,
        limit_token: int = 0,
        request: str = "",
        wait: bool = False,
        replace: bool = False,
        ticket_millis: int = 0,
        timeout_seconds: float = OPERATION_SECONDS,
    ) -> QueryResult:
        """Asks how far beyond `start_token` the state can be restored; `keys` has every registered group.

        With `wait` it may answer Loading, for `wait` on the client to go on with; `ticket_millis` is then how long the
        Manager may take, 0 for its default. A pending query of the same request name is found again by one that asks
        the same; one that asks something else is refused, or with `replace` ends the pending one.
        """
        started = self.start_query(
            start_token,
            keys,
            limit_token=limit_token,
            request=request,
            wait=wait,
            replace=replace,
            ticket_millis=ticket_millis,
            timeout_seconds=timeout_seconds,
        )
        return self._finish(started, timeout_seconds)

    def discover(
        self,
        start_token: int,
        keys: Mapping[int, Keys],
        *,
        limit_token: int = 0,
        request: str = "",
        timeout_seconds: float = OPERATION_SECONDS,
    ) -> DiscoverResult:
        """Every legal boundary on the present evidence. Takes no lease: no promise."""
        write = _query_writer(start_token, limit_token, request, keys)
        pending: Pending[DiscoverResult] = Pending(self._link, Op.QUERY, answers.discover_result)
        self._link.submit(pending, rings.QUERY_DISCOVER, 0, 0, write, timeout_seconds)
        return self._finish(pending, timeout_seconds)

    def prepare(
        self,
        start_token: int,
        keys: Mapping[int, Keys],
        *,
        limit_token: int = 0,
        request: str = "",
        replace: bool = False,
        deadline_millis: int = 0,
        timeout_seconds: float = OPERATION_SECONDS,
    ) -> PrepareResult:
        """Brings what the request will need into memory, as far as it goes, and leases nothing.

        `deadline_millis` is how long the Manager may take, 0 for its default; nothing is begun after that.
        """
        started = self.start_prepare(
            start_token,
            keys,
            limit_token=limit_token,
            request=request,
            replace=replace,
            deadline_millis=deadline_millis,
            timeout_seconds=timeout_seconds,
        )
        return self._finish(started, timeout_seconds)

    def wait(self, loading: Loading, timeout_seconds: float) -> QueryResult:
        """Waits for the answer of a query that was Loading. After a DEADLINE it may be called again."""
        deadline = time.monotonic() + timeout_seconds
        link, ticket = self._link, loading.ticket
        link.check_process()
        with link.lock:
            refusal = link.stale(ticket.epoch, ticket.session_id)
            session = link.session
            state = session.ticket(ticket) if session is not None else None
        if refusal is not None:
            return refusal
        if state is None:
            return Refused.local(Code.TICKET_GONE, f"ticket {ticket.ticket_id} is not one of this session's")
        if not link.run_until(lambda: state.known, deadline):
            return Refused.local(Code.DEADLINE, f"no notice of ticket {ticket.ticket_id} within {timeout_seconds:g} s")
        if state.lost is not None:
            return state.lost
        assert state.notice is not None
        if state.notice.status in (Status.READY, Status.MISS):
            return self.poll(ticket, max(deadline - time.monotonic(), 1.0))
        with link.lock:
            if link.session is not None:
                link.session.forget_ticket(ticket)
        return answers.notice_result(state.notice)

    def poll(self, ticket: Ticket, timeout_seconds: float = OPERATION_SECONDS) -> QueryResult:
        """Looks at a ticket once: Loading while it is open, else its answer, which ends it."""
        pending: Pending[QueryResult] = Pending(self._link, Op.POLL, answers.poll_decoder(ticket))
        self._link.submit(
            pending,
            0,
            ticket.ticket_id,
            0,
            lambda view: 0,
            timeout_seconds,
            (ticket.epoch, ticket.session_id),
        )
        return self._finish(pending, timeout_seconds)

    def cancel(
        self, what: Ticket | Pending[T], timeout_seconds: float = OPERATION_SECONDS
    ) -> CancelAnswer | Failed | Refused:
        """Asks the Manager to end a ticket or a query, publish or restore under way.

        What was cancelled still gets its own last answer; until then its pages must not be reused.
        """
        pending: Pending[CancelAnswer | Failed | Refused] = Pending(self._link, Op.CANCEL, answers.cancel_answer)
        if isinstance(what, Ticket):
            flags, handle, belongs_to = 0, what.ticket_id, (what.epoch, what.session_id)
        else:
            if what.request_id == 0:
                return CancelAnswer(was_open=False)
            flags, handle = rings.CANCEL_BY_REQUEST, what.request_id
            with self._link.lock:
                if what.session_id != self.session_id:
                    return CancelAnswer(was_open=False)
            belongs_to = None
        self._link.submit(pending, flags, handle, 0, None, timeout_seconds, belongs_to)
        return self._finish(pending, timeout_seconds)

    def publish(
        self,
        group_id: int,
        keys: Keys,
        blocks: Sequence[int],
        *,
        request: str = "",
        timeout_seconds: float = OPERATION_SECONDS,
    ) -> PublishResult:
        """Offers blocks of a group; `blocks[i]` is where the page that `keys[i]` names lies in the buffers.

        An answer other than DEADLINE means that the source pages may be reused.
        """
        started = self.start_publish(group_id, keys, blocks, request=request, timeout_seconds=timeout_seconds)
        return self._finish(started, timeout_seconds)

    def restore(
        self,
        lease: Lease,
        groups: Sequence[RestoreGroup],
        *,
        request: str = "",
        release: bool = False,
        on_layers: Callable[[int, int], None] | None = None,
        timeout_seconds: float = OPERATION_SECONDS,
    ) -> RestoreResult:
        """Copies leased pages into the buffers; with `release` the lease ends with it.

        `on_layers(done, total)` is called, in this thread, as layers come to be in place. After a DEADLINE the
        Manager may still write to the destination, until `drain` says that nothing is outstanding.
        """
        started = self.start_restore(
            lease,
            groups,
            request=request,
            release=release,
            progress=on_layers is not None,
            timeout_seconds=timeout_seconds,
        )
        if on_layers is not None:
            deadline = time.monotonic() + timeout_seconds
            done = 0
            while started.wait_layers(done + 1, deadline - time.monotonic()):
                done, total = started.layers()
                on_layers(done, total)
        return self._finish(started, timeout_seconds)

    def release(self, lease: Lease, timeout_seconds: float = OPERATION_SECONDS) -> Released | Failed | Refused:
        """Gives a lease back. Twice does no harm."""
        pending: Pending[Released | Failed | Refused] = Pending(self._link, Op.RELEASE, answers.released)
        self._link.submit(
            pending, 0, lease.lease_id, 0, None, timeout_seconds, (lease.epoch, lease.session_id)
        )
        return self._finish(pending, timeout_seconds)

    # Operations that only start; they wait no longer than for a free slot.

    def start_ping(self, timeout_seconds: float = OPERATION_SECONDS) -> Pending[Pong | Failed | Refused]:
        pending: Pending[Pong | Failed | Refused] = Pending(self._link, Op.PING, answers.pong)
        self._link.submit(pending, 0, 0, 0, None, timeout_seconds)
        return pending

    def start_query(
        self,
        start_token: int,
        keys: Mapping[int, Keys],
        *,
        limit_token: int = 0,
        request: str = "",
        wait: bool = False,
        replace: bool = False,
        ticket_millis: int = 0,
        timeout_seconds: float = OPERATION_SECONDS,
    ) -> Pending[QueryResult]:
        if replace and not wait:
            raise ValueError("replace goes with wait=True")
        if not 0 <= ticket_millis < 1 << 32 or (ticket_millis and not wait):
            raise ValueError("ticket_millis is a 32-bit number of milliseconds and goes with wait=True")
        write = _query_writer(start_token, limit_token, request, keys)
        pending: Pending[QueryResult] = Pending(self._link, Op.QUERY, answers.query_result)
        flags = (rings.QUERY_WAIT if wait else 0) | (rings.QUERY_REPLACE if replace else 0)
        self._link.submit(pending, flags, 0, ticket_millis, write, timeout_seconds)
        return pending

    def start_prepare(
        self,
        start_token: int,
        keys: Mapping[int, Keys],
        *,
        limit_token: int = 0,
        request: str = "",
        replace: bool = False,
        deadline_millis: int = 0,
        timeout_seconds: float = OPERATION_SECONDS,
    ) -> PendingPrepare:
        """Asks that what the request will need be brought into memory. `cancel` and `start_cancel` stop it."""
        if not 0 <= deadline_millis < 1 << 32:
            raise ValueError("deadline_millis is a 32-bit number of milliseconds")
        write = _query_writer(start_token, limit_token, request, keys)
        pending = PendingPrepare(self._link, Op.PREPARE, answers.prepare_result)
        flags = rings.QUERY_REPLACE if replace else 0
        self._link.submit(pending, flags, 0, deadline_millis, write, timeout_seconds)
        return pending

    def start_publish(
        self,
        group_id: int,
        keys: Keys,
        blocks: Sequence[int],
        *,
        request: str = "",
        timeout_seconds: float = OPERATION_SECONDS,
    ) -> Pending[PublishResult]:
        packed, name = PackedKeys.of(keys), request_name(request)
        pending: Pending[PublishResult] = Pending(self._link, Op.PUBLISH, answers.publish_result)
        self._link.submit(
            pending, 0, 0, 0, lambda view: encode_publish(view, group_id, name, packed, blocks), timeout_seconds
        )
        return pending

    def start_restore(
        self,
        lease: Lease,
        groups: Sequence[RestoreGroup],
        *,
        request: str = "",
        release: bool = False,
        progress: bool = False,
        timeout_seconds: float = OPERATION_SECONDS,
    ) -> PendingRestore:
        name = request_name(request)
        ordered = sorted(groups, key=_group_of)
        flags = (rings.RESTORE_PROGRESS if progress else 0) | (rings.RESTORE_RELEASE if release else 0)
        pending = PendingRestore(self._link, Op.RESTORE, answers.restore_result)
        self._link.submit(
            pending,
            flags,
            lease.lease_id,
            0,
            lambda view: encode_restore(view, name, ordered),
            timeout_seconds,
            (lease.epoch, lease.session_id),
        )
        return pending

    def _finish(self, pending: Pending[T], timeout_seconds: float) -> T | Refused:
        answer = pending.wait(timeout_seconds)
        if pending.result is None:
            self._link.abandon(pending)
        return answer

    # The control path.

    def health(self) -> Health | Refused:
        reply = self._link.control_request(FrameType.HEALTH, {})
        return reply if isinstance(reply, Refused) else health_of(reply.fields)

    def sessions(self) -> Sessions | Refused:
        reply = self._link.control_request(FrameType.SESSIONS, {})
        return reply if isinstance(reply, Refused) else sessions_of(reply.fields)

    def cleanup(self) -> Cleaned | Refused:
        """Ends every session of this client's instance, this one too, and forgets the instance."""
        fields = cleanup_json(self._link.registration.instance, self.session_id or None)
        reply = self._link.control_request(FrameType.CLEANUP, fields, DRAIN_SECONDS)
        return reply if isinstance(reply, Refused) else cleaned_of(reply.fields)

    def unregister(self) -> Unregistered | Refused:
        """Ends the session in order and the client with it: afterwards no byte of the buffers is touched."""
        session_id = self.session_id
        self._link.will_close()
        fields: dict[str, object] = {"sessionId": session_id}
        reply = self._link.control_request(FrameType.UNREGISTER, fields, DRAIN_SECONDS)
        self._link.close()
        return reply if isinstance(reply, Refused) else Unregistered(reply.fields.integer("sessionId", 1))

    def close(self) -> None:
        """Unregisters where there is a session, and ends the client. Again does nothing."""
        if self._link.forked or self._link.ended is not None:
            self._link.close()
        else:
            self.unregister()

    def __enter__(self) -> OrbitClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _group_of(group: RestoreGroup) -> int:
    return group.group_id


def _query_writer(
    start_token: int, limit_token: int, request: str, keys: Mapping[int, Keys]
) -> Callable[[memoryview], int]:
    name = request_name(request)
    groups = [(group_id, PackedKeys.of(keys[group_id])) for group_id in sorted(keys)]
    return lambda view: encode_query(view, start_token, limit_token, name, groups)


