"""What the parts of the qualification share: a Manager of their own, an engine with pages on the GPU, results."""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import math
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from orbitkv import (
    ConnectionLost,
    ControlConnection,
    Group,
    Health,
    Loading,
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
from orbitkv.cuda.ring import RingShape
from orbitkv.pages import GroupTensors, open_pages
from orbitkv.results import ALREADY, STORED

START_SECONDS = 60.0
WAIT_SECONDS = 30.0
MIB = 1 << 20


def torch_module() -> Any:
    """PyTorch, which only the machine with the GPU has."""
    return importlib.import_module("torch")


def say(*words: object) -> None:
    print(f"[{time.monotonic() - _started:7.1f} s]", *words, flush=True)


_started = time.monotonic()


class Manager:
    """A Manager process with a folder of its own. Its SSD tier, where it has one, is in that folder too."""

    def __init__(self, launcher: str, pool: str, *options: str, ssd_capacity: str = "") -> None:
        self._launcher = launcher
        self.folder = Path(tempfile.mkdtemp(prefix="orbitkv-qualify-"))
        self.socket_path = str(self.folder / "socket")
        self.log_path = self.folder / "log"
        self._options = ["--pool-size", pool, *options]
        if ssd_capacity:
            self._options += ["--ssd-cache-path", str(self.folder / "ssd"), "--ssd-cache-capacity", ssd_capacity]
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> float:
        """Starts it, again after `kill` on the same journal; the seconds until it served."""
        command = [self._launcher, "manager", "--socket", self.socket_path, "--http-addr", "127.0.0.1:0"]
        command += ["--journal", str(self.folder / "journal"), *self._options]
        began = time.monotonic()
        with self.log_path.open("ab") as log:
            self._process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
            )
        while self.health() is None:
            if self._process.poll() is not None or time.monotonic() - began > START_SECONDS:
                raise AssertionError(f"the Manager did not start:\n{self.log()}")
            time.sleep(0.02)
        return time.monotonic() - began

    def health(self) -> Health | None:
        try:
            with ControlConnection(self.socket_path) as control:
                if isinstance(control.hello(), Refused):
                    return None
                answer = control.health()
                return answer if isinstance(answer, Health) else None
        except (ManagerUnavailable, ConnectionLost):
            return None

    def holdings(self) -> dict[str, int]:
        """What sessions hold: all of it is zero when nobody is connected and everything has drained."""
        with ControlConnection(self.socket_path) as control:
            control.hello()
            answer = control.sessions()
        if isinstance(answer, Refused):
            raise AssertionError(f"SESSIONS was refused: {answer}")
        held = {"sessions": len(answer.sessions), "leases": 0, "tickets": 0, "outstanding": 0}
        for session in answer.sessions:
            held["leases"] += session.leases
            held["tickets"] += session.tickets
            held["outstanding"] += session.outstanding
        return held

    def log(self) -> str:
        return self.log_path.read_text(errors="replace")[-4000:] if self.log_path.exists() else ""

    def signal(self, number: int) -> None:
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, number)

    def kill(self) -> None:
        """As `kill -9` does, and waits until it is gone."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        """In order: what is on its way to the disk gets there."""
        self._end(signal.SIGTERM)

    def _end(self, number: int) -> None:
        if self._process is not None:
            self.signal(number)
            self._process.wait(30)
            self._process = None

    def close(self) -> None:
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


class PagedEngine:
    """An engine's worker: pages on the GPU, a session for restores and one for saves."""

    def __init__(
        self,
        socket_path: str,
        name: str,
        groups: Sequence[tuple[Group, GroupTensors]],
        ring: RingShape | None = None,
        namespace: str = "",
    ) -> None:
        self.pages = open_pages([tensors for _, tensors in groups], ring or RingShape())
        described: list[Group] = []
        for group, tensors in groups:
            size = self.pages.bytes_per_block(tensors.group_id)
            described.append(
                Group(
                    tensors.group_id,
                    group.component,
                    group.page_tokens,
                    group.rule,
                    size,
                    group.window_tokens,
                    group.replicated,
                )
            )
        registration = Registration(
            name,
            namespace or f"{name}/v1",
            StateFormat("sha256:random", "qualify/1", "bytes", self.pages.layout),
            described,
            self.pages.layers,
            self.pages.buffers,
            staging=self.pages.staging,
        )
        try:
            self.client = OrbitClient.connect(registration, socket_path)
            self.saver = self.client.attach_save()
        except BaseException:
            self.pages.close()
            raise

    def publish(self, group_id: int, keys: Sequence[bytes], blocks: Sequence[int]) -> Published:
        """All of it must be stored."""
        self.pages.before_publish(group_id, blocks)
        answer = self.saver.publish(group_id, keys, blocks, request="qualify", timeout_seconds=WAIT_SECONDS)
        if not isinstance(answer, Published) or any(outcome not in (STORED, ALREADY) for outcome in answer.outcomes):
            raise AssertionError(f"a publish of {len(keys)} blocks: {answer}")
        return answer

    def lookup(self, keys: Mapping[int, Sequence[bytes]]) -> Ready:
        """All of it must be found, after a wait where it is on its way."""
        answer = self.client.query(
            0, keys, request="qualify", wait=True, ticket_millis=int(1000 * WAIT_SECONDS), timeout_seconds=WAIT_SECONDS
        )
        if isinstance(answer, Loading):
            answer = self.client.wait(answer, WAIT_SECONDS)
        if not isinstance(answer, Ready):
            raise AssertionError(f"a query of {sum(map(len, keys.values()))} keys: {answer}")
        return answer

    def restore(self, ready: Ready, groups: Sequence[RestoreGroup]) -> Restored:
        for group in groups:
            self.pages.before_restore(group.group_id, group.blocks)
        answer = self.client.restore(
            ready.lease, groups, request="qualify", release=True, timeout_seconds=WAIT_SECONDS
        )
        if not isinstance(answer, Restored):
            raise AssertionError(f"a restore: {answer}")
        for group in groups:
            self.pages.after_restore(group.group_id, group.blocks)
        return answer

    def close(self) -> None:
        self.saver.close()
        self.client.close()
        self.pages.close()


class PlainTensor:
    """GPU memory without a framework: bytes of a dense shape."""

    device = "cuda:0"

    def __init__(self, address: int, shape: Sequence[int]) -> None:
        self.shape = tuple(shape)
        self._address = address

    def stride(self) -> tuple[int, ...]:
        return tuple(math.prod(self.shape[dim + 1 :]) for dim in range(len(self.shape)))

    def element_size(self) -> int:
        return 1

    def data_ptr(self) -> int:
        return self._address


def keys_of(name: str, count: int) -> list[bytes]:
    return [hashlib.sha256(f"{name}/{index}".encode()).digest() for index in range(count)]


def gigabytes_per_second(size_bytes: int, seconds: float) -> float:
    return round(size_bytes / seconds / 1e9, 2)


def table(rows: Sequence[Mapping[str, object]]) -> str:
    """A Markdown table of rows that have the same keys."""
    names = list(rows[0])
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    lines += ["| " + " | ".join(str(row[name]) for name in names) + " |" for row in rows]
    return "\n".join(lines)


def python_of_child(script: str, *arguments: str) -> list[str]:
    """The command line of a process of the qualification's own."""
    return [sys.executable, str(Path(__file__).with_name(script)), *arguments]
