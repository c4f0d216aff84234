"""The SGLang adapter: signatures, registration, and linkers against a real Manager. Needs ORBITKV_LAUNCHER for the last."""

from __future__ import annotations

import dataclasses
import hashlib
import inspect
import json
import logging
import os
import random
import threading
import time
import types
import unittest
import unittest.mock
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

from orbitkv import Lease, ManagerUnavailable
from orbitkv.settings import BadSetting
from orbitkv.sglang import plugin
from orbitkv.sglang.core import LinkerLoadError
from orbitkv.sglang.layout import key_bytes, pages_of
from tests import sglang_stub
from tests.contract_support import LAUNCHER, NO_LAUNCHER, Daemon
from tests.sglang_stub import AddReqResult, ComponentType, PoolName, PoolTransfer
from tests.tensors import ON_GPU, FakeTensor, Memory

PAGE = 4
PAGES = 24
LAYERS = 3
WINDOW = 6
"""Tokens of a sliding window: two pages."""
FULL, SWA, MAMBA = ComponentType.FULL, ComponentType.SWA, ComponentType.MAMBA


def keys_of(name: str, count: int) -> list[str]:
    return [hashlib.sha256(f"{name}/{page}".encode()).hexdigest() for page in range(count)]


def indices_of(pages: Sequence[int]) -> list[int]:
    return [page * PAGE + token for page in pages for token in range(PAGE)]


class Pools:
    """SGLang's device pools of one rank, in memory that the Manager can share or in other memory."""

    def __init__(self, components: set[ComponentType], shared: bool = True) -> None:
        self.memory = Memory(1 << 19, shared, ON_GPU)
        rows = PAGES * PAGE
        self.tensors: dict[str, list[FakeTensor]] = {}
        self.full = self._attention("kv", rows + PAGE)
        self.kvcache: Any = self.full
        self.requests: Any = types.SimpleNamespace()
        if SWA in components:
            mapping = {0: (0, False), 1: (0, True), 2: (1, False), 3: (1, True), 4: (2, False), 5: (2, True)}
            self.kvcache = types.SimpleNamespace(
                full_kv_pool=self.full, swa_kv_pool=self._attention("swa", rows), layers_mapping=mapping
            )
        if MAMBA in components:
            conv = self.memory.tensor((2, PAGES, 3, 8))
            temporal = self.memory.tensor((2, PAGES, 2, 16))
            self.tensors["mamba"] = [conv, temporal]
            cache = types.SimpleNamespace(conv=[conv], temporal=temporal)
            self.requests = types.SimpleNamespace(mamba_pool=types.SimpleNamespace(mamba_cache=cache))
        self.kvcache.register_layer_transfer_counter = lambda counter: setattr(self, "counter", counter)  # type: ignore[reportUnknownLambdaType]
        self.counter: Any = None

    def _attention(self, name: str, rows: int) -> Any:
        parts = [[self.memory.tensor((rows, 2, 8)) for _ in range(LAYERS)] for _ in range(2)]
        self.tensors[name] = [tensor for part in parts for tensor in part]
        return types.SimpleNamespace(k_buffer=parts[0], v_buffer=parts[1])

    def _access(self, pool: str, page: int, data: bytes | None) -> bytes:
        """Reads a page of a pool, or writes it."""
        read: list[bytes] = []
        for tensor in self.tensors[pool]:
            dim, rows = (1, [page]) if pool == "mamba" else (0, list(range(page * PAGE, (page + 1) * PAGE)))
            for row in rows:
                if data is not None:
                    size = tensor.page_bytes(dim)
                    tensor.write(dim, row, data[:size])
                    data = data[size:]
                read.append(tensor.read(dim, row))
        return b"".join(read)

    def read(self, pool: str, page: int) -> bytes:
        return self._access(pool, page, None)

    def fill(self, pool: str, page: int, seed: str) -> bytes:
        """Writes a page's bytes as they must be, and returns them."""
        data = random.Random(f"{pool}/{seed}").randbytes(len(self.read(pool, page)))
        self._access(pool, page, data)
        return data

    @staticmethod
    def expected(pool: str, seed: str, size: int) -> bytes:
        return random.Random(f"{pool}/{seed}").randbytes(size)


