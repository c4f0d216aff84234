"""vLLM as far as the connector sees it: base classes with the signatures of several versions, and its data classes.

    older: before metadata went with preemptions and before workers reported back
    a:     main of August 2026
    b:     0.29 and 0.30, model runner v2
"""

from __future__ import annotations

import contextlib
import enum
import importlib
import sys
import types
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable
from dataclasses import dataclass, field
from typing import Any

VERSIONS = ("older", "a", "b")


class KVConnectorRole(enum.Enum):
    SCHEDULER = 0
    WORKER = 1


class KVConnectorMetadata(ABC):  # noqa: B024
    pass


class KVConnectorHandshakeMetadata(ABC):  # noqa: B024
    pass


class KVConnectorWorkerMetadata(ABC):
    @abstractmethod
    def aggregate(self, other: KVConnectorWorkerMetadata) -> KVConnectorWorkerMetadata: ...


class SupportsHMA(ABC):
    @abstractmethod
    def request_finished_all_groups(
        self, request: Any, block_ids: tuple[list[int], ...]
    ) -> tuple[bool, dict[str, Any] | None]: ...


@dataclass
class KVConnectorStats:
    data: dict[str, Any] = field(default_factory=dict[str, Any])


@dataclass
class KVConnectorTransferResults:
    finished_sending: set[str] = field(default_factory=set[str])
    finished_recving: set[str] = field(default_factory=set[str])
    failed_recving: set[str] = field(default_factory=set[str])


class Base(ABC):
    """What all versions have in common."""

    def __init__(self, vllm_config: Any, role: KVConnectorRole, kv_cache_config: Any) -> None:
        self._connector_metadata: KVConnectorMetadata | None = None

    def bind_connector_metadata(self, connector_metadata: KVConnectorMetadata) -> None:
        self._connector_metadata = connector_metadata

    def clear_connector_metadata(self) -> None:
        self._connector_metadata = None

    def register_kv_caches(self, kv_caches: dict[str, Any]) -> None: ...
    def set_host_xfer_buffer_ops(self, copy_operation: Callable[..., None]) -> None: ...
    @abstractmethod
    def start_load_kv(self, forward_context: Any, **kwargs: Any) -> None: ...
    @abstractmethod
    def wait_for_layer_load(self, layer_name: str) -> None: ...
    @abstractmethod
    def save_kv_layer(self, layer_name: str, kv_layer: Any, attn_metadata: Any, **kwargs: Any) -> None: ...
    @abstractmethod
    def wait_for_save(self) -> None: ...
    def get_finished(self, finished_req_ids: set[str]) -> tuple[set[str] | None, set[str] | None]:
        return None, None

    def get_block_ids_with_load_errors(self) -> set[int]:
        return set()

    def shutdown(self) -> None: ...
    def get_kv_connector_stats(self) -> KVConnectorStats | None: ...
    @abstractmethod
    def get_num_new_matched_tokens(self, request: Any, num_computed_tokens: int) -> tuple[int | None, bool]: ...
    @abstractmethod
    def update_state_after_alloc(self, request: Any, blocks: Any, num_external_tokens: int) -> None: ...
    @abstractmethod
    def build_connector_meta(self, scheduler_output: Any) -> KVConnectorMetadata: ...
    def update_connector_output(self, connector_output: Any) -> None: ...
    def request_finished(self, request: Any, block_ids: list[int]) -> tuple[bool, dict[str, Any] | None]:
        return False, None

    def take_events(self) -> Iterable[Any]:
        return ()

    @classmethod
    def get_required_kvcache_layout(cls, vllm_config: Any) -> str | None:
        return None

    def get_finished_count(self) -> int | None:
        return None

    @classmethod
    def build_kv_connector_stats(cls, data: dict[str, Any] | None = None) -> KVConnectorStats | None:
        return None


class BaseOlder(Base):
    def handle_preemptions(self, preempted_req_ids: set[str]) -> None: ...
    def get_handshake_metadata(self) -> KVConnectorHandshakeMetadata | None: ...
    def set_xfer_handshake_metadata(self, metadata: dict[int, KVConnectorHandshakeMetadata]) -> None: ...


class BaseA(Base):
    @property
    def prefer_cross_layer_blocks(self) -> bool:
        return False

    @property
    def requires_kv_delivery(self) -> bool:
        return True

    def register_cross_layers_kv_cache(self, kv_cache: Any, attn_backend: type[Any]) -> None: ...
    def handle_preemptions(self, kv_connector_metadata: KVConnectorMetadata) -> None: ...
    def get_kv_connector_kv_cache_events(self) -> Any: ...
    def get_handshake_metadata(self) -> KVConnectorHandshakeMetadata | None: ...
    def build_connector_worker_meta(self) -> KVConnectorWorkerMetadata | None: ...
    def bind_gpu_block_pool(self, gpu_block_pool: Any) -> None: ...
    def on_new_request(self, request: Any) -> None: ...
    def has_pending_push_work(self) -> bool:
        return False

    @classmethod
    def requires_piecewise_for_cudagraph(cls, extra_config: dict[str, Any]) -> bool:
        return False

    def set_xfer_handshake_metadata(self, metadata: dict[int, KVConnectorHandshakeMetadata]) -> None: ...
    def set_xfer_handshake_metadata_pp_aware(
        self, metadata: dict[tuple[int, int], KVConnectorHandshakeMetadata]
    ) -> None: ...
    def reset_cache(self) -> bool | None: ...


