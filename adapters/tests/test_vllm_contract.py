"""The connector against what vLLM promises to call: signatures of several versions, and what one step must do."""

from __future__ import annotations

import inspect
import os
import pickle
import types
import unittest
import unittest.mock
from typing import Any

from orbitkv import ManagerUnavailable
from orbitkv.settings import BadSetting
from tests import vllm_stub
from tests.vllm_stub import CacheGroup, FullAttentionSpec, KVCacheConfig, KVConnectorRole, MambaSpec, SlidingWindowSpec

NOWHERE = "/nonexistent/orbitkv.sock"


def config(**extra: object) -> Any:
    return vllm_stub.vllm_config(engine_id="contract", extra={"socket": NOWHERE, **extra})


def cache(*specs: object) -> KVCacheConfig:
    return KVCacheConfig(16, [CacheGroup([f"model.layers.{index}.attn"], spec) for index, spec in enumerate(specs)])


class SignatureTest(unittest.TestCase):
    def test_every_version_s_methods_can_be_called_as_it_calls_them(self) -> None:
        for version in vllm_stub.VERSIONS:
            with vllm_stub.installed(version) as module:
                connector = module.OrbitKVConnector
                self.assertEqual(frozenset(), connector.__abstractmethods__, version)
                bases = (vllm_stub.BASES[version], vllm_stub.SupportsHMA)
                names = {name for base in bases for name in dir(base) if not name.startswith("_")}
                self.assertIn("start_load_kv", names)
                for name in sorted(names):
                    with self.subTest(version=version, method=name):
                        self._assert_accepts(next(b for b in bases if hasattr(b, name)), connector, name)

    def _assert_accepts(self, base: type, connector: type, name: str) -> None:
        declared, ours = inspect.getattr_static(base, name), inspect.getattr_static(connector, name)
        for kind in (property, classmethod):
            self.assertEqual(isinstance(declared, kind), isinstance(ours, kind))
        if isinstance(declared, property):
            return
        wanted = inspect.signature(getattr(base, name))
        offered = inspect.signature(getattr(connector, name))
        given = [p for p in wanted.parameters.values() if p.kind is not p.VAR_KEYWORD]
        offered.bind(*[object() for _ in given])
        for parameter in given:
            # Also by name, but where a version has another name for it.
            if parameter.name not in ("self", "preempted_req_ids"):
                self.assertIn(parameter.name, offered.parameters)

    def test_the_constructor_takes_the_keyword(self) -> None:
        with vllm_stub.installed("a") as module:
            parameters = list(inspect.signature(module.OrbitKVConnector.__init__).parameters)
            self.assertEqual(["self", "vllm_config", "role", "kv_cache_config"], parameters)

    def test_the_class_supports_the_hybrid_allocator(self) -> None:
        with vllm_stub.installed("a") as module:
            self.assertTrue(issubclass(module.OrbitKVConnector, vllm_stub.SupportsHMA))

    def test_layer_hooks_are_asked_for_only_when_layers_load_under_the_forward_pass(self) -> None:
        with vllm_stub.installed("a") as module:
            asks = module.OrbitKVConnector.requires_piecewise_for_cudagraph
            self.assertEqual((False, False, True), (asks({}), asks({"load_mode": "async"}), asks({"load_mode": "layerwise"})))

    def test_stats_add_up(self) -> None:
        with vllm_stub.installed("a") as module:
            stats = module.OrbitKVConnector.build_kv_connector_stats({"saved_blocks": 2})
            stats.aggregate(module.OrbitKVConnector.build_kv_connector_stats({"saved_blocks": 3, "saved_bytes": 5}))
            self.assertEqual({"saved_blocks": 5, "saved_bytes": 5}, stats.reduce())
            self.assertFalse(stats.is_empty())
            stats.reset()
            self.assertTrue(stats.is_empty())


class PluginTest(unittest.TestCase):
    def test_the_plugin_registers_the_connector_once(self) -> None:
        from orbitkv.vllm import plugin

        with vllm_stub.installed("a") as module:
            plugin.register()
            plugin.register()
            import sys

            factory = sys.modules["vllm.distributed.kv_transfer.kv_connector.factory"].KVConnectorFactory
            self.assertEqual({"OrbitKVConnector": (module.__name__, "OrbitKVConnector")}, factory.registered)
            self.assertTrue(hasattr(module, "OrbitKVConnector"))


