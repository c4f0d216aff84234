"""The control path: framed JSON over the Manager's Unix socket (protocol, section 1).

A ControlConnection belongs to one thread at a time. It works without a registration, for HEALTH, SESSIONS and CLEANUP.
"""

from __future__ import annotations

import array
import os
import select
import socket
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType

from orbitkv.codes import Category
from orbitkv.results import Cleaned, Health, Limits, Refused, SessionInfo, Sessions, Unregistered
from orbitkv.staging import BoardHandover
from orbitkv.wire import WireError
from orbitkv.wire.frames import HEADER_BYTES, MAX_FDS, FrameType, decode_header, encode_frame
from orbitkv.wire.jsons import Fields, decode_json, encode_json
from orbitkv.wire.rings import LAYOUT_VERSION, Geometry

CLIENT_NAME = "orbitkv-python/0.1"
REPLY_SECONDS = 5.0
DRAIN_SECONDS = 30.0
FRAME_SECONDS = 5.0

_FD = array.array("i").itemsize


class ManagerUnavailable(ConnectionError):
    """No Manager could be reached; the message says why and what to do."""


class ConnectionLost(ConnectionError):
    """The Manager closed the connection, or did not answer in time."""


@dataclass(frozen=True, slots=True)
class Frame:
    type: int
    correlation_id: int
    fields: Fields
    fds: tuple[int, ...]

    def close_fds(self) -> None:
        for fd in self.fds:
            os.close(fd)


@dataclass(frozen=True, slots=True)
class Hello:
    version: int
    epoch: int
    server: str
    limits: Limits


@dataclass(frozen=True, slots=True)
class Registered:
    """A new session and the descriptors of its channel, which the receiver owns."""

    session_id: int
    instance_id: int
    namespace_id: int
    epoch: int
    superseded_session_id: int | None
    geometry: Geometry
    channel_fd: int
    doorbell_fd: int
    signal_fd: int
    board: BoardHandover | None = None
    """Where the registration has staged pages; the receiver owns it too."""


@dataclass(frozen=True, slots=True)
class Closing:
    reason: str
    message: str


def socket_path_of(path: str | None) -> str:
    """The given path, else that of ORBITKV_SOCKET."""
    found = path or os.environ.get("ORBITKV_SOCKET")
    if not found:
        raise ManagerUnavailable("no Manager socket was named: pass socket_path or set ORBITKV_SOCKET")
    return found