class ThreadRanks:
    """Ranks as threads: each gives its number, and each gets the reduction."""

    def __init__(self, count: int) -> None:
        self._values: list[int] = []
        self._result: list[int] = []
        self._lock = threading.Lock()
        self._barrier = threading.Barrier(count)

    def _reduce(self, value: int, reduction: Callable[[list[int]], int]) -> int:
        with self._lock:
            self._values.append(value)
        if self._barrier.wait(20) == 0:
            self._result = [reduction(self._values)]
            self._values = []
        self._barrier.wait(20)
        result = self._result[0]
        self._barrier.wait(20)
        return result

    def lowest(self, value: int) -> int:
        return self._reduce(value, min)

    def highest(self, value: int) -> int:
        return self._reduce(value, max)


class InterfaceTest(unittest.TestCase):
    def test_methods_can_be_called_as_sglang_calls_them(self) -> None:
        with sglang_stub.installed() as sglang:
            pairs = [
                (sglang_stub.UnifiedCacheLinker, sglang.linker.OrbitKVLinker),
                (sglang_stub.HiCacheStorage, sglang.hicache.OrbitKVHiCache),
            ]
            for base, ours in pairs:
                self.assertEqual(frozenset(), ours.__abstractmethods__)
                for name in [name for name in vars(base) if not name.startswith("_")]:
                    with self.subTest(base=base.__name__, method=name):
                        wanted = list(inspect.signature(getattr(base, name)).parameters)
                        offered = inspect.signature(getattr(ours, name))
                        self.assertEqual(wanted, list(offered.parameters)[: len(wanted)])
                        offered.bind(*[object() for _ in wanted])

    def test_indices_are_whole_aligned_pages(self) -> None:
        self.assertEqual([3, 0], pages_of(indices_of([3, 0]), PAGE))
        self.assertEqual([5, 2], pages_of([5, 2], 1))
        for bad in ([1, 2, 3, 4], [0, 1, 2], [0, 1, 3, 2]):
            self.assertIsNone(pages_of(bad, PAGE))

    def test_keys_are_taken_as_they_are(self) -> None:
        self.assertEqual(bytes(range(32)), key_bytes(bytes(range(32)).hex()))
        self.assertEqual(b"page-1", key_bytes("page-1"))
        self.assertRaises(ValueError, key_bytes, "x" * 65)


class PluginTest(unittest.TestCase):
    def test_a_pending_request_stays_in_the_queue_and_others_go_on(self) -> None:
        with sglang_stub.installed() as sglang:
            plugin.register()
            self.assertEqual([plugin.BACKEND], list(sglang.backends))
            sglang.hooks.apply_hooks()
            pending = {"a"}

            def take_pending(rid: str) -> bool:
                return rid in pending and not pending.discard(rid)

            linker = types.SimpleNamespace(take_pending=take_pending)
            tree = types.SimpleNamespace(linker=types.SimpleNamespace(cache_linker=linker))
            adder = sglang.adder(tree)
            requests = [types.SimpleNamespace(rid=rid) for rid in "ab"]
            results = [adder.add_one_req(request, False, truncation_align_size=None) for request in requests]
            self.assertEqual(([AddReqResult.CONTINUE] * 2, requests[1:]), (results, adder.can_run_list))
            adder.add_one_req(requests[0])
            self.assertEqual(requests[::-1], adder.can_run_list)

    def test_other_trees_are_left_alone(self) -> None:
        with sglang_stub.installed() as sglang:
            plugin.register()
            sglang.hooks.apply_hooks()
            adder = sglang.adder(types.SimpleNamespace())
            adder.add_one_req(types.SimpleNamespace(rid="a"))
            self.assertEqual(1, len(adder.can_run_list))

    def test_a_start_that_cannot_work_fails(self) -> None:
        with sglang_stub.installed() as sglang:
            plugin.register()
            context = types.SimpleNamespace(server_args=types.SimpleNamespace(enable_unified_cache_external_linker=False))
            with self.assertRaisesRegex(BadSetting, "--enable-unified-cache-external-linker"):
                sglang.backends["orbitkv"](context)
            context.server_args.enable_unified_cache_external_linker = True
            with self.assertRaisesRegex(BadSetting, "was not applied"):
                sglang.backends["orbitkv"](context)
            make = sglang.linker.OrbitKVLinker
            for text, kind, words in (
                ("[]", BadSetting, "one JSON object"),
                ('{"sokket": "x"}', BadSetting, "no setting 'sokket'"),
                ('{"socket": "/nonexistent/socket"}', ManagerUnavailable, "start `orbitkv manager"),
            ):
                with (
                    unittest.mock.patch.dict(os.environ, {"ORBITKV_SGLANG": text}),
                    self.assertRaisesRegex(kind, words),
                ):
                    make(types.SimpleNamespace(), types.SimpleNamespace(), components={FULL})