class StartTest(unittest.TestCase):
    """A start that cannot work fails at once and says what to do."""

    def assert_start_fails(self, kind: type[Exception], words: str, vllm_config: Any, kv_cache_config: Any) -> None:
        with vllm_stub.installed("b") as module, self.assertRaisesRegex(kind, words):
            module.OrbitKVConnector(vllm_config, KVConnectorRole.WORKER, kv_cache_config=kv_cache_config)

    def setUp(self) -> None:
        hashes = unittest.mock.patch.dict(os.environ, {"PYTHONHASHSEED": "0"})
        hashes.start()
        self.addCleanup(hashes.stop)

    def test_without_a_manager(self) -> None:
        words = f"no OrbitKV Manager socket at {NOWHERE}.*start `orbitkv manager"
        self.assert_start_fails(ManagerUnavailable, words, config(), cache(FullAttentionSpec(16)))
        with vllm_stub.installed("b") as module, self.assertRaises(ManagerUnavailable):
            module.OrbitKVConnector(config(), KVConnectorRole.SCHEDULER, kv_cache_config=cache(FullAttentionSpec(16)))

    def test_with_a_setting_that_is_not_known(self) -> None:
        self.assert_start_fails(BadSetting, "no setting 'sokket'", config(sokket="x"), cache(FullAttentionSpec(16)))
        self.assert_start_fails(BadSetting, "load_mode", config(load_mode="fast"), cache(FullAttentionSpec(16)))
        self.assert_start_fails(BadSetting, "lookup_timeout_ms", config(lookup_timeout_ms=0), cache(FullAttentionSpec(16)))

    def test_with_a_kind_of_state_without_a_rule(self) -> None:
        self.assert_start_fails(BadSetting, "kind object", config(), cache(object()))
        self.assert_start_fails(BadSetting, "--mamba-cache-mode align", config(), cache(MambaSpec(16, "none")))
        self.assert_start_fails(BadSetting, "no KV cache groups", config(), cache())

    def test_with_ranks_on_several_hosts(self) -> None:
        far = config()
        far.parallel_config.nnodes = 2
        self.assert_start_fails(BadSetting, "several hosts", far, cache(FullAttentionSpec(16)))

    def test_without_the_cache_s_configuration(self) -> None:
        with vllm_stub.installed("a") as module, self.assertRaisesRegex(BadSetting, "too old"):
            module.OrbitKVConnector(config(), KVConnectorRole.WORKER)


class ShapeTest(unittest.TestCase):
    def test_rules_and_pages_by_kind(self) -> None:
        from orbitkv.settings import Settings
        from orbitkv.vllm.engine import shape_of

        class NewAttentionSpec(FullAttentionSpec):
            """A kind that is not known by its own name."""

        specs = cache(NewAttentionSpec(16), SlidingWindowSpec(16, 100), MambaSpec(64), vllm_stub.MLAAttentionSpec(32))
        shape = shape_of(vllm_stub.vllm_config(engine_id="e", extra={}, tensor_parallel=2, rank=1), specs, Settings())
        found = [(g.component, g.rule, g.page_tokens, g.window_tokens, g.replicated) for g in shape.groups]
        expected = [
            ("ATTENTION_KV", "PREFIX", 16, None, False),
            ("SWA", "WINDOW", 16, 99, False),
            ("RECURRENT", "CHECKPOINT", 64, None, False),
            ("MLA", "PREFIX", 32, None, True),
        ]
        self.assertEqual(expected, found)
        self.assertEqual((16, 64, 1, 2), (shape.hash_tokens, shape.alignment, shape.tensor_rank, shape.ranks))

    def test_what_goes_between_processes_can_be_pickled(self) -> None:
        from orbitkv.vllm.messages import LoadPlan, Report, SavePlan, StageLease, Step

        step = Step(
            [LoadPlan("r", {0: StageLease(1, 2, 3, 4, ((0, 0, (1, 2)),))}, frozenset({1, 2}), True)],
            [SavePlan(1, "r", 0, (b"k",), (3,))],
            frozenset({4}),
        )
        with vllm_stub.installed("a") as module:
            metadata = pickle.loads(pickle.dumps(module.OrbitKVMetadata(step)))
            self.assertEqual(step, metadata.step)
            report = module.OrbitKVWorkerMetadata(Report(restored={"r": 1}))
            both = report.aggregate(module.OrbitKVWorkerMetadata(Report(restored={"r": 1}, failed={"s": 1})))
            self.assertEqual(({"r": 2}, {"s": 1}), (both.report.restored, both.report.failed))

    def test_resumed_requests_are_known_in_old_and_new_words(self) -> None:
        from orbitkv.vllm.engine import resumed_ids

        old: Any = types.SimpleNamespace(req_ids=["a", "b"], resumed_from_preemption=[False, True])
        new: Any = types.SimpleNamespace(req_ids=["a", "b"], resumed_req_ids={"b"})
        self.assertEqual([{"b"}, {"b"}], [resumed_ids(old), resumed_ids(new)])


if __name__ == "__main__":
    unittest.main()