class ControlConnection:
    __slots__ = ("_next_correlation", "_poll", "_socket", "path")

    def __init__(self, path: str, timeout_seconds: float = REPLY_SECONDS) -> None:
        """Connects; ManagerUnavailable says why it could not."""
        self.path = path
        self._socket = _connect(path, time.monotonic() + timeout_seconds)
        self._poll = select.poll()
        self._next_correlation = 1

    def fileno(self) -> int:
        return self._socket.fileno()

    def open_peer(self) -> int:
        """A pidfd of the Manager's process, which tells when it has ended; -1 where the kernel gives none.

        There is none across PID namespaces.
        """
        credentials = self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        pid = int.from_bytes(credentials[:4], sys.byteorder, signed=True)
        try:
            return os.pidfd_open(pid) if pid > 0 else -1
        except OSError:
            return -1

    def close(self) -> None:
        self._socket.close()

    def __enter__(self) -> ControlConnection:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    # Frames.

    def _await(self, events: int, deadline: float) -> None:
        remaining = deadline - time.monotonic()
        self._poll.register(self._socket, events)
        if remaining <= 0 or not self._poll.poll(remaining * 1000):
            raise ConnectionLost(f"the Manager at {self.path} did not answer in time")

    def send(
        self,
        kind: int,
        fields: Mapping[str, object],
        fds: Sequence[int] = (),
        timeout_seconds: float = REPLY_SECONDS,
    ) -> int:
        """Sends a request; returns its correlation id."""
        correlation_id = self._next_correlation
        self._next_correlation += 1
        self.send_bytes(encode_frame(kind, correlation_id, encode_json(fields), len(fds)), fds, timeout_seconds)
        return correlation_id

    def send_bytes(self, data: bytes, fds: Sequence[int] = (), timeout_seconds: float = REPLY_SECONDS) -> None:
        """Sends bytes as they are, the descriptors with the first of them."""
        deadline = time.monotonic() + timeout_seconds
        rest = memoryview(data)
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds))] if fds else []
        while len(rest):
            try:
                sent = self._socket.sendmsg([rest], ancillary, socket.MSG_NOSIGNAL)
                ancillary = []
                rest = rest[sent:]
            except BlockingIOError:
                self._await(select.POLLOUT, deadline)
            except OSError as e:
                raise ConnectionLost(f"the Manager at {self.path} closed the connection: {e}") from e

    def receive(self, timeout_seconds: float = REPLY_SECONDS) -> Frame:
        """The next frame. ConnectionLost at its end, or when none is complete in time."""
        deadline = time.monotonic() + timeout_seconds
        fds: list[int] = []
        try:
            data = b""
            while not data:
                self._await(select.POLLIN, deadline)
                data = self._receive_first(fds)
            header = decode_header(data + self._receive_rest(HEADER_BYTES - len(data), deadline))
            payload = self._receive_rest(header.payload_bytes, deadline)
            if header.fd_count != len(fds):
                raise WireError(f"{len(fds)} file descriptors came with a frame of {header.fd_count}")
            return Frame(header.type, header.correlation_id, decode_json(payload), tuple(fds))
        except BaseException:
            for fd in fds:
                os.close(fd)
            raise

    def _receive_first(self, fds: list[int]) -> bytes:
        try:
            data, ancillary, flags, _ = self._socket.recvmsg(
                HEADER_BYTES, socket.CMSG_SPACE(MAX_FDS * _FD), socket.MSG_CMSG_CLOEXEC
            )
        except BlockingIOError:
            return b""
        except OSError as e:
            raise ConnectionLost(f"the Manager at {self.path} closed the connection: {e}") from e
        for level, kind, content in ancillary:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                whole = array.array("i")
                whole.frombytes(content[: len(content) - len(content) % _FD])
                fds.extend(whole)
        if flags & socket.MSG_CTRUNC:
            raise WireError("a frame's file descriptors were cut off")
        if not data:
            raise ConnectionLost(f"the Manager at {self.path} closed the connection")
        return data

    def _receive_rest(self, size: int, deadline: float) -> bytes:
        parts = bytearray()
        while len(parts) < size:
            try:
                data = self._socket.recv(size - len(parts))
            except BlockingIOError:
                self._await(select.POLLIN, deadline)
                continue
            except OSError as e:
                raise ConnectionLost(f"the Manager at {self.path} closed the connection: {e}") from e
            if not data:
                raise ConnectionLost(f"the Manager at {self.path} closed the connection within a frame")
            parts += data
        return bytes(parts)

    # Requests and their replies.

    def request(
        self,
        kind: FrameType,
        fields: Mapping[str, object],
        fds: Sequence[int] = (),
        timeout_seconds: float = REPLY_SECONDS,
    ) -> Frame | Refused:
        """Sends a request and waits for its reply."""
        deadline = time.monotonic() + timeout_seconds
        correlation_id = self.send(kind, fields, fds, timeout_seconds)
        while True:
            frame = self.receive(deadline - time.monotonic())
            reply = reply_of(frame, kind, correlation_id)
            if reply is not None:
                return reply
            frame.close_fds()

    def hello(self) -> Hello | Refused:
        fields: dict[str, object] = {"client": CLIENT_NAME, "protocolVersions": [1]}
        reply = self.request(FrameType.HELLO, fields)
        return reply if isinstance(reply, Refused) else hello_of(reply.fields)

    def register(self, fields: Mapping[str, object], fds: Sequence[int]) -> Registered | Refused:
        reply = self.request(FrameType.REGISTER, fields, fds, DRAIN_SECONDS)
        if isinstance(reply, Refused):
            return reply
        try:
            return registered_of(reply)
        except WireError:
            reply.close_fds()
            raise

    def health(self) -> Health | Refused:
        reply = self.request(FrameType.HEALTH, {})
        return reply if isinstance(reply, Refused) else health_of(reply.fields)

    def sessions(self) -> Sessions | Refused:
        reply = self.request(FrameType.SESSIONS, {})
        return reply if isinstance(reply, Refused) else sessions_of(reply.fields)

    def unregister(self, session_id: int) -> Unregistered | Refused:
        reply = self.request(FrameType.UNREGISTER, {"sessionId": session_id}, (), DRAIN_SECONDS)
        return reply if isinstance(reply, Refused) else Unregistered(reply.fields.integer("sessionId", 1))

    def cleanup(self, instance: str, expect_session_id: int | None = None) -> Cleaned | Refused:
        reply = self.request(FrameType.CLEANUP, cleanup_json(instance, expect_session_id), (), DRAIN_SECONDS)
        return reply if isinstance(reply, Refused) else cleaned_of(reply.fields)


