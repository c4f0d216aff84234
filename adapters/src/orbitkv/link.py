"""Keeps a client registered, and drives its channel.

One lock guards the session. Whoever waits for an answer drives the channel for all: the first to wait (the leader)
polls the signal eventfd without the lock and takes completions in; others sleep on a condition until it tells them or
leaves. A thread of the link, the keeper, reads the control socket, so it learns of CLOSING and of the Manager's end,
and registers again. Only the keeper ends a session, after the leader has left its poll: no descriptor is closed under
a thread that waits on it.
"""

from __future__ import annotations

import os
import select
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from orbitkv.codes import Category, Code
from orbitkv.control import (
    FRAME_SECONDS,
    REPLY_SECONDS,
    Closing,
    ConnectionLost,
    ControlConnection,
    Frame,
    ManagerUnavailable,
    closing_of,
    reply_of,
)
from orbitkv.pending import Pending, PendingRestore
from orbitkv.registration import Registration
from orbitkv.results import Refused, Ticket
from orbitkv.session import Session
from orbitkv.wire import WireError
from orbitkv.wire.frames import FrameType

FIRST_PAUSE_SECONDS = 0.01
LONGEST_PAUSE_SECONDS = 1.0
MAX_REMEMBERED_SESSIONS = 1024
"""Former sessions of this epoch whose handles are refused here; those of older ones the Manager refuses."""


@dataclass(frozen=True, slots=True)
class Ended:
    """Why a client will not reconnect any more."""

    reason: str
    """CLOSED, SUPERSEDED, CLEANED, PARENT_ENDED, or REFUSED where its registration was."""
    message: str


class RegistrationRefused(Exception):
    """HELLO or REGISTER was refused; `refusal` says why."""

    def __init__(self, refusal: Refused) -> None:
        super().__init__(str(refusal))
        self.refusal = refusal


