"""A Manager that does what a test tells it, misbehaving included: for the client's own side of the protocol.

It speaks the protocol through the same layouts as the client but shares no code with its channel.
"""

from __future__ import annotations

import contextlib
import fcntl
import mmap
import os
import select
import socket
import tempfile
import threading
from collections.abc import Callable

from orbitkv.wire.frames import HEADER_BYTES, FrameHeader, FrameType, decode_header, encode_header
from orbitkv.wire.jsons import Fields, decode_json, encode_json
from orbitkv.wire.rings import (
    CHANNEL_HEADER,
    CHANNEL_MAGIC,
    COMPLETION,
    NO_SLOT,
    SUBMISSION,
    Completion,
    Op,
    Status,
    Submission,
)
from tests.board_manager import BoardManager

TOTAL, SUBMISSIONS, COMPLETIONS, ENTRIES, ARENA, SLOTS, SLOT_BYTES = 65536 + 4 * 4096, 4096, 20480, 8, 65536, 4, 4096


def done(submission: Submission, value: int = 0, status: int = Status.OK) -> Completion:
    """The plain answer to a descriptor; `_replace` what should differ."""
    return Completion(
        submission.op,
        0,
        submission.slot,
        0,
        0,
        submission.request_id,
        submission.epoch,
        status,
        0,
        0,
        0,
        submission.slot_generation,
        0,
        value,
    )


class FakeSession:
    """The Manager's side of one connection."""

    def __init__(self, manager: FakeManager, connection: socket.socket, session_id: int) -> None:
        self.manager = manager
        self.connection = connection
        self.session_id = session_id
        self.epoch = manager.epoch
        self.received: list[Submission] = []
        self._head = 0
        self._tail = 0
        self._memory: mmap.mmap | None = None
        self._fds: list[int] = []

    def send_frame(self, kind: int, correlation: int, fields: dict[str, object], fds: list[int] | None = None) -> None:
        payload = encode_json(fields)
        header = encode_header(FrameHeader(kind, len(payload), len(fds or []), correlation))
        socket.send_fds(self.connection, [header + payload], fds or [])

    def close(self, reason: str | None = None) -> None:
        """Ends the connection, with CLOSING if a reason is given."""
        with contextlib.suppress(OSError):
            if reason is not None:
                self.send_frame(FrameType.CLOSING, 0, {"reason": reason, "message": "as the test wants"})
            self.connection.shutdown(socket.SHUT_RDWR)

    def serve(self) -> None:
        try:
            self._bootstrap()
            while True:
                fds: list[int | socket.socket] = [self.connection, self._fds[1]]
                ready, _, _ = select.select(fds, [], [], 5)
                if self.connection in ready and not self._control():
                    return
                if self._fds[1] in ready:
                    os.eventfd_read(self._fds[1])
                    self._descriptors()
        except (OSError, EOFError):
            return
        finally:
            self.connection.close()
            if self._memory is not None:
                self._memory.close()
            for fd in self._fds:
                os.close(fd)

    def _receive(self) -> tuple[FrameHeader, Fields]:
        data, fds, _, _ = socket.recv_fds(self.connection, HEADER_BYTES, 64)
        for fd in fds:
            os.close(fd)
        if not data:
            raise EOFError
        header = decode_header(data)
        return header, decode_json(self.connection.recv(header.payload_bytes, socket.MSG_WAITALL))

    def _bootstrap(self) -> None:
        header, _ = self._receive()
        limits = {
            "maxControlBytes": 1048576,
            "maxBuffers": 64,
            "maxGroups": 16,
            "maxLayers": 4096,
            "maxKeysPerRequest": 32768,
            "maxOutstanding": ENTRIES,
            "leaseMillis": 30000,
            "ticketMillis": 10000,
            "maxTicketMillis": 60000,
            "helloTimeoutMillis": 5000,
        }
        self.send_frame(
            FrameType.HELLO_OK,
            header.correlation_id,
            {"version": 1, "epoch": self.epoch, "server": "fake/1", "limits": limits},
        )
        header, fields = self._receive()
        self.manager.registrations.append(fields)
        refusal = self.manager.refuse_registration
        if refusal is not None:
            self.send_frame(FrameType.REFUSED, header.correlation_id, refusal)
            raise EOFError
        self._make_channel()
        geometry = {
            "layoutVersion": 1,
            "bytes": TOTAL,
            "submissionOffset": SUBMISSIONS,
            "completionOffset": COMPLETIONS,
            "entries": ENTRIES,
            "arenaOffset": ARENA,
            "slotCount": SLOTS,
            "slotBytes": SLOT_BYTES,
        }
        reply: dict[str, object] = {
            "sessionId": self.session_id,
            "instanceId": 1,
            "namespaceId": 1,
            "epoch": self.epoch,
            "channel": geometry,
        }
        board = self.manager.board
        if board is not None:
            reply["board"] = {"bytes": board.size}
        self.send_frame(
            FrameType.REGISTERED, header.correlation_id, reply, [*self._fds, *(board.fds if board is not None else ())]
        )
        self.manager.opened(self)

    def _make_channel(self) -> None:
        fd = os.memfd_create("fake-channel", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(fd, TOTAL)
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL)
        self._memory = mmap.mmap(fd, TOTAL)
        CHANNEL_HEADER.pack_into(
            self._memory,
            0,
            CHANNEL_MAGIC,
            1,
            ENTRIES,
            TOTAL,
            self.epoch,
            self.session_id,
            SUBMISSIONS,
            COMPLETIONS,
            ARENA,
            SLOTS,
            SLOT_BYTES,
        )
        flags = os.EFD_CLOEXEC | os.EFD_NONBLOCK
        self._fds = [fd, os.eventfd(0, flags), os.eventfd(0, flags)]

    @property
    def memory(self) -> mmap.mmap:
        assert self._memory is not None
        return self._memory

    def _control(self) -> bool:
        header, fields = self._receive()
        if header.type == FrameType.UNREGISTER:
            session_id = fields.integer("sessionId")
            self.send_frame(FrameType.UNREGISTERED, header.correlation_id, {"sessionId": session_id})
            return False
        if header.type == FrameType.HEALTH and self.manager.answers_health:
            health: dict[str, object] = {
                "status": "SERVING",
                "epoch": self.epoch,
                "server": "fake/1",
                "uptimeMillis": 1,
                "sessions": 1,
                "poolBytes": 0,
                "poolUsedBytes": 0,
                "journalPosition": 0,
                "problems": [],
            }
            self.send_frame(FrameType.HEALTH_OK, header.correlation_id, health)
        return True

    def _descriptors(self) -> None:
        tail = int.from_bytes(self.memory[1024:1032], "little")
        while self._head < tail:
            start = SUBMISSIONS + self._head % ENTRIES * 64
            submission = Submission._make(SUBMISSION.unpack_from(self.memory, start))
            assert submission.sequence == self._head, "the client wrote a wrong sequence"
            self._head += 1
            self.memory[1152:1160] = self._head.to_bytes(8, "little")
            self.received.append(submission)
            self.manager.on_submission(self, submission)

    def put(self, completion: Completion, payload: bytes = b"") -> None:
        """Completes, with the right sequence."""
        self.put_raw(completion._replace(sequence=self._tail, payload_bytes=len(payload)), payload)

    def put_raw(self, completion: Completion, payload: bytes = b"") -> None:
        if payload:
            start = ARENA + completion.slot * SLOT_BYTES + 64
            self.memory[start : start + len(payload)] = payload
        COMPLETION.pack_into(self.memory, COMPLETIONS + self._tail % ENTRIES * 64, *completion)
        self._tail += 1
        self.memory[1280:1288] = self._tail.to_bytes(8, "little")
        os.eventfd_write(self._fds[2], 1)

    def set_progress(self, slot: int, layers_done: int, total: int) -> None:
        start = ARENA + slot * SLOT_BYTES
        self.memory[start + 12 : start + 16] = total.to_bytes(4, "little")
        self.memory[start + 8 : start + 12] = layers_done.to_bytes(4, "little")
        os.eventfd_write(self._fds[2], 1)