def _connect(path: str, deadline: float) -> socket.socket:
    connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK)
    try:
        while True:
            try:
                connection.connect(path)
                return connection
            except BlockingIOError:  # The Manager's backlog is full.
                if time.monotonic() > deadline:
                    raise ManagerUnavailable(f"the Manager at {path} does not accept connections") from None
                time.sleep(0.01)
    except FileNotFoundError:
        connection.close()
        raise ManagerUnavailable(
            f"there is no Manager socket at {path}: start one with `orbitkv manager --socket {path}`"
        ) from None
    except ConnectionRefusedError:
        connection.close()
        raise ManagerUnavailable(
            f"nobody listens at {path}: the Manager has died; start one with `orbitkv manager --socket {path}`"
        ) from None
    except PermissionError:
        connection.close()
        raise ManagerUnavailable(
            f"this user may not connect to {path}: run as the Manager's user or in its socket's group"
        ) from None
    except OSError as e:
        connection.close()
        raise ManagerUnavailable(f"cannot connect to the Manager at {path}: {e}") from e
    except BaseException:
        connection.close()
        raise


def reply_of(frame: Frame, kind: FrameType, correlation_id: int) -> Frame | Refused | None:
    """The frame if it answers that request, its refusal, or None for an answer to an earlier request."""
    if frame.type == FrameType.CLOSING:
        closing = closing_of(frame.fields)
        raise ConnectionLost(f"the Manager closes the connection: {closing.reason}: {closing.message}")
    if frame.type == FrameType.REFUSED and frame.correlation_id in (0, correlation_id):
        return refused_of(frame.fields)
    if frame.correlation_id != correlation_id:
        return None
    if frame.type != kind + 1:
        raise WireError(f"a frame of type {frame.type} answered {kind.name}")
    return frame


def cleanup_json(instance: str, expect_session_id: int | None) -> dict[str, object]:
    fields: dict[str, object] = {"instance": instance}
    if expect_session_id is not None:
        fields["expectSessionId"] = expect_session_id
    return fields


def hello_of(fields: Fields) -> Hello:
    limits = fields.object("limits")
    return Hello(
        version=fields.integer("version", 1, 1),
        epoch=fields.integer("epoch", 1),
        server=fields.text("server"),
        limits=Limits(
            max_control_bytes=limits.integer("maxControlBytes"),
            max_buffers=limits.integer("maxBuffers"),
            max_groups=limits.integer("maxGroups"),
            max_layers=limits.integer("maxLayers"),
            max_keys_per_request=limits.integer("maxKeysPerRequest", 1),
            max_outstanding=limits.integer("maxOutstanding", 1),
            lease_millis=limits.integer("leaseMillis"),
            ticket_millis=limits.integer("ticketMillis"),
            max_ticket_millis=limits.integer("maxTicketMillis"),
            hello_timeout_millis=limits.integer("helloTimeoutMillis"),
        ),
    )