class Link:
    def __init__(self, path: str, registration: Registration, parent: Link | None) -> None:
        """Connects and registers. ManagerUnavailable, ConnectionLost or RegistrationRefused say why it could not."""
        self.path = path
        self.registration = registration
        self.lock = threading.Lock()
        self.session: Session | None = None
        self.ended: Ended | None = None
        self._parent = parent
        self._changed = threading.Condition(self.lock)
        self._leading = False
        self._followers = 0
        self._closing = False
        self.forked = False
        self._broken = ""
        self._epoch = 0
        self._own_sessions: dict[int, None] = {}
        self._lost_peers: dict[int, int] = {}
        self._control_turn = threading.Lock()
        self._asked: tuple[FrameType, int] | None = None
        self._reply: Frame | Refused | None = None
        opened = self._open()
        if isinstance(opened, Refused):
            raise RegistrationRefused(opened)
        self._adopt(opened)
        self._wake_fd = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        _links.add(self)
        self._keeper = threading.Thread(target=self._keep, name="orbitkv-keeper", daemon=True)
        self._keeper.start()

    # State, for any thread.

    def check_process(self) -> None:
        if self.forked:
            raise RuntimeError("an OrbitClient belongs to the process that connected it: connect anew after a fork")

    def after_fork(self) -> None:
        """In a child process: lets go of the parent's connection, so that its end is seen when the parent goes."""
        self.forked = True
        session = self.session
        if session is not None:
            session.control.close()

    def absence(self) -> Refused:
        """What to answer while there is no session."""
        ended = self.ended
        if ended is None:
            return Refused.local(Code.DISCONNECTED, f"no connection to the Manager at {self.path}; reconnecting")
        if ended.reason == "SUPERSEDED":
            return Refused.local(Code.SESSION_SUPERSEDED, ended.message)
        return Refused.local(Code.DISCONNECTED, f"the client has ended: {ended.reason}: {ended.message}")

    def stale(self, epoch: int, session_id: int) -> Refused | None:
        """Why a handle of that epoch and session must not be sent; None when it may be."""
        session = self.session
        if epoch != self._epoch:
            return Refused.local(Code.EPOCH, f"the handle is of epoch {epoch}, the Manager's is {self._epoch}")
        if session_id in self._own_sessions and (session is None or session.session_id != session_id):
            return Refused.local(Code.SESSION_LOST, f"session {session_id}, which the handle is of, is over")
        return self.absence() if session is None else None

    def is_quiet(self, session_id: int) -> bool:
        """Whether the Manager can no longer touch pages for requests of that former session.

        So it is when its process has ended, or when it has registered a successor, which it does only after the
        predecessor's copies have drained; or at once where pages are staged and this session's board was served here.
        """
        with self.lock:
            if self.session is not None and self.session.session_id == session_id:
                return False
            if session_id not in self._lost_peers:
                return True
            peer_fd = self._lost_peers[session_id]
            return peer_fd >= 0 and bool(select.select([peer_fd], [], [], 0)[0])

    def _forget_lost_peers(self) -> None:
        for session_id in list(self._lost_peers):
            self._forget_lost_peer(session_id)

    def _forget_lost_peer(self, session_id: int) -> None:
        peer_fd = self._lost_peers.pop(session_id)
        if peer_fd >= 0:
            os.close(peer_fd)

    def wait_connected(self, timeout_seconds: float, after_session_id: int = 0) -> bool:
        """Waits for a session whose id is beyond that one. False when none comes in time or the client has ended."""
        deadline = time.monotonic() + timeout_seconds
        with self.lock:
            while True:
                if self.session is not None and self.session.session_id != after_session_id:
                    return True
                remaining = deadline - time.monotonic()
                if self.ended is not None or remaining <= 0:
                    return False
                self._changed.wait(remaining)

    def wait_ended(self, timeout_seconds: float) -> Ended | None:
        """Waits until the client will not reconnect any more."""
        deadline = time.monotonic() + timeout_seconds
        with self.lock:
            while self.ended is None:
                remaining = deadline - time.monotonic()
                if remaining <= 0:
                    break
                self._changed.wait(remaining)
            return self.ended

    # The channel.

    def submit(
        self,
        pending: Pending[Any],
        flags: int,
        handle: int,
        timeout_millis: int,
        write: Callable[[memoryview], int] | None,
        timeout_seconds: float,
        belongs_to: tuple[int, int] | None = None,
    ) -> None:
        """Submits a request, or settles it with a refusal of this client's own.

        Waits for a free slot and for room. `belongs_to` is the epoch and session of its handle.
        """
        self.check_process()
        needs_slot = write is not None
        with self.lock:
            refusal = self.stale(*belongs_to) if belongs_to is not None else None
            session = self.session
            if refusal is None and session is not None and not session.can_submit(needs_slot):
                waited_on = session
                self._run(
                    lambda: self.session is not waited_on or waited_on.can_submit(needs_slot),
                    time.monotonic() + timeout_seconds,
                )
                session = self.session
                refusal = self.stale(*belongs_to) if belongs_to is not None else None
            if refusal is not None:
                pending.refuse(refusal)
            elif session is None:
                pending.refuse(self.absence())
            elif not session.can_submit(needs_slot):
                pending.refuse(
                    Refused.local(Code.DEADLINE, f"no free slot or ring entry within {timeout_seconds:g} s")
                )
            else:
                session.submit(pending, flags, handle, timeout_millis, write)

    def run_until(self, condition: Callable[[], bool], deadline: float) -> bool:
        """Drives the channel until the condition, evaluated under the lock, holds; False on the deadline."""
        self.check_process()
        with self.lock:
            return self._run(condition, deadline)

    def sample(self, pending: PendingRestore) -> tuple[int, int]:
        with self.lock:
            return pending.look()

    def abandon(self, pending: Pending[Any]) -> None:
        """Nobody waits for it any more: ask the Manager to end it, and give back what it may still get."""
        with self.lock:
            session = self.session
            if session is None or session.session_id != pending.session_id or pending.abandoned:
                return
            pending.abandoned = True
            if pending.result is None:
                session.cancel_request(pending)
            else:
                session.undo(pending)

    def abandon_ticket(self, ticket: Ticket) -> None:
        """Nobody waits for the ticket any more: end it, and give back what it may still get."""
        with self.lock:
            session = self.session
            if session is not None and session.session_id == ticket.session_id:
                session.abandon_ticket(self, ticket)

    def _run(self, condition: Callable[[], bool], deadline: float) -> bool:
        """With the lock held."""
        while not condition():
            session = self.session
            remaining = deadline - time.monotonic()
            if remaining <= 0:
                # A last look, so that a wait of 0 seconds takes in what is there.
                return session is not None and not self._leading and self._drain(session) and condition()
            if session is None or self._leading or self._broken:
                self._followers += 1
                try:
                    self._changed.wait(remaining)
                finally:
                    self._followers -= 1
                continue
            self._leading = True
            self.lock.release()
            try:
                session.channel.await_signal(remaining)
            finally:
                self.lock.acquire()
                self._leading = False
                if self.session is session:
                    self._drain(session)
                if self._followers or self.session is not session:
                    self._changed.notify_all()
        return True

    def _drain(self, session: Session) -> bool:
        """Takes completions in. When they make no sense the channel is broken, and the keeper starts another."""
        if self._broken:
            return False
        try:
            return session.drain()
        except WireError as e:
            self._broken = f"the Manager broke the protocol: {e}"
            self._wake_keeper()
            return False

    # The control path.

    def control_request(
        self, kind: FrameType, fields: Mapping[str, object], timeout_seconds: float = REPLY_SECONDS
    ) -> Frame | Refused:
        """Sends a request on the session's connection; the keeper receives the reply."""
        self.check_process()
        deadline = time.monotonic() + timeout_seconds
        late = Refused.local(Code.DEADLINE, f"no reply to {kind.name} within {timeout_seconds:g} s")
        if not self._control_turn.acquire(timeout=timeout_seconds):
            return late
        try:
            with self.lock:
                session = self.session
                if session is None:
                    return self.absence()
                self._reply = None
                try:
                    self._asked = (kind, session.control.send(kind, fields, (), timeout_seconds))
                except ConnectionLost as e:
                    return Refused.local(Code.SESSION_LOST, str(e))
                while self._reply is None and self.session is session:
                    remaining = deadline - time.monotonic()
                    if remaining <= 0:
                        return late
                    self._changed.wait(remaining)
                if self._reply is None:
                    return Refused.local(Code.SESSION_LOST, f"the connection ended before the reply to {kind.name}")
                return self._reply
        finally:
            self._asked = None
            self._control_turn.release()

    # The end.

    def will_close(self) -> None:
        """From now on the end of the connection is the client's own wish."""
        self.check_process()
        with self.lock:
            self._closing = True

    def close(self) -> None:
        """Ends the session, without drain, and the keeper."""
        if self.forked:
            return
        self.will_close()
        with self.lock:
            self._wake_keeper()
        if threading.current_thread() is not self._keeper:
            self._keeper.join(REPLY_SECONDS + FRAME_SECONDS)
        with self.lock:
            self._forget_lost_peers()

    # The keeper.

    def _wake_keeper(self) -> None:
        """With the lock held."""
        if self._wake_fd >= 0:
            os.eventfd_write(self._wake_fd, 1)

    def _keep(self) -> None:
        try:
            while self.ended is None:
                session = self.session
                if session is not None:
                    why = self._watch(session)
                    self._lose(session, why)
                else:
                    self._reconnect()
        finally:
            self._finish()

    def _watch(self, session: Session) -> Closing:
        """Reads the connection until it is over."""
        poll = select.poll()
        poll.register(session.control, select.POLLIN)
        poll.register(self._wake_fd, select.POLLIN)
        while True:
            ready = poll.poll()
            if any(fd == self._wake_fd for fd, _ in ready):
                os.eventfd_read(self._wake_fd)
                if self._closing:
                    return Closing("CLOSED", "the client was closed")
                if self._broken:
                    return Closing("SHUTDOWN", self._broken)
                continue
            try:
                frame = session.control.receive(FRAME_SECONDS)
                if frame.type == FrameType.CLOSING:
                    return closing_of(frame.fields)
                self._deliver(frame)
            except (ConnectionLost, WireError) as e:
                return Closing("CLOSED" if self._closing else "SHUTDOWN", str(e))

    def _deliver(self, frame: Frame) -> None:
        with self.lock:
            reply = reply_of(frame, *self._asked) if self._asked is not None else None
            if reply is not None:
                self._reply = reply
                self._changed.notify_all()
        frame.close_fds()

    def _lose(self, session: Session, why: Closing) -> None:
        with self.lock:
            self._drain(session)
            self.session = None
            self._broken = ""
            if self._closing or why.reason in ("CLOSED", "SUPERSEDED", "CLEANED"):
                self.ended = Ended("CLOSED" if self._closing else why.reason, why.message)
            self._lost_peers[session.session_id] = session.peer_fd
            session.lose_all(Refused.local(Code.SESSION_LOST, f"session {session.session_id} ended: {why.message}"))
            while self._leading:
                session.channel.wake_self()
                self._changed.wait(0.1)
            self._changed.notify_all()
            session.close()
            if session.board is not None:
                # Staged pages are touched by this process alone, which has just ended that.
                self._forget_lost_peer(session.session_id)

    def _reconnect(self) -> None:
        pause = FIRST_PAUSE_SECONDS
        while self.session is None and self.ended is None:
            self._sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
            ended: Ended | None = None
            opened: Session | Refused | None = None
            parent = self._parent
            if self._closing:
                ended = Ended("CLOSED", "the client was closed")
            elif parent is not None and parent.ended is not None:
                ended = Ended("PARENT_ENDED", "the session that this one was attached to has ended")
            else:
                try:
                    opened = self._open()
                except (ManagerUnavailable, ConnectionLost, WireError, OSError):
                    continue  # Tried again after the pause; requests meanwhile say DISCONNECTED.
                if isinstance(opened, Refused) and self._is_final(opened):
                    ended = Ended("REFUSED", str(opened))
            with self.lock:
                self.ended = ended
                if isinstance(opened, Session):
                    self._adopt(opened)
                self._changed.notify_all()

    def _is_final(self, refusal: Refused) -> bool:
        # An attached session may have met its parent's former session, and tries again.
        retried = self._parent is not None and refusal.code == Code.ATTACH_MISMATCH
        return refusal.category == Category.USER and not retried

    def _sleep(self, seconds: float) -> None:
        ready, _, _ = select.select([self._wake_fd], [], [], seconds)
        if ready:
            os.eventfd_read(self._wake_fd)

    def _open(self) -> Session | Refused:
        """One attempt: connect, HELLO, REGISTER."""
        fields = self.registration.to_json()
        fds = self.registration.fds
        staging = self.registration.staging
        if self._parent is not None:
            parent_session = self._parent.session
            if parent_session is None:
                raise ConnectionLost("the session to attach to is not registered")
            fields = self.registration.save_json(parent_session.session_id)
            fds, staging = [], None
        control = ControlConnection(self.path)
        try:
            hello = control.hello()
            if isinstance(hello, Refused):
                control.close()
                return hello
            registered = control.register(fields, fds)
            if isinstance(registered, Refused):
                control.close()
                return registered
            return Session(control, hello, registered, staging)
        except BaseException:
            control.close()
            raise

    def _adopt(self, session: Session) -> None:
        if session.epoch != self._epoch:
            self._own_sessions.clear()
            self._epoch = session.epoch
        self._forget_lost_peers()
        self._own_sessions[session.session_id] = None
        if len(self._own_sessions) > MAX_REMEMBERED_SESSIONS:
            del self._own_sessions[next(iter(self._own_sessions))]
        self.session = session

    def _finish(self) -> None:
        """The keeper's last act, also when it dies of a mistake of its own."""
        with self.lock:
            if self.ended is None:
                self.ended = Ended("CLOSED", "the client's keeper has died")
            os.close(self._wake_fd)
            self._wake_fd = -1
            self._changed.notify_all()


_links: weakref.WeakSet[Link] = weakref.WeakSet()


def _after_fork_in_child() -> None:
    for link in _links:
        link.after_fork()


os.register_at_fork(after_in_child=_after_fork_in_child)