def setUpModule() -> None:
    ManagerCase.daemon = Daemon()
    unittest.addModuleCleanup(ManagerCase.daemon.stop)
    # Failures are part of the plan.
    logging.getLogger("orbitkv").setLevel(logging.CRITICAL)
    unittest.addModuleCleanup(logging.getLogger("orbitkv").setLevel, logging.NOTSET)


class ManagerCase(unittest.TestCase):
    """A test with the module's Manager, which is started again where the test before has killed it."""

    daemon: ClassVar[Daemon]

    def setUp(self) -> None:
        if not self.daemon.running:
            self.daemon.start()
        installed = sglang_stub.installed()
        self.sglang = installed.__enter__()
        self.addCleanup(installed.__exit__, None, None, None)

    @property
    def name(self) -> str:
        return self._testMethodName

    def linker(
        self,
        components: set[ComponentType],
        *,
        rank: int = 0,
        ranks: ThreadRanks | None = None,
        tp_size: int = 1,
        shared: bool = True,
        instance: str = "",
        **settings: object,
    ) -> tuple[Any, Pools]:
        pools = Pools(components, shared)
        params = types.SimpleNamespace(
            page_size=PAGE,
            sliding_window_size=WINDOW,
            token_to_kv_pool_allocator=types.SimpleNamespace(get_kvcache=lambda: pools.kvcache),
            req_to_token_pool=pools.requests,
        )
        args = types.SimpleNamespace(model_path=self.name, tp_size=tp_size, port=30000)
        extra = {"socket": self.daemon.socket_path, "instance": instance, **settings}
        linker = self.sglang.linker.OrbitKVLinker(
            args, params, components=components, extra_config=extra, ranks=ranks, tp_rank=rank
        )
        self.addCleanup(pools.memory.close)
        self.addCleanup(linker.close)
        return linker, pools

    def transfers(
        self, components: set[ComponentType], keys: list[str], pages: Sequence[int] | None, window_pages: int = 2
    ) -> list[PoolTransfer]:
        """What the tree asks for: every page of the whole prefix, the last ones of a window, the last state."""
        found = [PoolTransfer(PoolName.KV, None, indices_of(pages) if pages is not None else None, keys)]
        if SWA in components:
            tail = pages[-window_pages:] if pages is not None else None
            indices = indices_of(tail) if tail is not None else None
            found.append(PoolTransfer(PoolName.SWA, None, indices, keys[-window_pages:]))
        if MAMBA in components:
            found.append(PoolTransfer(PoolName.MAMBA, None, pages[-1:] if pages is not None else None, keys[-1:]))
        return found

    def offload(self, linker: Any, pools: Pools, components: set[ComponentType], name: str, keys: list[str], pages: Sequence[int]) -> None:
        """Saves a node: all its pages of attention, the last of its state."""
        transfers = [PoolTransfer(PoolName.KV, None, indices_of(pages), keys)]
        if SWA in components:
            transfers.append(PoolTransfer(PoolName.SWA, None, indices_of(pages), keys))
        if MAMBA in components:
            transfers.append(PoolTransfer(PoolName.MAMBA, None, pages[-1:], keys[-1:]))
        for transfer in transfers:
            pool = str(transfer.name)
            for key in transfer.keys or ():
                pools.fill(pool, pages[keys.index(key)], f"{name}/{key}")
        self.assertTrue(linker.offload(transfers))
        self.await_true(lambda: linker.num_completed_offloads() == 1)
        self.assertTrue(linker.pop_completed_offload())

    def lookup(self, linker: Any, rid: str, transfers: list[PoolTransfer]) -> list[int]:
        """Asks as the scheduler does: again as long as the answer is pending."""
        deadline = time.monotonic() + 10
        while True:
            found = linker.lookup(rid, transfers)
            if not linker.take_pending(rid):
                return found
            if time.monotonic() > deadline:
                self.fail("the lookup has no answer")

    def load(self, linker: Any, rid: str, transfers: list[PoolTransfer], layers: int) -> None:
        self.assertTrue(linker.load(rid, transfers))
        index = linker.start_layer_wise_loading()
        self.assertGreaterEqual(index, 0)
        linker.layer_done_counter.set_consumer(index)
        for layer in range(layers):
            linker.layer_done_counter.wait_until(layer)

    def await_true(self, condition: Callable[[], bool]) -> None:
        deadline = time.monotonic() + 10
        while not condition():
            if time.monotonic() > deadline:
                self.fail("it did not come true")
            time.sleep(0.001)


