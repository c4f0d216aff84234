"""The entry point `sglang.srt.plugins`: the radix-cache backend `orbitkv`, and the hook that keeps a request queued while
its lookup has no answer.

SGLang logs what a plug-in raises and goes on without it. So nothing is left to that: where the registration failed, the
backend's name is unknown and SGLang refuses to start with it; where the hook was not applied, the backend refuses itself.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from orbitkv.settings import BadSetting

BACKEND = "orbitkv"
HOOKED = "sglang.srt.managers.schedule_policy.PrefillAdder.add_one_req"


class _Probe:
    """Stands for a PrefillAdder to see whether the hook is there."""


_PROBE = _Probe()
_PROBED = "the hook of OrbitKV"


def add_one_req(original: Callable[..., Any], adder: Any, req: Any, *args: Any, **kwargs: Any) -> Any:
    """Around PrefillAdder.add_one_req: a request whose lookup is pending on any rank stays in the queue, others go on."""
    if adder is _PROBE:
        return _PROBED
    linker = getattr(getattr(getattr(adder, "tree_cache", None), "linker", None), "cache_linker", None)
    take_pending = getattr(linker, "take_pending", None)
    if callable(take_pending) and take_pending(req.rid):
        return importlib.import_module("sglang.srt.managers.schedule_policy").AddReqResult.CONTINUE
    return original(adder, req, *args, **kwargs)


def register() -> None:
    registry = importlib.import_module("sglang.srt.mem_cache.registry")
    hooks = importlib.import_module("sglang.srt.plugins.hook_registry")
    hooks.HookRegistry.register(HOOKED, add_one_req, hooks.HookType.AROUND)
    registry.register_radix_cache_backend(BACKEND, build_cache)


def build_cache(ctx: Any) -> Any:
    """Makes SGLang's unified tree with OrbitKV behind it. Raises where that would not work as configured."""
    if getattr(ctx.server_args, "enable_unified_cache_external_linker", None) is False:
        raise BadSetting(
            "--radix-cache-backend orbitkv needs --enable-unified-cache-external-linker: without it SGLang's scheduler "
            "neither starts loads nor takes in what has completed"
        )
    adder = importlib.import_module("sglang.srt.managers.schedule_policy").PrefillAdder
    if not hasattr(adder.add_one_req, "__wrapped__") or adder.add_one_req(_PROBE, None) != _PROBED:
        raise BadSetting(f"OrbitKV's hook on {HOOKED} was not applied: see SGLang's log of its plug-ins")
    components = importlib.import_module("sglang.srt.mem_cache.unified_cache.components").ComponentType
    chosen = [components.FULL]
    if ctx.is_hybrid_swa:
        chosen.append(components.SWA)
    if ctx.is_hybrid_ssm:
        chosen.append(components.MAMBA)
    ctx.params.tree_components = tuple(chosen)
    cache = importlib.import_module("sglang.srt.mem_cache.unified_radix_cache").UnifiedRadixCache(ctx.params)
    linker_class = importlib.import_module("orbitkv.sglang.linker").OrbitKVLinker
    ranks = CacheRanks(cache) if int(ctx.tp_size) > 1 else None
    linker = linker_class(ctx.server_args, ctx.params, components=set(chosen), ranks=ranks, tp_rank=int(ctx.tp_rank))
    try:
        cache.init_cache_linker(linker)
        kvcache = ctx.params.token_to_kv_pool_allocator.get_kvcache()
        kvcache.register_layer_transfer_counter(linker.layer_done_counter)
        ctx.tp_worker.register_hicache_layer_transfer_counter(linker.layer_done_counter)
    except BaseException:
        linker.close()
        raise
    return cache


class CacheRanks:
    """Agreement by the reductions that SGLang's tree itself makes among the ranks of a request."""

    def __init__(self, cache: Any) -> None:
        self._cache = cache
        self._torch: Any = importlib.import_module("torch")

    def _reduce(self, value: int, operation: Any) -> int:
        tensor = self._torch.tensor([value], dtype=self._torch.int)
        self._cache._all_reduce_attn_groups(tensor, operation)
        return int(tensor.item())

    def lowest(self, value: int) -> int:
        return self._reduce(value, self._torch.distributed.ReduceOp.MIN)

    def highest(self, value: int) -> int:
        return self._reduce(value, self._torch.distributed.ReduceOp.MAX)
