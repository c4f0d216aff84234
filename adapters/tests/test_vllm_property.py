"""Engines that are driven at random against a real Manager: requests that share prefixes, aborts, preemptions, failed
restores, ranks out of step, a Manager that stops for a while, is killed and started again. Every page that a request computes on is
compared with what it must hold. Needs ORBITKV_LAUNCHER; ORBITKV_LONG=true drives longer and kills more often."""

from __future__ import annotations

import logging
import os
import random
import sys
import time
import unittest
import unittest.mock
from typing import ClassVar

from orbitkv import ControlConnection, Sessions
from tests import vllm_stub
from tests.contract_support import LAUNCHER, NO_LAUNCHER, Daemon, expect
from tests.engine_model import HASH_TOKENS, Engine, ModelGroup, Req, Scenario

LONG = os.environ.get("ORBITKV_LONG", "") == "true"
STEPS = 3000 if LONG else 70
DRAIN_SECONDS = 60

FULL = ModelGroup("full", HASH_TOKENS)
SWA = ModelGroup("swa", HASH_TOKENS, window=10)
MAMBA = ModelGroup("mamba", 2 * HASH_TOKENS, layers=1)
MLA = ModelGroup("mla", HASH_TOKENS)

SCENARIOS = (
    Scenario("older_full_planes", "older", (FULL,), layout="planes"),
    Scenario("a_full_tp2", "a", (FULL,), tensor_parallel=2),
    Scenario("a_full_tp2_layerwise", "a", (FULL,), tensor_parallel=2, load_mode="layerwise", layout="hnd"),
    Scenario("a_mla_tp2_mirrored", "a", (MLA,), tensor_parallel=2, shared=False),
    Scenario("b_swa_pp2", "b", (FULL, SWA), pipeline_parallel=2, blocks=61),
    Scenario("b_mamba_tp2", "b", (FULL, MAMBA), tensor_parallel=2, blocks=61),
    Scenario("b_all_tp2_pp2", "b", (FULL, SWA, MAMBA), tensor_parallel=2, pipeline_parallel=2, blocks=81),
)
class Driver:
    """Random things that may happen to an engine, and what must hold afterwards."""

    def __init__(self, scenario: Scenario, daemon: Daemon, seed: int, steps: int, kills: int) -> None:
        self.scenario = scenario
        self.daemon = daemon
        self.rng = random.Random(f"{seed}/{scenario.name}")
        self.steps = steps
        self.kills = sorted(self.rng.randrange(steps // 4, steps) for _ in range(kills))
        self.prompts = [[self.rng.randrange(4) for _ in range(60)] for _ in range(3)]
        self.count = 0

    def request(self) -> Req:
        """A prompt that shares a random part of its beginning with others. Prompts grow new branches."""
        self.count += 1
        if self.rng.random() < 0.15:
            branch = self.rng.choice(self.prompts)[: self.rng.randrange(60)]
            grown = branch + [self.rng.randrange(4) for _ in range(60 - len(branch))]
            self.prompts[self.rng.randrange(len(self.prompts))] = grown
        shared = self.rng.choice(self.prompts)[: self.rng.choice((20, 37, 60))]
        own = [self.rng.randrange(4) for _ in range(self.rng.choice((0, 0, 3)))]
        tokens = shared + own
        return Req(f"req-{self.count}", tokens, len(tokens) + self.rng.randrange(1, 14))

    def run(self, engine: Engine) -> None:
        rng = self.rng
        failing = 0.15
        engine.fail_load = lambda: rng.random() < failing
        for step in range(self.steps):
            while self.kills and self.kills[0] <= step:
                self.kills.pop(0)
                self.daemon.kill()
                for _ in range(rng.randrange(6)):
                    engine.step()
                self.daemon.start()
            if len(engine.waiting) < 5 and rng.random() < 0.5:
                engine.add(self.request())
            everyone = engine.waiting + engine.running + [req for req in engine.remote if req.state == "remote"]
            if everyone and rng.random() < 0.05:
                engine.abort(rng.choice(everyone))
            if engine.running and rng.random() < 0.05:
                engine.preempt(rng.choice(engine.running))
            if rng.random() < 0.1:
                self.daemon.pause(rng.uniform(0.002, 0.02))
            engine.step()
            if rng.random() < 0.1:
                time.sleep(rng.random() * 0.003)
        # A short run goes on until it has shown something.
        for _ in range(1000):
            if engine.done > 10 and engine.restored_requests > 3:
                break
            if len(engine.waiting) < 5:
                engine.add(self.request())
            engine.step()
        deadline = time.monotonic() + DRAIN_SECONDS
        while not engine.idle:
            engine.step()
            if time.monotonic() > deadline:
                waiting = [f"{req.request_id} {req.state}" for req in engine.waiting + engine.running + engine.remote]
                raise AssertionError(f"after {DRAIN_SECONDS} s requests are still there: {waiting}")
        engine.step()


@unittest.skipUnless(LAUNCHER, NO_LAUNCHER)
class VllmPropertyTest(unittest.TestCase):
    daemon: ClassVar[Daemon]
    seed: ClassVar[int]

    @classmethod
    def setUpClass(cls) -> None:
        hashes = unittest.mock.patch.dict(os.environ, {"PYTHONHASHSEED": "0"})
        hashes.start()
        cls.addClassCleanup(hashes.stop)
        cls.seed = int(os.environ.get("ORBITKV_SEED", "0")) or random.SystemRandom().getrandbits(32)
        cls.daemon = Daemon()
        cls.addClassCleanup(cls.daemon.stop)
        cls.daemon.start()

    def drive(self, scenario: Scenario) -> None:
        seed = self.seed
        repeat = f"repeat with: ORBITKV_SEED={seed} python3 -m unittest {self.id()}"
        # A failed restore is part of the plan.
        logging.getLogger("orbitkv").setLevel(logging.ERROR)
        self.addCleanup(logging.getLogger("orbitkv").setLevel, logging.NOTSET)
        try:
            with vllm_stub.installed(scenario.version) as module:
                self._drive(scenario, module, seed)
        except BaseException:
            print(repeat, file=sys.stderr, flush=True)
            raise

    def _drive(self, scenario: Scenario, module: object, seed: int) -> None:
        # In the short run one engine's Manager is killed, which one depends on the seed.
        killed = SCENARIOS[seed % len(SCENARIOS)] is scenario
        driver = Driver(scenario, self.daemon, seed, STEPS, 20 if LONG else int(killed))
        engine = Engine(scenario, module, self.daemon.socket_path, f"{scenario.name}-{seed}", driver.rng)
        try:
            driver.run(engine)
            self.assertEqual([], engine.wrong)
            self.assertGreater(engine.done, 10)
            self.assertGreater(engine.restored_requests, 3)
            self.assertEqual(bool(engine.events), scenario.version != "older")
            for event in engine.events:
                self.assertEqual(len(event.token_ids), len(event.block_hashes) * event.block_size)
            self.assertEqual(scenario.blocks - 1, len(engine.free), "blocks that were not freed")
            self._assert_nothing_held(engine)
        finally:
            engine.close()
        if os.environ.get("ORBITKV_VERBOSE"):
            print(
                f"{scenario.name}: {engine.done} done, {engine.restored_requests} restored, {engine.failed_loads} failed, "
                f"{engine.parked} parked, {len(engine.events)} events",
                file=sys.stderr,
            )

    def test_no_other_lookup_is_admitted_before_a_restored_request_computes(self) -> None:
        scenario = SCENARIOS[1]
        with vllm_stub.installed(scenario.version) as module:
            engine = Engine(scenario, module, self.daemon.socket_path, f"deferral-{self.seed}", random.Random(self.seed))
            self.addCleanup(engine.close)
            prompt = [index % 4 for index in range(40)]
            engine.add(Req("first", list(prompt), 41))
            while not engine.idle:
                engine.step()
            # This engine's own prefix cache forgets; the Manager does not.
            engine.cached.clear()
            names = ("second", "third", "fourth")
            for name in names:
                engine.add(Req(name, list(prompt), 41))
            restored: list[str] = []
            deadline = time.monotonic() + 20
            while not engine.idle and time.monotonic() < deadline:
                engine.step()
                admitted = [req.request_id for req in engine.remote + engine.waiting if req.restored_tokens]
                self.assertLessEqual(len(admitted), 1)
                restored += [name for name in admitted if name not in restored]
                engine.cached.clear()
            self.assertEqual(sorted(names), sorted(restored))
            self.assertEqual((4, [], True), (engine.done, engine.wrong, engine.parked > 0))

    def _assert_nothing_held(self, engine: Engine) -> None:
        """Every lease, ticket and request has gone back."""
        deadline = time.monotonic() + 5
        while True:
            with ControlConnection(self.daemon.socket_path) as control:
                control.hello()
                sessions = expect(Sessions, control.sessions()).sessions
            held = [(s.role, s.shard, s.leases, s.tickets, s.outstanding) for s in sessions]
            if not any(leases or tickets or outstanding for _, _, leases, tickets, outstanding in held):
                return
            if time.monotonic() > deadline:
                self.fail(f"after 5 s sessions still hold something: {held}")
            time.sleep(0.02)
            engine.step()


def _test_of(scenario: Scenario) -> None:
    def test(self: VllmPropertyTest) -> None:
        self.drive(scenario)

    setattr(VllmPropertyTest, f"test_no_wrong_byte_{scenario.name}", test)


for _scenario in SCENARIOS:
    _test_of(_scenario)

if not LONG and LAUNCHER:
    note = f"shortened: {STEPS} steps per engine and a kill for one of them; ./orbitkv test adapters --long has 3000, and 20 each"
    print(note, file=sys.stderr, flush=True)


if __name__ == "__main__":
    unittest.main()
