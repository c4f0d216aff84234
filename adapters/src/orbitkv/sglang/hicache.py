"""OrbitKVHiCache: a HiCache storage backend, for versions of SGLang without external linkers.

    --enable-hierarchical-cache --hicache-storage-backend dynamic --hicache-storage-backend-extra-config
        '{"backend_name": "orbitkv", "module_path": "orbitkv.sglang.hicache", "class_name": "OrbitKVHiCache",
          "interface_v1": 1, "orbitkv": {"socket": "/run/orbitkv.sock"}}'

Pages come from and go to SGLang's host pool, by way of a staging buffer that the Manager shares. An exception would kill
the thread of SGLang's that calls, so that nothing here raises after the start: what fails is a miss or is not stored.
"""

from __future__ import annotations

import ctypes
import hashlib
import logging
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar, cast

from orbitkv.buffers import HostBuffer
from orbitkv.client import OrbitClient
from orbitkv.registration import Group, ParallelShape, Registration, StateFormat, dense_layers
from orbitkv.results import NOT_STORED, Discovered, Published, Ready
from orbitkv.settings import BadSetting, Settings, visible_name
from orbitkv.sglang.layout import key_bytes
from orbitkv.transfers import PagesStuck, Transfer
from orbitkv.wire.payloads import RestoreGroup

if TYPE_CHECKING:
    from orbitkv.sglang.upstream import HiCacheStorage
else:
    from sglang.srt.mem_cache.hicache_storage import HiCacheStorage

logger = logging.getLogger(__name__)

MAX_KEYS = 15_000
"""Keys of one question: what a slot of the channel holds at their longest."""
STAGED_PAGES = 128
"""Pages of one call; longer calls are split."""
SECONDS = 5.0

T = TypeVar("T")
Place = tuple[int, int]
"""Address and size of a part of a page in SGLang's memory."""