class BaseB(BaseA):
    def finish_forward(self) -> None: ...
    def reset_capture_state(self) -> None: ...
    def get_transfer_results(self, finished_req_ids: set[str]) -> KVConnectorTransferResults:
        return KVConnectorTransferResults()

    def has_pending_block_frees(self) -> bool:
        return False


BASES: dict[str, type[Base]] = {"older": BaseOlder, "a": BaseA, "b": BaseB}


class Factory:
    """KVConnectorFactory."""

    registered: dict[str, tuple[str, str]]

    def __init__(self) -> None:
        self.registered = {}

    def register_connector(self, name: str, module_path: str, class_name: str) -> None:
        if name in self.registered:
            raise ValueError(f"{name} is registered already")
        self.registered[name] = (module_path, class_name)


@dataclass
class BlockStored:
    block_hashes: list[bytes]
    parent_block_hash: bytes | None
    token_ids: list[int]
    block_size: int
    lora_id: int | None
    medium: str | None = None


_RELOADED = ("orbitkv.vllm.stats", "orbitkv.vllm.connector")


@contextlib.contextmanager
def installed(version: str) -> Generator[Any]:
    """With this version's modules to import: the connector's module, loaded anew."""
    root = "vllm.distributed.kv_transfer.kv_connector"
    names = ["vllm", "vllm.distributed", "vllm.distributed.kv_transfer", root, f"{root}.v1"]
    modules = {name: types.ModuleType(name) for name in names}
    base = types.ModuleType(f"{root}.v1.base")
    contents: dict[str, Any] = {
        "KVConnectorBase_V1": BASES[version],
        "KVConnectorRole": KVConnectorRole,
        "KVConnectorMetadata": KVConnectorMetadata,
        "SupportsHMA": SupportsHMA,
    }
    contents["KVConnectorHandshakeMetadata"] = KVConnectorHandshakeMetadata
    if version != "older":
        contents["KVConnectorWorkerMetadata"] = KVConnectorWorkerMetadata
    if version == "b":
        contents["KVConnectorTransferResults"] = KVConnectorTransferResults
    vars(base).update(contents)
    metrics = types.ModuleType(f"{root}.v1.metrics")
    vars(metrics)["KVConnectorStats"] = KVConnectorStats
    factory = types.ModuleType(f"{root}.factory")
    vars(factory)["KVConnectorFactory"] = Factory()
    events = types.ModuleType("vllm.distributed.kv_events")
    vars(events)["BlockStored"] = BlockStored
    vars(modules["vllm"])["__version__"] = {"older": "0.11.0", "a": "0.27.1", "b": "0.30.0"}[version]
    vars(modules[f"{root}.v1"])["base"] = base
    for module in (base, metrics, factory, events):
        modules[module.__name__] = module
    before = {name: sys.modules.pop(name, None) for name in [*modules, *_RELOADED]}
    sys.modules.update(modules)
    try:
        yield importlib.import_module("orbitkv.vllm.connector")
    finally:
        for name, module in before.items():
            sys.modules.pop(name, None)
            if module is not None:
                sys.modules[name] = module


# The engine's data.


class FullAttentionSpec:
    def __init__(self, block_size: int) -> None:
        self.block_size = block_size


class MLAAttentionSpec(FullAttentionSpec):
    pass


class SlidingWindowSpec(FullAttentionSpec):
    def __init__(self, block_size: int, sliding_window: int) -> None:
        super().__init__(block_size)
        self.sliding_window = sliding_window


class MambaSpec(FullAttentionSpec):
    def __init__(self, block_size: int, mamba_cache_mode: str = "align") -> None:
        super().__init__(block_size)
        self.mamba_cache_mode = mamba_cache_mode


@dataclass
class CacheGroup:
    layer_names: list[str]
    kv_cache_spec: object


@dataclass
class KVCacheConfig:
    num_blocks: int
    kv_cache_groups: list[CacheGroup]


def vllm_config(
    *,
    engine_id: str,
    extra: dict[str, object],
    tensor_parallel: int = 1,
    pipeline_parallel: int = 1,
    rank: int = 0,
    hash_block_size: int | None = None,
    events: bool = False,
) -> Any:
    space = types.SimpleNamespace
    return space(
        parallel_config=space(
            tensor_parallel_size=tensor_parallel, pipeline_parallel_size=pipeline_parallel, rank=rank
        ),
        cache_config=space(cache_dtype="auto", hash_block_size=hash_block_size, prefix_caching_hash_algo="sha256"),
        model_config=space(model="test/model", revision=None, quantization=None, dtype="torch.bfloat16"),
        kv_transfer_config=space(
            engine_id=engine_id, kv_connector_extra_config=extra, kv_load_failure_policy="recompute"
        ),
        kv_events_config=space(enable_kv_cache_events=events),
    )