def answer_pings(session: FakeSession, submission: Submission) -> None:
    """Answers PING and says OK with value 0 to whatever has no slot; keeps silent otherwise."""
    if submission.op == Op.PING:
        session.put(done(submission, submission.request_id))
    elif submission.slot == NO_SLOT:
        session.put(done(submission))


class FakeManager:
    """Listens until `stop`; runs `on_submission` for every descriptor, in the connection's thread."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="orbitkv-fake-")
        self.path = os.path.join(self._folder.name, "socket")
        self.epoch = 7
        self.refuse_registration: dict[str, object] | None = None
        self.answers_health = True
        self.board: BoardManager | None = None
        """What registrations of staged pages get."""
        self.registrations: list[Fields] = []
        self.on_submission: Callable[[FakeSession, Submission], None] = answer_pings
        self._sessions: list[FakeSession] = []
        self._changed = threading.Condition()
        self._next_session = 12
        self._threads: list[threading.Thread] = []
        self.listen()

    def listen(self) -> None:
        """Starts to listen, again after `stop_listening`."""
        self._stopping = False
        self._listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self._listener.bind(self.path)
        self._listener.listen()
        self._spawn(self._accept)

    def _spawn(self, target: Callable[[], None]) -> None:
        thread = threading.Thread(target=target, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with self._listener as listener:
            while not self._stopping:
                connection, _ = listener.accept()
                if self._stopping:
                    connection.close()
                    return
                session = FakeSession(self, connection, self._next_session)
                self._next_session += 1
                self._spawn(session.serve)

    def opened(self, session: FakeSession) -> None:
        with self._changed:
            self._sessions.append(session)
            self._changed.notify_all()

    def session(self, index: int) -> FakeSession:
        """The n-th session that was registered, waiting for it."""
        with self._changed:
            if not self._changed.wait_for(lambda: len(self._sessions) > index, 5):
                raise AssertionError(f"there was no session {index} within 5 s")
            return self._sessions[index]

    @property
    def session_count(self) -> int:
        with self._changed:
            return len(self._sessions)

    def stop_listening(self) -> None:
        self._stopping = True
        with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as last:
            last.connect(self.path)
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)

    def stop(self) -> None:
        self.stop_listening()
        for session in self._sessions:
            session.close()
        for thread in self._threads:
            thread.join(5)
        self._folder.cleanup()