@unittest.skipUnless(LAUNCHER, NO_LAUNCHER)
class LinkerTest(ManagerCase):
    def test_every_combination_of_components_comes_back_byte_for_byte(self) -> None:
        for components in ({FULL}, {FULL, SWA}, {FULL, MAMBA}, {FULL, SWA, MAMBA}):
            for shared in (True, False):
                with self.subTest(sorted(components), shared=shared):
                    name = f"{sorted(components)}{shared}"
                    linker, pools = self.linker(components, shared=shared)
                    keys = keys_of(name, 5)
                    self.offload(linker, pools, components, name, keys, [1, 2, 3, 4, 5])
                    self.assertEqual([5], self.lookup(linker, "r", self.transfers(components, keys, None)))
                    targets = [20, 9, 10, 12, 11]
                    self.load(linker, "r", self.transfers(components, keys, targets), 2 * LAYERS)
                    for transfer in self.transfers(components, keys, targets):
                        pool = str(transfer.name)
                        for key in transfer.keys or ():
                            got = pools.read(pool, targets[keys.index(key)])
                            self.assertEqual(Pools.expected(pool, f"{name}/{key}", len(got)), got)
                    self.await_true(lambda linker=linker: linker.num_completed_loads() == 1)
                    self.assertEqual(["r"], linker.pop_completed_load())
                    linker.close()

    def test_the_manager_says_which_boundaries_the_kinds_of_state_allow(self) -> None:
        """Recurrent state is there at the ends of nodes only, so these are the only boundaries."""
        components = {FULL, MAMBA}
        linker, pools = self.linker(components)
        keys = keys_of(self.name, 6)
        self.offload(linker, pools, components, self.name, keys[:2], [1, 2])
        self.offload(linker, pools, components, self.name, keys[2:5], [3, 4, 5])
        for asked, found in ((6, [5]), (5, [5]), (4, [2]), (2, [2]), (1, [])):
            self.assertEqual(found, self.lookup(linker, f"r{asked}", self.transfers(components, keys[:asked], None)))

    def test_loads_complete_in_order_and_offloads_too(self) -> None:
        linker, pools = self.linker({FULL})
        keys = keys_of(self.name, 3)
        self.offload(linker, pools, {FULL}, self.name, keys, [1, 2, 3])
        for rid, target in (("a", 7), ("b", 11), ("c", 15)):
            transfers = self.transfers({FULL}, keys, [target, target + 1, target + 2])
            self.assertEqual([3], self.lookup(linker, rid, transfers))
            linker.load(rid, transfers)
            if rid != "a":
                self.assertGreaterEqual(linker.start_layer_wise_loading(), 0)
        self.assertEqual(-1, linker.start_layer_wise_loading())
        self.await_true(lambda: linker.num_completed_loads() == 2)
        self.assertEqual([["a", "b"], ["c"]], [linker.pop_completed_load() for _ in range(2)])
        nodes = [keys_of(f"{self.name}{node}", 1) for node in range(4)]
        for node in nodes:
            self.assertTrue(linker.offload([PoolTransfer(PoolName.KV, None, indices_of([1]), node)]))
        self.await_true(lambda: linker.num_completed_offloads() == 4)
        self.assertEqual([True] * 4, [linker.pop_completed_offload() for _ in range(4)])

    def test_only_pages_that_the_tree_lacks_are_loaded(self) -> None:
        linker, pools = self.linker({FULL})
        keys = keys_of(self.name, 5)
        self.offload(linker, pools, {FULL}, self.name, keys, [1, 2, 3, 4, 5])
        self.assertEqual([5], self.lookup(linker, "r", self.transfers({FULL}, keys, None)))
        chosen, targets = [keys[0], keys[3], keys[4]], [8, 9, 10]
        before = pools.read("kv", 11)
        self.load(linker, "r", self.transfers({FULL}, chosen, targets), LAYERS)
        for key, page in zip(chosen, targets, strict=True):
            got = pools.read("kv", page)
            self.assertEqual(Pools.expected("kv", f"{self.name}/{key}", len(got)), got)
        self.assertEqual(before, pools.read("kv", 11))

    def test_a_load_that_has_not_begun_can_be_cancelled(self) -> None:
        linker, pools = self.linker({FULL})
        keys = keys_of(self.name, 2)
        self.offload(linker, pools, {FULL}, self.name, keys, [1, 2])
        transfers = self.transfers({FULL}, keys, [8, 9])
        self.lookup(linker, "r", transfers)
        linker.load("r", transfers)
        self.assertTrue(linker.cancel_queued_load("r"))
        self.assertFalse(linker.cancel_queued_load("r"))
        self.assertEqual(-1, linker.start_layer_wise_loading())

    def test_a_load_without_a_lease_raises_where_it_is_waited_for(self) -> None:
        linker, _ = self.linker({FULL})
        transfers = self.transfers({FULL}, keys_of(self.name, 2), [8, 9])
        self.assertTrue(linker.load("r", transfers))
        linker.layer_done_counter.set_consumer(linker.start_layer_wise_loading())
        self.assertRaises(LinkerLoadError, linker.layer_done_counter.wait_until, 0)
        self.assertEqual(1, linker.num_completed_loads())
        self.assertEqual(["r"], linker.pop_completed_load())

    def test_a_request_waits_for_blocks_that_are_on_their_way_but_not_for_ever(self) -> None:
        """Two ranks; one has published and the other has not, so that the block is not sealed."""
        ranks = ThreadRanks(2)
        parts: list[tuple[Any, Pools]] = []

        def start(rank: int) -> None:
            timeout: dict[str, Any] = {"lookup_timeout_ms": 300, "lookup_inline_ms": 1}
            parts.append(self.linker({FULL}, rank=rank, ranks=ranks, tp_size=2, instance=self.name, **timeout))

        self._on_ranks([lambda: start(0), lambda: start(1)])
        keys = keys_of(self.name, 2)
        self.offload(*parts[0], {FULL}, self.name, keys, [1, 2])
        transfers = self.transfers({FULL}, keys, None)
        answers: list[tuple[list[int], bool]] = []

        def ask(linker: Any) -> None:
            rounds = [(linker.lookup("r", transfers), linker.take_pending("r"))]
            while rounds[-1][1]:
                rounds.append((linker.lookup("r", transfers), linker.take_pending("r")))
            answers.append((rounds[-1][0], len(rounds) > 1))

        started = time.monotonic()
        self._on_ranks([lambda linker=linker: ask(linker) for linker, _ in parts])
        self.assertEqual([([], True)] * 2, answers)
        self.assertLess(time.monotonic() - started, 5)
        self.offload(*parts[1], {FULL}, self.name, keys, [1, 2])
        answers.clear()
        self._on_ranks([lambda linker=linker: ask(linker) for linker, _ in parts])
        self.assertEqual([[2], [2]], [found for found, _ in answers])

    def test_ranks_agree_on_what_all_of_them_hold(self) -> None:
        """Ranks whose blocks differ, as those of two hosts do: each has a Manager's namespace of its own."""
        ranks = ThreadRanks(2)
        parts: list[tuple[Any, Pools]] = []

        def start(rank: int) -> None:
            parts.append(self.linker({FULL}, ranks=ranks, instance=f"{self.name}{rank}", namespace=f"{self.name}{rank}"))

        self._on_ranks([lambda: start(0), lambda: start(1)])
        keys = keys_of(self.name, 6)
        for (linker, pools), count in zip(parts, (6, 3), strict=True):
            self.offload(linker, pools, {FULL}, self.name, keys[:count], list(range(1, count + 1)))
        answers: list[list[int]] = []
        transfers = self.transfers({FULL}, keys, None)
        self._on_ranks([lambda linker=linker: answers.append(self.lookup(linker, "r", transfers)) for linker, _ in parts])
        self.assertEqual([[3], [3]], answers)
        targets = [10, 11, 12]
        loads = self.transfers({FULL}, keys[:3], targets)
        for linker, pools in parts:
            self.load(linker, "r", loads, LAYERS)
            for key, page in zip(keys, targets, strict=False):
                got = pools.read("kv", page)
                self.assertEqual(Pools.expected("kv", f"{self.name}/{key}", len(got)), got)

    def _on_ranks(self, work: list[Callable[[], None]]) -> None:
        failed: list[BaseException] = []

        def run(one: Callable[[], None]) -> None:
            try:
                one()
            except BaseException as e:
                failed.append(e)

        threads = [threading.Thread(target=run, args=(one,)) for one in work]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        self.assertEqual([], failed)

    def test_the_backend_builds_a_tree_with_the_linker_behind_it(self) -> None:
        plugin.register()
        self.sglang.hooks.apply_hooks()
        pools = Pools({FULL, SWA})
        self.addCleanup(pools.memory.close)
        counters: list[Any] = []
        context = types.SimpleNamespace(
            server_args=types.SimpleNamespace(model_path="m", tp_size=1, enable_unified_cache_external_linker=True),
            params=types.SimpleNamespace(
                page_size=PAGE,
                sliding_window_size=WINDOW,
                token_to_kv_pool_allocator=types.SimpleNamespace(get_kvcache=lambda: pools.kvcache),
                req_to_token_pool=None,
            ),
            is_hybrid_swa=True,
            is_hybrid_ssm=False,
            tp_size=1,
            tp_rank=0,
            tp_worker=types.SimpleNamespace(register_hicache_layer_transfer_counter=counters.append),
        )
        with unittest.mock.patch.dict(os.environ, {"ORBITKV_SGLANG": json.dumps({"socket": self.daemon.socket_path})}):
            tree = self.sglang.backends["orbitkv"](context)
        self.addCleanup(tree.linker.cache_linker.close)
        self.assertEqual((FULL, SWA), context.params.tree_components)
        self.assertIs(tree.linker.layer_done_counter, counters[0])
        self.assertIs(tree.linker.layer_done_counter, pools.counter)


