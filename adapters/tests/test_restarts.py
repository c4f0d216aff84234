"""A Manager that is killed again and again under load: every request ends, no wrong byte comes back, and the client
is served by the next one. Needs ORBITKV_LAUNCHER; ORBITKV_LONG=true kills 30 times instead of once."""

from __future__ import annotations

import os
import random
import sys
import threading
import time
import unittest

from orbitkv import Category, Code, Failed, Loading, OrbitClient, Pong, Published, Ready, Refused, Restored, RestoreGroup
from tests.contract_support import LAUNCHER, NO_LAUNCHER, SLICE_BYTES, Daemon, Engine, keys_of

LONG = os.environ.get("ORBITKV_LONG", "") == "true"
KILLS = 30 if LONG else 1
BLOCKS_PER_WORKER = 16
WORKERS = 3


class Worker(threading.Thread):
    """Publishes blocks of its own, queries them, restores them to other pages and compares, until told to stop."""

    def __init__(self, engine: Engine, publisher: OrbitClient, index: int, seed: int) -> None:
        super().__init__(name=f"worker {index}")
        self._engine = engine
        self._publisher = publisher
        self._first = index * BLOCKS_PER_WORKER
        self._rng = random.Random(f"{seed}/{index}")
        self.stopping = False
        self.restored = 0
        self.refused: dict[str, int] = {}
        self.wrong: list[str] = []

    def run(self) -> None:
        try:
            while not self.stopping:
                self._round()
        except Exception as e:
            self.wrong.append(f"{self.name}: {type(e).__name__}: {e}")

    def _note(self, answer: object) -> None:
        """An answer that is not success: it must be one that a dying Manager explains."""
        if isinstance(answer, Refused) and answer.category in (Category.STALE, Category.UNAVAILABLE):
            self.refused[answer.name] = self.refused.get(answer.name, 0) + 1
            if answer.code == Code.DISCONNECTED:
                time.sleep(0.005)
            if answer.code == Code.DEADLINE:
                self.wrong.append(f"{self.name}: {answer}")
        else:
            self.wrong.append(f"{self.name}: {answer}")

    def _round(self) -> None:
        count = self._rng.randint(1, BLOCKS_PER_WORKER // 2)
        name = f"{self._rng.getrandbits(64):x}"
        keys = keys_of(name, count)
        sources = range(self._first, self._first + count)
        targets = range(self._first + BLOCKS_PER_WORKER // 2, self._first + BLOCKS_PER_WORKER // 2 + count)
        written = self._engine.fill(sources, name)
        published = self._publisher.publish(0, keys, sources, request=name, timeout_seconds=20)
        if not isinstance(published, Published):
            self._note(published)
            return
        answer = self._engine.client.query(0, {0: keys}, request=name, timeout_seconds=20)
        if not isinstance(answer, Ready):
            if not isinstance(answer, Failed | Refused | Loading):
                # A Manager that has restarted in between has none of the blocks.
                return
            self._note(answer)
            return
        for block in targets:
            self._engine.write(block, bytes(SLICE_BYTES))
        restored = self._engine.client.restore(
            answer.lease,
            [RestoreGroup(0, 0, targets)],
            request=name,
            release=True,
            timeout_seconds=20,
        )
        if not isinstance(restored, Restored):
            self._note(restored)
        elif [self._engine.read(block) for block in targets] != written:
            self.wrong.append(f"{self.name}: request {name} restored other bytes than it published")
        else:
            self.restored += 1


@unittest.skipUnless(LAUNCHER, NO_LAUNCHER)
class RestartTest(unittest.TestCase):
    def test_nothing_is_wrong_or_left_when_the_manager_is_killed_under_load(self) -> None:
        seed = int(os.environ.get("ORBITKV_SEED", "0")) or random.SystemRandom().getrandbits(32)
        rng = random.Random(seed)
        repeat = f"repeat with: ORBITKV_SEED={seed} python3 -m unittest tests.test_restarts"
        if not LONG:
            note = f"shortened: {KILLS} kill instead of 30; ./orbitkv test adapters --long has them all"
            print(note, file=sys.stderr, flush=True)
        daemon = Daemon()
        self.addCleanup(daemon.stop)
        daemon.start()
        engine = Engine(daemon.socket_path, "restarts", "restarts/v1")
        self.addCleanup(engine.close)
        save = engine.client.attach_save()
        self.addCleanup(save.close)
        descriptors = len(os.listdir("/proc/self/fd"))
        workers = [Worker(engine, save, index, seed) for index in range(WORKERS)]
        for worker in workers:
            worker.start()
        try:
            for _ in range(KILLS):
                time.sleep(rng.uniform(0.1, 0.4))
                session_ids = engine.client.session_id, save.session_id
                daemon.kill()
                daemon.start()
                for client, session_id in zip((engine.client, save), session_ids, strict=True):
                    self.assertTrue(client.wait_connected(3, session_id), repeat)
            time.sleep(0.2)
        finally:
            for worker in workers:
                worker.stopping = True
            for worker in workers:
                worker.join(60)
        self.assertEqual([], [wrong for worker in workers for wrong in worker.wrong], repeat)
        for worker in workers:
            self.assertGreater(worker.restored, 0, repeat)
        for client in (engine.client, save):
            self.assertIsInstance(client.ping(), Pong)
            self.assertEqual(0, client.outstanding, repeat)
        self.assertEqual(descriptors, len(os.listdir("/proc/self/fd")), repeat)


if __name__ == "__main__":
    unittest.main()
