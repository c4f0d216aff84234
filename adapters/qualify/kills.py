"""Engines and Managers killed in the middle of copies: counters and GPU memory return to where they were, no byte is wrong."""

from __future__ import annotations

import json
import random
import select
import subprocess
import time
from typing import Any

from orbitkv.cuda.libcuda import open_library
from qualify.common import MIB, Manager, python_of_child, say

TOLERANCE = 32 * MIB
"""Of GPU memory: what the driver itself may keep or give back between two looks."""
SETTLE_SECONDS = 15.0
LONGEST_DELAY_SECONDS = 0.006
"""A copy of 256 MiB takes about 5 ms."""


class Engine:
    """A kill_engine.py process."""

    def __init__(self, manager: Manager, name: str, run: str) -> None:
        command = python_of_child("kill_engine.py", manager.socket_path, name, run)
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.counts: dict[str, int] = {}
        self.next_counts(60)

    def line(self, seconds: float) -> str:
        assert self._process.stdout is not None
        if not select.select([self._process.stdout], [], [], seconds)[0]:
            raise AssertionError(f"the engine said nothing for {seconds} s after {self.counts}")
        line = self._process.stdout.readline().decode()
        if not line:
            assert self._process.stderr is not None
            raise AssertionError(f"the engine ended by itself:\n{self._process.stderr.read().decode()[-3000:]}")
        return line.strip()

    def next_counts(self, seconds: float) -> dict[str, int]:
        """The counts after the round that runs now."""
        while not (line := self.line(seconds)).startswith("{"):
            pass
        self.counts = json.loads(line)
        return self.counts

    def await_copy(self, kind: str) -> None:
        """Until it is about to copy."""
        while (line := self.line(60)) != kind:
            if line.startswith("{"):
                self.counts = json.loads(line)

    def kill(self) -> None:
        self._process.kill()
        self._process.wait(30)
        for stream in (self._process.stdout, self._process.stderr):
            if stream is not None:
                stream.close()


def await_memory(api: Any, baseline: int) -> int:
    """Waits until as much GPU memory is free as it was; the bytes that are missing or too many, 0 within the tolerance."""
    deadline = time.monotonic() + SETTLE_SECONDS
    while abs(difference := baseline - api.free_bytes()) > TOLERANCE:
        if time.monotonic() > deadline:
            return difference
        time.sleep(0.02)
    return 0


def await_nothing_held(manager: Manager) -> dict[str, int]:
    """Waits until no session holds anything; what is still held after all."""
    deadline = time.monotonic() + SETTLE_SECONDS
    while any((held := manager.holdings()).values()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return held


def run(launcher: str, engine_kills: int, manager_kills: int, seed: int) -> dict[str, object]:
    api = open_library()
    api.retain(0)
    api.bind(0)
    rng = random.Random(seed)
    manager = Manager(launcher, "2gb")
    try:
        manager.start()
        engines = _kill_engines(api, manager, engine_kills, rng)
        say("kills:", engines)
        managers = _kill_managers(api, manager, manager_kills, rng)
        say("kills:", managers)
    finally:
        manager.close()
        api.release(0)
    return {"seed": seed, "engines": engines, "managers": managers}


def _kill_engines(api: Any, manager: Manager, kills: int, rng: random.Random) -> dict[str, object]:
    first = Engine(manager, "victim", "warm")
    first.next_counts(60)
    first.kill()
    await_nothing_held(manager)
    time.sleep(1)
    baseline = api.free_bytes()
    rounds = wrong = failed = memory_off = still_held = 0
    for number in range(kills):
        engine = Engine(manager, "victim", f"engine/{number}")
        for _ in range(rng.randrange(2)):
            engine.next_counts(60)
        engine.await_copy(rng.choice(("publish", "restore")))
        time.sleep(rng.random() * LONGEST_DELAY_SECONDS)
        engine.kill()
        held = await_nothing_held(manager)
        difference = await_memory(api, baseline)
        rounds += engine.counts["rounds"]
        wrong += engine.counts["wrong"]
        failed += engine.counts["failed"]
        still_held += any(held.values())
        memory_off += difference != 0
        say("engine killed", number + 1, "of", kills, engine.counts, "held", held, "memory off by", difference)
    health = manager.health()
    return {
        "kills": kills,
        "rounds": rounds,
        "failed rounds": failed,
        "wrong pages": wrong,
        "times something was still held": still_held,
        "times GPU memory was not back": memory_off,
        "problems": list(health.problems) if health is not None else ["no answer"],
    }


def _kill_managers(api: Any, manager: Manager, kills: int, rng: random.Random) -> dict[str, object]:
    engine = Engine(manager, "survivor", "manager")
    baseline = 0
    memory_off = 0
    starts: list[float] = []
    try:
        engine.next_counts(60)
        baseline = api.free_bytes()
        for number in range(kills):
            engine.await_copy(rng.choice(("publish", "restore")))
            time.sleep(rng.random() * LONGEST_DELAY_SECONDS)
            manager.kill()
            starts.append(manager.start())
            good = engine.counts["good"]
            deadline = time.monotonic() + 60
            while engine.next_counts(60)["good"] <= good:
                if time.monotonic() > deadline:
                    raise AssertionError(f"the engine did not come back: {engine.counts}")
            difference = await_memory(api, baseline)
            memory_off += difference != 0
            say("Manager killed", number + 1, "of", kills, engine.counts, "memory off by", difference)
        counts = engine.counts
    finally:
        engine.kill()
    held = await_nothing_held(manager)
    health = manager.health()
    return {
        "kills": kills,
        "rounds": counts["rounds"],
        "failed rounds": counts["failed"],
        "wrong pages": counts["wrong"],
        "times something was still held": int(any(held.values())),
        "times GPU memory was not back": memory_off,
        "slowest restart s": round(max(starts, default=0.0), 2),
        "problems": list(health.problems) if health is not None else ["no answer"],
    }