@unittest.skipUnless(LAUNCHER, NO_LAUNCHER)
class LinkerRestartTest(ManagerCase):
    def test_random_calls_while_the_manager_is_killed(self) -> None:
        """No wrong byte, every load and offload completes, and the linker serves again afterwards."""
        seed = int(os.environ.get("ORBITKV_SEED", "0")) or random.SystemRandom().getrandbits(32)
        rng = random.Random(seed)
        repeat = f"repeat with: ORBITKV_SEED={seed} python3 -m unittest {self.id()}"
        components = {FULL, SWA, MAMBA}
        linker, pools = self.linker(components)
        restored = failed = offloaded = 0
        for step in range(600 if os.environ.get("ORBITKV_LONG") == "true" else 60):
            if step % 40 == 30:
                self.daemon.kill()
            if step % 40 == 34:
                self.daemon.start()
            name = f"node{rng.randrange(6)}"
            keys = keys_of(name, 4)
            pages = rng.sample(range(1, 12), 4)
            if rng.random() < 0.5:
                nodes = [PoolTransfer(PoolName.KV, None, indices_of(pages), keys)]
                nodes.append(PoolTransfer(PoolName.SWA, None, indices_of(pages), keys))
                nodes.append(PoolTransfer(PoolName.MAMBA, None, pages[-1:], keys[-1:]))
                for transfer in nodes:
                    for key in transfer.keys or ():
                        pools.fill(str(transfer.name), pages[keys.index(key)], f"{name}/{key}")
                self.assertTrue(linker.offload(nodes), repeat)
                self.await_true(lambda: linker.num_completed_offloads() == 1)
                offloaded += linker.pop_completed_offload()
                continue
            rid = f"r{step}"
            if self.lookup(linker, rid, self.transfers(components, keys, None)) != [4]:
                continue
            targets = rng.sample(range(12, PAGES), 4)
            if rng.random() < 0.2:
                known: Any = linker._core._lookups[rid].lookup
                gone = Lease(1 << 40, known.ready[0].lease.epoch, known.ready[0].lease.session_id, 1000)
                known.ready[0] = dataclasses.replace(known.ready[0], lease=gone)
            try:
                self.load(linker, rid, self.transfers(components, keys, targets), 2 * LAYERS)
            except LinkerLoadError:
                failed += 1
            else:
                restored += 1
                for transfer in self.transfers(components, keys, targets):
                    pool = str(transfer.name)
                    for key in transfer.keys or ():
                        got = pools.read(pool, targets[keys.index(key)])
                        self.assertEqual(Pools.expected(pool, f"{name}/{key}", len(got)), got, repeat)
            self.await_true(lambda: linker.num_completed_loads() == 1)
            self.assertEqual([rid], linker.pop_completed_load(), repeat)
        self.assertGreater(restored, 0, repeat)
        self.assertGreater(offloaded, 0, repeat)


