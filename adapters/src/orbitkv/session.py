"""One registered session: its connection, its channel, and the requests it has outstanding.

Guarded by its link's lock. Lives until the connection is lost or closed; nothing of it carries over to the next one.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from orbitkv.channel import Channel
from orbitkv.control import ControlConnection, Hello, Registered
from orbitkv.pending import Pending, PendingPrepare, TicketState
from orbitkv.results import Loading, Ready, Refused, Ticket
from orbitkv.staging import BoardService, Staging
from orbitkv.wire import WireError
from orbitkv.wire.rings import CANCEL_BY_REQUEST, MORE, NO_SLOT, NOTICE, Completion, Op, Status

if TYPE_CHECKING:
    from orbitkv.link import Link

MAX_KEPT_TICKETS = 4096
"""Tickets whose NOTICE has come but that nobody polled; the oldest is forgotten beyond this."""

_NO_PAYLOAD = memoryview(b"")


class Session:
    def __init__(
        self, control: ControlConnection, hello: Hello, registered: Registered, staging: Staging | None = None
    ) -> None:
        self.board = _serve(registered, staging)
        try:
            self.channel = Channel(registered)
        except BaseException:
            if self.board is not None:
                self.board.close()
            raise
        self.control = control
        self.peer_fd = control.open_peer()
        self.hello = hello
        self.session_id = registered.session_id
        self.instance_id = registered.instance_id
        self.epoch = registered.epoch
        self.max_outstanding = min(hello.limits.max_outstanding, registered.geometry.entries)
        self._pending: dict[int, Pending[Any]] = {}
        self._awaiting_notice: dict[int, TicketState] = {}
        self._preparing: dict[int, PendingPrepare] = {}
        self._tickets: dict[int, TicketState] = {}
        """By the request that was answered with the ticket: requests that ask the same share one."""
        self._free_slots = list(range(registered.geometry.slot_count - 1, -1, -1))
        self._generations = [0] * registered.geometry.slot_count
        self._last_request_id = 0

    def close(self) -> None:
        self.control.close()
        if self.board is not None:
            self.board.close()
        self.channel.close()

    @property
    def outstanding(self) -> int:
        return len(self._pending) + len(self._awaiting_notice) + len(self._preparing)

    def can_submit(self, needs_slot: bool) -> bool:
        return (
            self.outstanding < self.max_outstanding
            and (not needs_slot or bool(self._free_slots))
            and self.channel.has_room()
        )

    def submit(
        self,
        pending: Pending[Any],
        flags: int = 0,
        handle: int = 0,
        timeout_millis: int = 0,
        write: Callable[[memoryview], int] | None = None,
    ) -> None:
        """Submits, where `can_submit` said yes. `write` puts the payload into the slot and returns its length."""
        slot, generation, length = NO_SLOT, 0, 0
        if write is not None:
            slot = self._free_slots.pop()
            try:
                length = write(self.channel.payload_of(slot))
            except BaseException:
                self._free_slots.append(slot)
                raise
            generation = self._generations[slot] = self._generations[slot] + 1
            self.channel.stamp(slot, generation)
        self._last_request_id += 1
        pending.request_id = self._last_request_id
        pending.session_id = self.session_id
        pending.slot = slot
        pending.generation = generation
        self._pending[pending.request_id] = pending
        self.channel.submit(
            pending.op, flags, slot, length, pending.request_id, generation, handle, timeout_millis
        )

    def drain(self) -> bool:
        """Takes in what the Manager has answered; whether there was anything. WireError when it makes no sense."""
        completions = self.channel.look()
        if not completions:
            return False
        for completion in completions:
            if completion.flags & NOTICE:
                self._notice(completion)
            else:
                self._complete(completion)
        self.channel.taken(len(completions))
        return True

    def _complete(self, completion: Completion) -> None:
        pending = self._pending.get(completion.request_id)
        if pending is None:
            raise WireError(f"a completion of request {completion.request_id}, which is not outstanding")
        slot = completion.slot
        if (completion.op, slot, completion.slot_generation) != (pending.op, pending.slot, pending.generation):
            raise WireError(f"a completion that does not match request {completion.request_id}")
        if slot == NO_SLOT:
            if completion.payload_bytes:
                raise WireError("a completion with a payload but no slot")
            pending.settle(completion, _NO_PAYLOAD, self)
        else:
            with self.channel.payload_of(slot)[: completion.payload_bytes] as payload:
                pending.settle(completion, payload, self)
            self._free_slots.append(slot)
        del self._pending[completion.request_id]
        if pending.abandoned:
            self.undo(pending)

    def undo(self, pending: Pending[Any]) -> None:
        """Gives back what a query got that nobody waits for any more. Without room it expires by itself."""
        if not self.can_submit(needs_slot=False):
            return
        match pending.result:
            case Ready(lease=lease):
                self.submit(Pending(pending.link, Op.RELEASE, ignore_answer), 0, lease.lease_id)
            case Loading(ticket=ticket):
                self.abandon_ticket(pending.link, ticket)
            case _:
                pass

    def abandon_ticket(self, link: Link, ticket: Ticket) -> None:
        """Nobody waits for the ticket any more: ends it, and gives back the lease that it may have got meanwhile."""
        state = self._tickets.get(ticket.request_id)
        if state is None or state.abandoned_by is not None:
            return
        state.abandoned_by = link
        if state.notice is not None:
            self._fetch_abandoned(state)
        elif self.can_submit(needs_slot=False):
            self.submit(Pending(link, Op.CANCEL, ignore_answer), CANCEL_BY_REQUEST, ticket.request_id)

    def _fetch_abandoned(self, state: TicketState) -> None:
        """Polls for an answer that nobody wants, to release its lease. Without room the lease expires by itself."""
        from orbitkv.answers import poll_decoder

        assert state.notice is not None and state.abandoned_by is not None
        if state.notice.status != Status.READY:
            self.forget_ticket(state.ticket)
        elif self.can_submit(needs_slot=True):
            poll: Pending[Any] = Pending(state.abandoned_by, Op.POLL, poll_decoder(state.ticket))
            poll.abandoned = True
            self.submit(poll, 0, state.ticket.ticket_id, 0, _no_payload)

    def cancel_request(self, pending: Pending[Any]) -> None:
        """Asks the Manager to end a request that nobody waits for any more, if there is room to ask."""
        if self.can_submit(needs_slot=False):
            cancel = Pending(pending.link, Op.CANCEL, ignore_answer)
            self.submit(cancel, CANCEL_BY_REQUEST, pending.request_id)

    def open_ticket(self, completion: Completion) -> Loading:
        """A query's LOADING: its NOTICE follows."""
        if not completion.flags & MORE or completion.handle == 0:
            raise WireError("a query is LOADING without a ticket or without a NOTICE to follow")
        ticket = Ticket(completion.handle, self.epoch, self.session_id, completion.request_id)
        state = TicketState(ticket)
        self._awaiting_notice[completion.request_id] = state
        if len(self._tickets) >= MAX_KEPT_TICKETS:
            oldest = next((key for key, kept in self._tickets.items() if kept.known), None)
            if oldest is not None:
                del self._tickets[oldest]
        self._tickets[completion.request_id] = state
        return Loading(ticket)

    def await_notice(self, prepare: PendingPrepare, completion: Completion) -> None:
        """A preparation's LOADING: its NOTICE follows."""
        if not completion.flags & MORE or completion.handle == 0:
            raise WireError("a preparation is LOADING without a ticket or without a NOTICE to follow")
        self._preparing[completion.request_id] = prepare

    def _notice(self, completion: Completion) -> None:
        prepare = self._preparing.pop(completion.request_id, None)
        if prepare is not None:
            if completion.op != Op.PREPARE or completion.slot != NO_SLOT or completion.status == Status.LOADING:
                raise WireError(f"a NOTICE that does not match preparation {completion.request_id}")
            prepare.settle(completion, _NO_PAYLOAD, self)
            return
        state = self._awaiting_notice.pop(completion.request_id, None)
        if state is None or completion.op != Op.QUERY or completion.handle != state.ticket.ticket_id:
            raise WireError(f"a NOTICE of request {completion.request_id}, which waits for none")
        if completion.slot != NO_SLOT:
            raise WireError("a NOTICE with a slot")
        state.notice = completion
        if state.abandoned_by is not None:
            self._fetch_abandoned(state)

    def ticket(self, ticket: Ticket) -> TicketState | None:
        return self._tickets.get(ticket.request_id)

    def forget_ticket(self, ticket: Ticket) -> None:
        state = self._tickets.get(ticket.request_id)
        if state is not None and state.known:
            del self._tickets[ticket.request_id]

    def lose_all(self, refusal: Refused) -> None:
        """Ends everything outstanding: the connection is gone."""
        for pending in self._pending.values():
            pending.refuse(refusal)
        for prepare in self._preparing.values():
            prepare.refuse(refusal)
        for state in self._tickets.values():
            if not state.known:
                state.lost = refusal
        self._pending.clear()
        self._preparing.clear()
        self._awaiting_notice.clear()


def _serve(registered: Registered, staging: Staging | None) -> BoardService | None:
    """Begins to serve the board where pages are staged. Closes every descriptor where that cannot be."""
    board = registered.board
    try:
        if board is None and staging is None:
            return None
        if board is None or staging is None:
            if board is not None:
                board.close()
            raise WireError("REGISTERED brought a board without staged pages, or none with them")
        return staging.serve(board)
    except BaseException:
        for fd in (registered.channel_fd, registered.doorbell_fd, registered.signal_fd):
            os.close(fd)
        raise


def _no_payload(view: memoryview) -> int:
    del view
    return 0


def ignore_answer(completion: Completion, payload: memoryview, session: Session) -> Status:
    """For requests whose answer nobody needs."""
    del payload, session
    return Status.OK if completion.status == Status.OK else Status.REFUSED