class OrbitKVHiCache(HiCacheStorage):
    """May be used by several threads; calls take turns at the staging buffer."""

    def __init__(self, storage_config: Any, kwargs: Mapping[str, Any] | None = None) -> None:
        extra = cast("Mapping[str, Any]", kwargs or getattr(storage_config, "extra_config", None) or {})
        self._settings = Settings.of(cast("Mapping[str, object]", extra.get("orbitkv", {})))
        self._path = self._settings.require_socket()
        self._config = storage_config
        self._turn = threading.Lock()
        self._client: OrbitClient | None = None
        self._buffer: HostBuffer | None = None
        self._page_size = 0
        self._page_bytes = 0
        self.counters: dict[str, int] = {}

    # The start.

    def register_mem_pool_host(self, mem_pool_host: Any) -> None:
        """Learns the shape of the host pool and registers. Raises where the Manager is not there or refuses."""
        super().register_mem_pool_host(mem_pool_host)
        self.mem_pool_host = mem_pool_host
        self._page_size = int(mem_pool_host.page_size)
        places = self._places(list(range(self._page_size)))[0]
        self._page_bytes = sum(size for _, size in places)
        self._buffer = HostBuffer(STAGED_PAGES * self._page_bytes)
        try:
            self._client = OrbitClient.connect(self._registration(mem_pool_host), self._path)
        except BaseException:
            self._buffer.close()
            raise

    def _registration(self, pool: Any) -> Registration:
        config, settings = self._config, self._settings
        assert self._buffer is not None
        model = str(getattr(config, "model_name", None) or "unknown")
        mla = bool(getattr(config, "is_mla_model", False))
        size, rank = int(getattr(config, "tp_size", 1)), int(getattr(config, "tp_rank", 0))
        stages, stage_rank = int(getattr(config, "pp_size", 1)), int(getattr(config, "pp_rank", 0))
        stage = pipeline = f"/stage{stage_rank}of{stages}" if stages > 1 else ""
        state_format = StateFormat(
            settings.model_digest or "sha256:" + hashlib.sha256(model.encode()).hexdigest(),
            "sglang-hicache",
            str(getattr(pool, "dtype", "unknown")).replace("torch.", "")[:64],
            visible_name(f"{getattr(pool, 'layout', 'unknown')}/{self._page_size}", 64),
            ParallelShape(size, stages),
        )
        component = "MLA" if mla else "ATTENTION_KV"
        group = Group(0, component, self._page_size, "PREFIX", self._page_bytes, replicated=mla)
        identity = hashlib.sha256(f"{state_format}{group}".encode()).hexdigest()[:32]
        instance = settings.instance
        if int(getattr(config, "dp_size", 1) or 1) > 1:
            stage = f"/dp{getattr(config, 'dp_rank', 0)}{stage}"
        if not instance:
            raise BadSetting('HiCache names no deployment: set "orbitkv": {"instance": ...} in the extra config')
        return Registration(
            instance=visible_name(instance + stage, 128),
            namespace=visible_name((settings.namespace or f"hicache/{identity}") + pipeline, 200),
            format=state_format,
            groups=[group],
            layers=dense_layers(1, STAGED_PAGES, self._page_bytes),
            buffers=[self._buffer],
            shard=rank,
            shard_count=size,
        )

    def _places(self, indices: Sequence[int]) -> list[list[Place]]:
        """Where the pages of these token indices lie in the host pool."""
        meta = self.mem_pool_host.get_page_buffer_meta
        addresses, sizes = meta(_Indices(indices))
        pages = len(indices) // self._page_size
        if not pages or len(addresses) % pages or len(addresses) != len(sizes):
            raise BadSetting("the host pool does not tell where its pages are: use --hicache-mem-layout page_first")
        parts = len(addresses) // pages
        places = [(int(address), int(size)) for address, size in zip(addresses, sizes, strict=True)]
        return [places[page * parts : (page + 1) * parts] for page in range(pages)]

    # Never raises from here on.

    def _guarded(self, otherwise: T, work: Callable[[OrbitClient], T]) -> T:
        client = self._client
        if client is None:
            return otherwise
        try:
            with self._turn:
                return work(client)
        except PagesStuck:
            # The staging buffer is the Manager's for ever: no further call may use it.
            logger.exception("OrbitKV: the Manager hangs; HiCache goes on without it")
            self._client = None
            return otherwise
        except Exception:
            logger.exception("OrbitKV: a call of HiCache's failed and counts as a miss")
            return otherwise

    def _count(self, name: str, amount: int) -> None:
        self.counters[name] = self.counters.get(name, 0) + amount

    def batch_exists(self, keys: list[str], extra_info: Any = None) -> int:
        """How many of the keys, from the first on, are there."""

        def discover(client: OrbitClient) -> int:
            asked = [key_bytes(key) for key in keys[:MAX_KEYS]]
            found = client.discover(0, {0: asked}, timeout_seconds=SECONDS)
            return found.boundary_token // self._page_size if isinstance(found, Discovered) else 0

        return self._guarded(0, discover) if keys else 0

    def exists(self, key: str) -> bool:
        return self.batch_exists([key]) == 1

    def batch_get_v1(self, keys: list[str], host_indices: Any, extra_info: Any = None) -> list[bool]:
        """Reads pages into the host pool; for each, whether it is there now. A hit ends at the first miss."""
        missing = [False] * len(keys)
        places = self._guarded(None, lambda client: self._places(_list_of(host_indices)))
        return missing if places is None else self._get(keys, places)

    def batch_set_v1(self, keys: list[str], host_indices: Any, extra_info: Any = None) -> list[bool]:
        """Stores pages of the host pool; for each, whether it is stored."""
        missing = [False] * len(keys)
        places = self._guarded(None, lambda client: self._places(_list_of(host_indices)))
        return missing if places is None else self._set(keys, places)

    def _get(self, keys: Sequence[str], places: Sequence[Sequence[Place]]) -> list[bool]:
        got: list[bool] = []
        for first in range(0, len(keys), STAGED_PAGES):
            part = slice(first, first + STAGED_PAGES)
            got += self._guarded(
                [False] * len(keys[part]),
                lambda client, part=part: self._read(client, [key_bytes(key) for key in keys[part]], places[part]),
            )
        return got

    def _read(self, client: OrbitClient, keys: list[bytes], places: Sequence[Sequence[Place]]) -> list[bool]:
        answer = client.query(0, {0: keys}, timeout_seconds=SECONDS)
        if not isinstance(answer, Ready):
            return [False] * len(keys)
        count = answer.boundary_token // self._page_size
        pending = client.start_restore(answer.lease, [RestoreGroup(0, 0, range(count))], release=True)
        transfer = self._transfer(client, pending, count)
        transfer.wait()
        if not transfer.good:
            client.release(answer.lease, SECONDS)
            return [False] * len(keys)
        for page in range(count):
            self._copy(page, places[page], to_staging=False)
        self._count("read_pages", count)
        return [page < count for page in range(len(keys))]

    def _set(self, keys: Sequence[str], places: Sequence[Sequence[Place]]) -> list[bool]:
        stored: list[bool] = []
        for first in range(0, len(keys), STAGED_PAGES):
            part = slice(first, first + STAGED_PAGES)
            stored += self._guarded(
                [False] * len(keys[part]),
                lambda client, part=part: self._write(client, [key_bytes(key) for key in keys[part]], places[part]),
            )
        return stored

    def _write(self, client: OrbitClient, keys: list[bytes], places: Sequence[Sequence[Place]]) -> list[bool]:
        for page, parts in enumerate(places):
            self._copy(page, parts, to_staging=True)
        pending = client.start_publish(0, keys, range(len(keys)))
        transfer = self._transfer(client, pending, len(keys))
        transfer.wait()
        answer = transfer.answer
        if not isinstance(answer, Published):
            return [False] * len(keys)
        self._count("written_pages", answer.stored)
        return [outcome != NOT_STORED for outcome in answer.outcomes]

    def _transfer(self, client: OrbitClient, pending: Any, count: int) -> Transfer:
        settings = self._settings
        return Transfer(client, pending, range(count), settings.restore_timeout_ms, settings.drain_timeout_ms)

    def _copy(self, page: int, parts: Sequence[Place], *, to_staging: bool) -> None:
        assert self._buffer is not None
        staged = self._buffer.address + page * self._page_bytes
        if sum(size for _, size in parts) != self._page_bytes:
            raise ValueError(f"a page of {sum(size for _, size in parts)} bytes where {self._page_bytes} were registered")
        for address, size in parts:
            target, source = (staged, address) if to_staging else (address, staged)
            ctypes.memmove(target, source, size)
            staged += size

    # The older calls: one tensor per page.

    def get(self, key: str, target_location: Any = None, target_sizes: Any = None) -> Any:
        found = self.batch_get([key], [target_location], target_sizes)
        return found[0]

    def batch_get(self, keys: list[str], target_locations: Any = None, target_sizes: Any = None) -> list[Any]:
        locations = list(target_locations or [])
        if len(locations) != len(keys) or any(location is None for location in locations):
            return [None] * len(keys)
        got = self._get(keys, [[_place_of(location)] for location in locations])
        return [location if good else None for location, good in zip(locations, got, strict=True)]

    def set(self, key: str, value: Any = None, target_location: Any = None, target_sizes: Any = None) -> bool:
        return self.batch_set([key], [value if value is not None else target_location])

    def batch_set(
        self, keys: list[str], values: Any = None, target_locations: Any = None, target_sizes: Any = None
    ) -> bool:
        tensors = list(values if values is not None else target_locations or [])
        if len(tensors) != len(keys) or any(tensor is None for tensor in tensors):
            return False
        return all(self._set(keys, [[_place_of(tensor)] for tensor in tensors]))

    def clear(self) -> None:
        """Blocks belong to the namespace, not to this engine: `orbitkv evict` drops them."""

    def get_stats(self) -> dict[str, int]:
        return dict(self.counters)

    def close(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            client.close()
        if self._buffer is not None:
            self._buffer.close()
            self._buffer = None


class _Indices(list[int]):
    """Indices as host pools read them: a list that is asked for a list."""

    def tolist(self) -> list[int]:
        return list(self)


def _list_of(indices: Any) -> list[int]:
    return [int(index) for index in (indices.tolist() if hasattr(indices, "tolist") else indices)]


def _place_of(tensor: Any) -> Place:
    """A contiguous tensor's address and size."""
    if not tensor.is_contiguous():
        raise ValueError("a page that is not contiguous")
    return int(tensor.data_ptr()), int(tensor.numel()) * int(tensor.element_size())