@unittest.skipUnless(LAUNCHER, NO_LAUNCHER)
class HiCacheTest(ManagerCase):
    def pool(self) -> Any:
        """A host pool of SGLang's, page first: K and V of a page are two places."""
        memory = Memory(1 << 17, shared=False)
        k, v = (memory.tensor((PAGES * PAGE, LAYERS * 8)) for _ in range(2))

        def meta(indices: Any) -> tuple[list[int], list[int]]:
            rows = indices.tolist()[::PAGE]
            places = [tensor.data_ptr() + row * LAYERS * 8 for row in rows for tensor in (k, v)]
            return places, [PAGE * LAYERS * 8] * len(places)

        return types.SimpleNamespace(
            page_size=PAGE, layout="page_first", dtype="torch.bfloat16", get_page_buffer_meta=meta, k=k, v=v, memory=memory
        )

    def storage(self, **settings: object) -> tuple[Any, Any]:
        config = types.SimpleNamespace(tp_rank=0, tp_size=1, pp_rank=0, pp_size=1, is_mla_model=False, model_name="m")
        extra = {"orbitkv": {"socket": self.daemon.socket_path, "instance": self.name, "namespace": self.name, **settings}}
        storage = self.sglang.hicache.OrbitKVHiCache(config, extra)
        pool = self.pool()
        storage.register_mem_pool_host(pool)
        self.addCleanup(storage.close)
        return storage, pool

    def test_pages_come_back_and_a_hit_ends_at_the_first_miss(self) -> None:
        storage, pool = self.storage()
        keys = keys_of(self.name, 4)
        written = [random.Random(row).randbytes(LAYERS * 8) for row in range(3 * PAGE)]
        for row, data in enumerate(written):
            pool.k.write(0, row, data)
            pool.v.write(0, row, data[::-1])
        self.assertEqual([True] * 3, storage.batch_set_v1(keys[:3], sglang_indices([0, 1, 2])))
        self.assertEqual((3, True, False), (storage.batch_exists(keys), storage.exists(keys[1]), storage.exists(keys[3])))
        self.assertEqual([True, True, True, False], storage.batch_get_v1(keys, sglang_indices([9, 10, 11, 12])))
        self.assertEqual(written, [pool.k.read(0, 9 * PAGE + row) for row in range(3 * PAGE)])
        self.assertEqual([data[::-1] for data in written], [pool.v.read(0, 9 * PAGE + row) for row in range(3 * PAGE)])
        self.assertEqual({"written_pages": 3, "read_pages": 3}, storage.get_stats())

    def test_when_the_manager_is_gone_nothing_raises(self) -> None:
        storage, _ = self.storage()
        keys = keys_of(self.name, 2)
        self.daemon.kill()
        indices = sglang_indices([0, 1])
        results = [
            storage.batch_exists(keys),
            storage.batch_get_v1(keys, indices),
            storage.batch_set_v1(keys, indices),
            storage.get(keys[0]),
            storage.set(keys[0]),
            storage.batch_get_v1(keys, sglang_indices([0])),
            storage.batch_exists(["x" * 99]),
        ]
        self.assertEqual([0, [False] * 2, [False] * 2, None, False, [False] * 2, 0], results)

    def test_a_deployment_must_have_a_name(self) -> None:
        with self.assertRaisesRegex(BadSetting, "instance"):
            self.storage(instance="")


def sglang_indices(pages: Sequence[int]) -> Any:
    """Token indices as SGLang gives them, a tensor."""
    indices = indices_of(pages)
    return types.SimpleNamespace(tolist=lambda: indices)


if __name__ == "__main__":
    unittest.main()
