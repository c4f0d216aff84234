"""SGLang as far as the adapter sees it: base classes with their signatures, the registries, and what a factory builds."""

from __future__ import annotations

import contextlib
import enum
import functools
import importlib
import sys
import types
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Any


class UnifiedCacheLinker(ABC):
    layer_done_counter: object

    @abstractmethod
    def lookup(self, rid: str, transfers: list[Any]) -> list[int]: ...
    @abstractmethod
    def load(self, rid: str, transfers: list[Any]) -> bool: ...
    @abstractmethod
    def start_layer_wise_loading(self) -> int: ...
    @abstractmethod
    def cancel_queued_load(self, rid: str) -> bool: ...
    @abstractmethod
    def num_completed_loads(self) -> int: ...
    @abstractmethod
    def pop_completed_load(self) -> list[str]: ...
    @abstractmethod
    def offload(self, transfers: list[Any]) -> bool: ...
    @abstractmethod
    def num_completed_offloads(self) -> int: ...
    @abstractmethod
    def pop_completed_offload(self) -> bool: ...
    @abstractmethod
    def reset(self) -> None: ...
    @abstractmethod
    def close(self) -> None: ...


class HiCacheStorage(ABC):
    def register_mem_pool_host(self, mem_pool_host: Any) -> None:
        self.mem_pool_host = mem_pool_host

    def batch_get_v1(self, keys: list[str], host_indices: Any, extra_info: Any = None) -> list[bool]:
        raise NotImplementedError

    def batch_set_v1(self, keys: list[str], host_indices: Any, extra_info: Any = None) -> list[bool]:
        raise NotImplementedError

    @abstractmethod
    def get(self, key: str, target_location: Any = None, target_sizes: Any = None) -> Any: ...
    @abstractmethod
    def batch_get(self, keys: list[str], target_locations: Any = None, target_sizes: Any = None) -> list[Any]: ...
    @abstractmethod
    def set(self, key: str, value: Any = None, target_location: Any = None, target_sizes: Any = None) -> bool: ...
    @abstractmethod
    def batch_set(
        self, keys: list[str], values: Any = None, target_locations: Any = None, target_sizes: Any = None
    ) -> bool: ...
    @abstractmethod
    def exists(self, key: str) -> bool: ...
    def batch_exists(self, keys: list[str], extra_info: Any = None) -> int:
        raise NotImplementedError

    def clear(self) -> None: ...
    def get_stats(self) -> Any: ...


class HitPolicy(str, enum.Enum):
    ALL_PAGES = "all_pages"
    TRAILING_PAGES = "trailing_pages"


class PoolName(str, enum.Enum):
    KV = "kv"
    MAMBA = "mamba"
    SWA = "swa"
    INDEXER = "indexer"

    def __str__(self) -> str:
        return self.value


@dataclass
class PoolTransfer:
    name: PoolName
    host_indices: Any = None
    device_indices: Any = None
    keys: list[str] | None = None
    hit_policy: HitPolicy = HitPolicy.ALL_PAGES
    nodes_to_load: list[Any] | None = None
    indices_from_pool: PoolName | None = None


class ComponentType(enum.IntEnum):
    FULL = 0
    SWA = 1
    MAMBA = 2


class AddReqResult(enum.Enum):
    CONTINUE = 0
    NO_TOKEN = 1


class PrefillAdder:
    def __init__(self, tree_cache: Any) -> None:
        self.tree_cache = tree_cache
        self.can_run_list: list[Any] = []

    def add_one_req(self, req: Any, has_chunked_req: bool = False, truncation_align_size: int | None = None) -> AddReqResult:
        self.can_run_list.append(req)
        return AddReqResult.CONTINUE


class HookType(enum.Enum):
    AROUND = "around"


@dataclass
class HookRegistry:
    hooks: list[tuple[str, Callable[..., Any], HookType]] = field(
        default_factory=list[tuple[str, Callable[..., Any], HookType]]
    )

    def register(self, target: str, hook: Callable[..., Any], hook_type: HookType) -> None:
        self.hooks.append((target, hook, hook_type))

    def apply_hooks(self) -> None:
        for target, hook, _ in self.hooks:
            module, class_name, method = target.rsplit(".", 2)
            owner = getattr(sys.modules[module], class_name)
            original = getattr(owner, method)
            setattr(owner, method, _around(original, hook))


def _around(original: Callable[..., Any], hook: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        return hook(original, *args, **kwargs)

    return wrapper


class UnifiedRadixCache:
    def __init__(self, params: Any) -> None:
        self.params = params
        self.linker: Any = None

    def init_cache_linker(self, linker: Any) -> None:
        self.linker = types.SimpleNamespace(cache_linker=linker, layer_done_counter=linker.layer_done_counter)


_RELOADED = ("orbitkv.sglang.linker", "orbitkv.sglang.hicache")


@contextlib.contextmanager
def installed() -> Generator[Any]:
    """With SGLang's modules to import; gives its registry of backends, by name, and its hooks."""
    srt = "sglang.srt"
    modules: dict[str, types.ModuleType] = {}

    def module(name: str, **contents: Any) -> None:
        modules[name] = types.ModuleType(name)
        vars(modules[name]).update(contents)

    backends: dict[str, Callable[[Any], Any]] = {}

    def register_backend(name: str, factory: Callable[[Any], Any]) -> None:
        if name in backends:
            raise ValueError(f"{name} is registered already")
        backends[name] = factory

    adder = type("PrefillAdder", (PrefillAdder,), {"add_one_req": PrefillAdder.add_one_req})
    hooks = HookRegistry()
    for name in ("sglang", srt, f"{srt}.mem_cache", f"{srt}.managers", f"{srt}.plugins"):
        module(name)
    vars(modules["sglang"])["__version__"] = "0.5.20"
    module(f"{srt}.mem_cache.registry", register_radix_cache_backend=register_backend)
    module(f"{srt}.plugins.hook_registry", HookRegistry=hooks, HookType=HookType)
    module(f"{srt}.managers.schedule_policy", PrefillAdder=adder, AddReqResult=AddReqResult)
    module(f"{srt}.mem_cache.hicache_storage", HiCacheStorage=HiCacheStorage)
    module(f"{srt}.mem_cache.unified_cache")
    module(f"{srt}.mem_cache.unified_cache.components", ComponentType=ComponentType)
    module(f"{srt}.mem_cache.unified_cache.unified_cache_linker", UnifiedCacheLinker=UnifiedCacheLinker)
    module(f"{srt}.mem_cache.unified_radix_cache", UnifiedRadixCache=UnifiedRadixCache)
    before = {name: sys.modules.pop(name, None) for name in [*modules, *_RELOADED]}
    sys.modules.update(modules)
    try:
        yield types.SimpleNamespace(
            backends=backends,
            hooks=hooks,
            adder=adder,
            linker=importlib.import_module("orbitkv.sglang.linker"),
            hicache=importlib.import_module("orbitkv.sglang.hicache"),
        )
    finally:
        for name, found in before.items():
            sys.modules.pop(name, None)
            if found is not None:
                sys.modules[name] = found
