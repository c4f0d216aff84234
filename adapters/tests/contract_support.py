"""A real Manager for the contract suite, and engines that talk to it."""

from __future__ import annotations

import contextlib
import hashlib
import os
import random
import signal
import subprocess
import tempfile
import threading
import time
import unittest
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from orbitkv import (
    Code,
    ConnectionLost,
    ControlConnection,
    Group,
    Health,
    HostBuffer,
    Layer,
    Lease,
    ManagerUnavailable,
    OrbitClient,
    Published,
    Ready,
    Refused,
    Registration,
    Restored,
    RestoreGroup,
    StateFormat,
)
from orbitkv.channel import Channel
from orbitkv.control import Registered
from orbitkv.wire.rings import NO_SLOT, Completion, Op, Submission

LAUNCHER = os.environ.get("ORBITKV_LAUNCHER", "")
NO_LAUNCHER = "ORBITKV_LAUNCHER names no launcher to start a Manager with"
START_SECONDS = 60.0
PAGE_TOKENS = 64
BLOCK_COUNT = 64
LAYER_BYTES = 2048
SLICE_BYTES = 2 * LAYER_BYTES
FORMAT = StateFormat("sha256:5f2c", "contract/1", "bfloat16", "NHD")
ATTENTION = Group(0, "ATTENTION_KV", PAGE_TOKENS, "PREFIX", SLICE_BYTES)

T = TypeVar("T")


