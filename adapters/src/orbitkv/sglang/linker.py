"""OrbitKVLinker: SGLang's external cache linker. It opens the sessions; `LinkerCore` does the work."""

from __future__ import annotations

import hashlib
import json
import os
import random
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from orbitkv.client import OrbitClient
from orbitkv.pages import open_pages
from orbitkv.registration import Group, ParallelShape, Registration, StateFormat
from orbitkv.settings import BadSetting, Settings, visible_name
from orbitkv.sglang.core import LinkerCore, PoolTransfer, RankGroup, SingleRank
from orbitkv.sglang.layout import pools_of

if TYPE_CHECKING:
    from orbitkv.sglang.upstream import UnifiedCacheLinker
else:
    from sglang.srt.mem_cache.unified_cache.unified_cache_linker import UnifiedCacheLinker

SETTINGS_VARIABLE = "ORBITKV_SGLANG"


def settings_of(extra_config: Mapping[str, object] | None) -> Settings:
    """Settings from the extra configuration, else from the JSON object in ORBITKV_SGLANG."""
    if extra_config:
        return Settings.of(extra_config)
    text = os.environ.get(SETTINGS_VARIABLE, "{}")
    try:
        values = json.loads(text)
    except ValueError as e:
        raise BadSetting(f"{SETTINGS_VARIABLE} is not JSON: {e}") from e
    if not isinstance(values, dict):
        raise BadSetting(f"{SETTINGS_VARIABLE} is one JSON object")
    return Settings.of(cast("dict[str, object]", values))


class OrbitKVLinker(UnifiedCacheLinker):
    def __init__(
        self,
        server_args: Any,
        params: Any,
        *,
        components: Any,
        extra_config: Mapping[str, object] | None = None,
        ranks: RankGroup | None = None,
        tp_rank: int | None = None,
    ) -> None:
        settings = settings_of(extra_config)
        path = settings.require_socket()
        rank = _Rank(server_args, params, tp_rank)
        if ranks is None and rank.size > 1:
            raise BadSetting(
                f"{rank.size} tensor-parallel ranks need --radix-cache-backend orbitkv, which lets them agree on lookups"
            )
        agreement = ranks or SingleRank()
        # One name for all ranks of this deployment, and for no other.
        deployment = settings.instance or f"sglang/{agreement.lowest(random.SystemRandom().getrandbits(31)):x}"
        page_size = int(params.page_size)
        names = {str(getattr(component, "name", component)).lower() for component in components}
        pools = pools_of(
            params.token_to_kv_pool_allocator.get_kvcache(),
            getattr(params, "req_to_token_pool", None),
            page_size,
            names,
            getattr(params, "sliding_window_size", None),
        )
        pages = open_pages([pool.tensors for pool in pools], settings.ring)
        groups = [
            Group(
                pool.tensors.group_id,
                pool.component,
                page_size,
                pool.rule,
                pages.bytes_per_block(pool.tensors.group_id),
                pool.window_tokens,
                pool.replicated,
            )
            for pool in pools
        ]
        model = str(getattr(server_args, "model_path", "unknown"))
        digest = settings.model_digest or "sha256:" + hashlib.sha256(
            f"{model}\n{getattr(server_args, 'revision', None)}\n{getattr(server_args, 'quantization', None)}".encode()
        ).hexdigest()
        version = ".".join(str(getattr(sys.modules.get("sglang"), "__version__", "unknown")).split(".")[:2])
        state_format = StateFormat(
            digest[-128:],
            f"sglang-{version}"[:128],
            str(getattr(server_args, "kv_cache_dtype", "auto"))[:64],
            pages.layout,
            ParallelShape(rank.size, rank.stages),
        )
        identity = hashlib.sha256(f"{state_format}{groups}".encode()).hexdigest()[:32]
        stage = f"/stage{rank.stage}of{rank.stages}" if rank.stages > 1 else ""
        registration = Registration(
            instance=visible_name(deployment + rank.data_group + stage, 128),
            namespace=visible_name((settings.namespace or f"sglang/{identity}") + stage, 200),
            format=state_format,
            groups=groups,
            layers=pages.layers,
            buffers=pages.buffers,
            shard=rank.index,
            shard_count=rank.size,
            staging=pages.staging,
        )
        try:
            client = OrbitClient.connect(registration, path)
        except BaseException:
            pages.close()
            raise
        self._core = LinkerCore(
            client, pages, pools, page_size, agreement, settings, publishes_replicated=rank.index == 0
        )
        self.layer_done_counter = self._core.layer_done_counter

    def lookup(self, rid: str, transfers: list[PoolTransfer]) -> list[int]:
        return self._core.lookup(rid, transfers)

    def take_pending(self, rid: str) -> bool:
        """For the admission hook: whether the request waits for its lookup."""
        return self._core.take_pending(rid)

    def load(self, rid: str, transfers: list[PoolTransfer]) -> bool:
        return self._core.load(rid, transfers)

    def start_layer_wise_loading(self) -> int:
        return self._core.start_layer_wise_loading()

    def cancel_queued_load(self, rid: str) -> bool:
        return self._core.cancel_queued_load(rid)

    def num_completed_loads(self) -> int:
        return self._core.num_completed_loads()

    def pop_completed_load(self) -> list[str]:
        return self._core.pop_completed_load()

    def offload(self, transfers: list[PoolTransfer]) -> bool:
        return self._core.offload(transfers)

    def num_completed_offloads(self) -> int:
        return self._core.num_completed_offloads()

    def pop_completed_offload(self) -> bool:
        return self._core.pop_completed_offload()

    def reset(self) -> None:
        self._core.reset()

    def close(self) -> None:
        self._core.close()


class _Rank:
    """Where this process stands among those that share a request's state."""

    def __init__(self, server_args: Any, params: Any, tp_rank: int | None) -> None:
        ranks = int(getattr(server_args, "tp_size", 1) or 1)
        # With data-parallel attention groups of ranks hold other requests' state.
        attention = bool(getattr(server_args, "enable_dp_attention", False))
        groups = int(getattr(server_args, "dp_size", 1) or 1) if attention else 1
        self.size = max(1, ranks // groups)
        index = tp_rank if tp_rank is not None else int(getattr(server_args, "tp_rank", 0) or 0)
        self.index = index % self.size
        self.data_group = f"/dp{index // self.size}" if groups > 1 else ""
        self.stages = int(getattr(server_args, "pp_size", 1) or 1)
        self.stage = int(getattr(params, "pp_rank", 0) or 0)