def registered_of(frame: Frame) -> Registered:
    fields = frame.fields
    expected = 6 if fields.has("board") else 3
    if len(frame.fds) != expected:
        raise WireError(f"REGISTERED came with {len(frame.fds)} file descriptors, not {expected}")
    board = None
    if fields.has("board"):
        board = BoardHandover(fields.object("board").integer("bytes", 1), *frame.fds[3:])
    channel = fields.object("channel")
    channel.integer("layoutVersion", LAYOUT_VERSION, LAYOUT_VERSION)
    geometry = Geometry(
        total_bytes=channel.integer("bytes"),
        submission_offset=channel.integer("submissionOffset"),
        completion_offset=channel.integer("completionOffset"),
        entries=channel.integer("entries"),
        arena_offset=channel.integer("arenaOffset"),
        slot_count=channel.integer("slotCount"),
        slot_bytes=channel.integer("slotBytes"),
    )
    return Registered(
        session_id=fields.integer("sessionId", 1),
        instance_id=fields.integer("instanceId", 0),
        namespace_id=fields.integer("namespaceId", 0),
        epoch=fields.integer("epoch", 1),
        superseded_session_id=(
            fields.integer("supersededSessionId", 1) if fields.has("supersededSessionId") else None
        ),
        geometry=geometry,
        channel_fd=frame.fds[0],
        doorbell_fd=frame.fds[1],
        signal_fd=frame.fds[2],
        board=board,
    )


def health_of(fields: Fields) -> Health:
    return Health(
        status=fields.text("status"),
        epoch=fields.integer("epoch", 1),
        server=fields.text("server"),
        uptime_millis=fields.integer("uptimeMillis"),
        sessions=fields.integer("sessions"),
        pool_bytes=fields.integer("poolBytes"),
        pool_used_bytes=fields.integer("poolUsedBytes"),
        journal_position=fields.integer("journalPosition"),
        problems=fields.texts("problems"),
    )


def sessions_of(fields: Fields) -> Sessions:
    return Sessions(
        sessions=tuple(
            SessionInfo(
                session_id=session.integer("sessionId", 1),
                instance_id=session.integer("instanceId", 0),
                instance=session.text("instance"),
                namespace=session.text("namespace"),
                shard=session.integer("shard"),
                role=session.text("role"),
                pid=session.integer("pid"),
                uid=session.integer("uid"),
                opened_at_millis=session.integer("openedAtMillis"),
                leases=session.integer("leases"),
                tickets=session.integer("tickets"),
                outstanding=session.integer("outstanding"),
            )
            for session in fields.objects("sessions")
        ),
        omitted=fields.integer("omitted"),
    )


def cleaned_of(fields: Fields) -> Cleaned:
    return Cleaned(
        instance=fields.text("instance"),
        sessions_closed=fields.integer("sessionsClosed"),
        leases_released=fields.integer("leasesReleased"),
        tickets_closed=fields.integer("ticketsClosed"),
    )


def refused_of(fields: Fields) -> Refused:
    code = fields.integer("code", 0, 0xFFFF)
    known = fields.text("category")
    category = Category[known] if known in Category.__members__ else Category.of(code // 100)
    return Refused(
        category=category,
        code=code,
        message=fields.text("message"),
        remedy=fields.text("remedy"),
        retry_after_millis=fields.integer("retryAfterMillis"),
        field=fields.text("field") if fields.has("field") else None,
    )


def closing_of(fields: Fields) -> Closing:
    return Closing(fields.text("reason"), fields.text("message"))