class Daemon:
    """A Manager process with its own folder."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="orbitkv-contract-")
        self.socket_path = os.path.join(self._folder.name, "socket")
        self._log_path = Path(self._folder.name, "log")
        self._process: subprocess.Popen[bytes] | None = None
        self._pause: threading.Timer | None = None

    def start(self) -> None:
        command = [LAUNCHER, "manager", "--socket", self.socket_path, "--pool-size", "64mb"]
        command += ["--journal", os.path.join(self._folder.name, "journal"), "--http-addr", "127.0.0.1:0"]
        with self._log_path.open("ab") as log:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        deadline = time.monotonic() + START_SECONDS
        while not self._serves():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise AssertionError(f"the Manager did not start:\n{self.log()}")
            time.sleep(0.02)

    @property
    def running(self) -> bool:
        return self._process is not None

    def _serves(self) -> bool:
        try:
            with ControlConnection(self.socket_path) as control:
                return not isinstance(control.hello(), Refused) and isinstance(control.health(), Health)
        except (ManagerUnavailable, ConnectionLost):
            return False

    def log(self) -> str:
        return self._log_path.read_text(errors="replace")[-4000:] if self._log_path.exists() else ""

    def kill(self) -> None:
        """As `kill -9` does, and waits until it is gone."""
        if self._pause is not None:
            self._pause.join()
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait(10)
            self._process = None

    def pause(self, seconds: float) -> None:
        """Stops it, and lets it go on after that time, by itself. Nothing happens while it is stopped already."""
        if self._process is not None and (self._pause is None or not self._pause.is_alive()):
            os.killpg(self._process.pid, signal.SIGSTOP)
            self._pause = threading.Timer(seconds, self._resume, [self._process.pid])
            self._pause.start()

    @staticmethod
    def _resume(pid: int) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(pid, signal.SIGCONT)

    def stop(self) -> None:
        self.kill()
        self._folder.cleanup()


class Engine:
    """A process of an instance: registered buffers of 64 blocks for each of its groups, two layers each.

    The first layer of a group is an array of blocks; the second has a K and a V plane.
    """

    def __init__(
        self,
        socket_path: str,
        instance: str,
        namespace: str,
        *,
        groups: Sequence[Group] = (ATTENTION,),
        shard: int = 0,
        shard_count: int = 1,
    ) -> None:
        per_group = BLOCK_COUNT * SLICE_BYTES
        self.buffer = HostBuffer(per_group * len(groups))
        self.layers = {
            group.group_id: _layers(group.group_id, index * per_group) for index, group in enumerate(groups)
        }
        self.registration = Registration(
            instance=instance,
            namespace=namespace,
            format=FORMAT,
            groups=groups,
            layers=[layer for layers in self.layers.values() for layer in layers],
            buffers=[self.buffer],
            shard=shard,
            shard_count=shard_count,
        )
        try:
            self.client = OrbitClient.connect(self.registration, socket_path)
        except BaseException:
            self.buffer.close()
            raise

    def close(self) -> None:
        self.client.close()
        self.buffer.close()

    def _segments(self, block: int, group: int) -> list[memoryview]:
        return [
            self.buffer.segment(layer, block, segment)
            for layer in self.layers[group]
            for segment in range(layer.segment_count)
        ]

    def read(self, block: int, group: int = 0) -> bytes:
        """The slice of a block as it is in the buffer."""
        return b"".join(self._segments(block, group))

    def write(self, block: int, data: bytes, group: int = 0) -> None:
        offset = 0
        for segment in self._segments(block, group):
            segment[:] = data[offset : offset + len(segment)]
            offset += len(segment)

    def fill(self, blocks: Sequence[int], seed: str, group: int = 0) -> list[bytes]:
        """Writes random bytes to blocks, and returns them."""
        rng = random.Random(seed)
        written = [rng.randbytes(SLICE_BYTES) for _ in blocks]
        for block, data in zip(blocks, written, strict=True):
            self.write(block, data, group)
        return written

    def publish(self, keys: Sequence[bytes], blocks: Sequence[int], group: int = 0) -> Published:
        return expect(Published, self.client.publish(group, keys, blocks, request="contract"))

    def ready(self, keys: Sequence[bytes], *, limit_token: int = 0) -> Ready:
        """A query of group 0 from token 0 that must be READY."""
        return expect(Ready, self.client.query(0, {0: keys}, limit_token=limit_token, request="contract"))

    def restore(self, lease: Lease, blocks: Sequence[int], *, release: bool = False) -> Restored:
        """Restores pages of group 0 from token 0 on."""
        group = RestoreGroup(0, 0, blocks)
        return expect(Restored, self.client.restore(lease, [group], request="contract", release=release))


def _layers(group_id: int, base: int) -> list[Layer]:
    plane = BLOCK_COUNT * LAYER_BYTES
    half = LAYER_BYTES // 2
    return [
        Layer(group_id, 2 * group_id, 0, base, BLOCK_COUNT, LAYER_BYTES, LAYER_BYTES),
        Layer(group_id, 2 * group_id + 1, 0, base + plane, BLOCK_COUNT, half, half, 2, BLOCK_COUNT * half),
    ]


def expect(kind: type[T], answer: object) -> T:
    if not isinstance(answer, kind):
        raise AssertionError(f"{kind.__name__} was expected, not {answer}")
    return answer


def keys_of(name: str, count: int) -> list[bytes]:
    return [hashlib.sha256(f"{name}/{index}".encode()).digest() for index in range(count)]


class RawSession:
    """A session whose descriptors a test writes itself."""

    def __init__(self, socket_path: str, registration: Registration) -> None:
        self.control = ControlConnection(socket_path)
        expect_not_refused(self.control.hello())
        fds = registration.fds
        self.registered: Registered = expect_not_refused(self.control.register(registration.to_json(), fds))
        self.channel = Channel(self.registered)
        self._request_id = 0

    def close(self) -> None:
        self.control.close()
        self.channel.close()

    def submission(self, op: int = Op.PING, **changes: int) -> Submission:
        """The next good descriptor without slot, but for the changes."""
        self._request_id += 1
        good = Submission(
            op,
            0,
            NO_SLOT,
            0,
            self.channel.next_sequence,
            self._request_id,
            self.registered.epoch,
            self.registered.session_id,
            0,
            0,
            0,
        )
        return good._replace(**changes)

    def exchange(self, submission: Submission) -> Completion:
        """Submits it and takes the one completion that answers it."""
        self.channel.submit_raw(submission)
        deadline = time.monotonic() + 5
        while time.monotonic() < deadline:
            self.channel.await_signal(deadline - time.monotonic())
            completions = self.channel.look()
            if completions:
                self.channel.taken(len(completions))
                if len(completions) != 1:
                    raise AssertionError(f"{len(completions)} completions of one descriptor")
                return completions[0]
        raise AssertionError(f"no completion of {submission} within 5 s")


def expect_not_refused(answer: T | Refused) -> T:
    if isinstance(answer, Refused):
        raise AssertionError(f"refused: {answer}")
    return answer


class ContractCase(unittest.TestCase):
    """A test against the Manager of its module, with an instance and a namespace of its own."""

    daemon: Daemon

    @property
    def name(self) -> str:
        return self.id().rsplit("_", 1)[-1]

    @property
    def namespace(self) -> str:
        return f"{self.name}/v1"

    @property
    def path(self) -> str:
        return self.daemon.socket_path

    def keys(self, count: int) -> list[bytes]:
        return keys_of(self.name, count)

    def engine(
        self,
        *,
        instance: str = "",
        namespace: str = "",
        groups: Sequence[Group] = (ATTENTION,),
        shard: int = 0,
        shard_count: int = 1,
    ) -> Engine:
        engine = Engine(
            self.path,
            instance or self.name,
            namespace or self.namespace,
            groups=groups,
            shard=shard,
            shard_count=shard_count,
        )
        self.addCleanup(engine.close)
        return engine

    def scheduler(self, groups: Sequence[Group] = (ATTENTION,), shard_count: int = 1) -> OrbitClient:
        """A session of the role QUERY."""
        registration = Registration(
            self.name, self.namespace, FORMAT, groups, role="QUERY", shard_count=shard_count
        )
        client = OrbitClient.connect(registration, self.path)
        self.addCleanup(client.close)
        return client

    def raw(self, engine: Engine) -> RawSession:
        """Another instance of an engine's namespace, with its buffer."""
        registration = engine.registration
        other = Registration(
            registration.instance + "-raw",
            registration.namespace,
            registration.format,
            registration.groups,
            registration.layers,
            registration.buffers,
        )
        session = RawSession(self.path, other)
        self.addCleanup(session.close)
        return session

    def control(self) -> ControlConnection:
        """A connection after HELLO."""
        control = ControlConnection(self.path)
        self.addCleanup(control.close)
        expect_not_refused(control.hello())
        return control

    def assert_refused(self, code: Code, answer: object) -> Refused:
        if not isinstance(answer, Refused):
            self.fail(f"{code.name} was expected, not {answer}")
        self.assertEqual(code.name, answer.name, str(answer))
        self.assertEqual(code // 100, answer.category)
        return answer

    def await_true(self, condition: Callable[[], bool], what: str) -> None:
        deadline = time.monotonic() + 5
        while not condition():
            if time.monotonic() > deadline:
                self.fail(f"within 5 s it did not come true that {what}")
            time.sleep(0.005)
