"""The linker without SGLang: lookups that ranks agree on, loads that complete in order, offloads.

Every rank is a process with a scheduler of its own, and they must decide alike: what one rank alone does differently
hangs all of them. So a lookup's result goes through `RankGroup`, loads and offloads are always accepted, and what
fails is said at completion: a failed load raises where its layer is waited for, a failed offload is popped as False.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from orbitkv.client import OrbitClient
from orbitkv.link import RegistrationRefused
from orbitkv.lookup import Lookup
from orbitkv.pages import PageBuffers
from orbitkv.results import NOT_STORED, Published, Restored
from orbitkv.settings import Settings, visible_name
from orbitkv.sglang.layout import KV, Pool, key_bytes, pages_of
from orbitkv.transfers import Transfer
from orbitkv.wire.payloads import RestoreGroup

logger = logging.getLogger(__name__)

MAX_ROUNDS = 32
"""How often ranks may lower their boundary in one lookup before it counts as a miss."""
MAX_KEYS = 3_900
"""Pages of one lookup: what a slot of the channel holds of them for four pools at their keys' longest."""
SUBMIT_SECONDS = 0.05
MAX_KEPT_BATCHES = 64
"""Load batches that a late waiter may still ask about."""


class RankGroup(Protocol):
    """The ranks that must agree. Every rank calls the same methods in the same order."""

    def lowest(self, value: int) -> int: ...
    def highest(self, value: int) -> int: ...


class SingleRank:
    def lowest(self, value: int) -> int:
        return value

    def highest(self, value: int) -> int:
        return value


class LinkerLoadError(RuntimeError):
    """A restore failed: the batch must not be computed on what is there."""


class PoolTransfer(Protocol):
    """What is read of SGLang's."""

    name: Any
    device_indices: Any
    keys: Sequence[str] | None


@dataclass
class _Load:
    """One request's restore."""

    rid: str
    parts: list[list[RestoreGroup]]
    """Restores to make; none where it has failed already."""
    lookup: Lookup | None
    transfers: list[tuple[Transfer, list[RestoreGroup]]] = field(
        default_factory=list[tuple[Transfer, list[RestoreGroup]]]
    )


class LoadBatch:
    """Loads that started together. The scheduler's thread and the one that computes both look at it."""

    def __init__(self, loads: list[_Load], pages: PageBuffers) -> None:
        self.loads = loads
        self._pages = pages
        self._lock = threading.Lock()
        self._visible: set[int] = set()

    @property
    def rids(self) -> list[str]:
        return [load.rid for load in self.loads]

    def over(self) -> bool:
        with self._lock:
            return all([self._poll(transfer, groups) for load in self.loads for transfer, groups in load.transfers])

    def wait(self) -> None:
        while not self.over():
            time.sleep(0.001)

    def _poll(self, transfer: Transfer, groups: list[RestoreGroup]) -> bool:
        if not transfer.poll():
            return False
        if transfer.good and id(transfer) not in self._visible:
            self._visible.add(id(transfer))
            for group in groups:
                self._pages.after_restore(group.group_id, group.blocks)
        return True

    def wait_layer(self, model_layer: int) -> None:
        """Until that layer is in place for every request. LinkerLoadError where it will not be."""
        for load in self.loads:
            if not load.transfers:
                raise LinkerLoadError(f"OrbitKV could not begin the restore of request {load.rid}")
            for transfer, groups in load.transfers:
                count = self._pages.layers_through(model_layer, [group.group_id for group in groups])
                if self._pages.direct:
                    good = not count or transfer.wait_layers(count)
                else:
                    transfer.wait()
                    with self._lock:
                        self._poll(transfer, groups)
                    good = isinstance(transfer.answer, Restored)
                if not good:
                    raise LinkerLoadError(f"OrbitKV's restore of request {load.rid} failed: {transfer.answer}")


class LayerCounter:
    """What the model's layers wait at: SGLang's layer_done_counter."""

    def __init__(self) -> None:
        self._batches: dict[int, LoadBatch] = {}
        self._consumer = -1

    def add(self, index: int, batch: LoadBatch) -> None:
        self._batches[index] = batch
        while len(self._batches) > MAX_KEPT_BATCHES:
            del self._batches[next(iter(self._batches))]

    def set_consumer(self, index: int) -> None:
        self._consumer = index

    def wait_until(self, threshold: int) -> None:
        """Until the consumer's batch has that layer of the model in place. LinkerLoadError where it failed."""
        batch = self._batches.get(self._consumer)
        if batch is not None:
            batch.wait_layer(threshold)

    def reset(self) -> None:
        self._batches.clear()
        self._consumer = -1


@dataclass
class _Offload:
    """Publishes of one node's pages, one per pool."""

    transfers: list[Transfer] = field(default_factory=list[Transfer])
    failed: bool = False
    """Some of it could not be begun; it is told when what was begun is over, as that still reads its pages."""


@dataclass
class _Lookup:
    lookup: Lookup
    keys: list[bytes]
    touched: float


class LinkerCore:
    """Belongs to the scheduler's thread, but for what LayerCounter hands to the model."""

    def __init__(
        self,
        client: OrbitClient,
        pages: PageBuffers,
        pools: Sequence[Pool],
        page_size: int,
        ranks: RankGroup,
        settings: Settings,
        publishes_replicated: bool = True,
    ) -> None:
        self._client = client
        self._pages = pages
        self._pools: Mapping[str, Pool] = {pool.name: pool for pool in pools}
        self._page_size = page_size
        self._ranks = ranks
        self._settings = settings
        self._publishes_replicated = publishes_replicated
        self._saver: OrbitClient | None = None
        self._lookups: dict[str, _Lookup] = {}
        self._pending: set[str] = set()
        self._queued: list[_Load] = []
        self._running: deque[LoadBatch] = deque()
        self._offloads: deque[_Offload] = deque()
        self._next_batch = 0
        self._swept = time.monotonic()
        self.layer_done_counter = LayerCounter()
        self.counters: dict[str, int] = {}
        self._warned: set[str] = set()

    def _count(self, name: str, amount: int = 1) -> None:
        self.counters[name] = self.counters.get(name, 0) + amount

    def _warn(self, what: str, message: str) -> None:
        if what not in self._warned:
            self._warned.add(what)
            logger.warning("OrbitKV: %s: nothing is restored", message)

    # Lookups.

    def lookup(self, rid: str, transfers: Sequence[PoolTransfer]) -> list[int]:
        """The longest prefix, in pages, that every rank holds under a lease; none while that is not known.

        `take_pending` then says whether the request should be asked about again.
        """
        self._sweep()
        self._pending.discard(rid)
        for _ in range(MAX_ROUNDS):
            mine = self._restorable(rid, transfers)
            low = self._ranks.lowest(mine)
            if low < 0:
                self._pending.add(rid)
                return []
            high = self._ranks.highest(mine)
            if low == 0:
                self._drop(rid)
                return []
            if low == high:
                return [low]
            if mine > low:
                self._lookups[rid].lookup.lower(low * self._page_size)
        self._drop(rid)
        return []

    def _restorable(self, rid: str, transfers: Sequence[PoolTransfer]) -> int:
        """Pages that this rank holds; -1 while it does not know. Never raises: the other ranks wait."""
        try:
            known = self._lookups.get(rid)
            keys = self._keys_of(transfers)
            if known is not None and (known.keys != keys or not known.lookup.fresh):
                self._drop(rid)
                known = None
            if keys is None:
                return 0
            if known is None:
                known = self._lookups[rid] = _Lookup(self._ask(rid, keys), keys, time.monotonic())
            known.touched = time.monotonic()
            boundary = known.lookup.advance(self._settings.lookup_inline_ms / 1000)
            return -1 if boundary is None else boundary // self._page_size
        except Exception:
            logger.exception("OrbitKV: the lookup of request %s failed and counts as a miss", rid)
            self._drop(rid)
            return 0

    def _keys_of(self, transfers: Sequence[PoolTransfer]) -> list[bytes] | None:
        """The pages asked about; None where the transfers are not of exactly the registered pools."""
        by_name = {str(transfer.name): transfer for transfer in transfers}
        if KV not in by_name or not set(by_name) <= set(self._pools):
            return None
        for name, transfer in by_name.items():
            window = self._pools[name].window_tokens
            if window is not None and len(transfer.keys or ()) > -(-window // self._page_size):
                self._warn("window", f"SGLang asks for more pages of pool {name} than its window of {window} tokens has")
                return None
        keys = [key_bytes(key) for key in by_name[KV].keys or ()][:MAX_KEYS]
        others = {key_bytes(key) for transfer in transfers for key in transfer.keys or ()}
        return keys if keys and others <= set(keys) else None

    def _ask(self, rid: str, keys: list[bytes]) -> Lookup:
        def until(limit_token: int) -> dict[int, Sequence[bytes]]:
            pages = keys[: limit_token // self._page_size]
            return {pool.tensors.group_id: pages for pool in self._pools.values()}

        return Lookup(
            {0: self._client},
            visible_name(rid, 64),
            0,
            len(keys) * self._page_size,
            until,
            self._settings.lookup_timeout_ms,
        )

    def take_pending(self, rid: str) -> bool:
        """Whether the last lookup of the request had no answer yet, on any rank. Asking clears it."""
        found = rid in self._pending
        self._pending.discard(rid)
        return found

    def _drop(self, rid: str) -> None:
        known = self._lookups.pop(rid, None)
        if known is not None:
            known.lookup.drop()

    def _sweep(self) -> None:
        """Drops lookups of requests that are not asked about any more."""
        now = time.monotonic()
        if now - self._swept > 1:
            self._swept = now
            self._client.drain(0)
            for rid, known in list(self._lookups.items()):
                if now - known.touched > self._settings.lookup_timeout_ms / 1000 + 1:
                    self._drop(rid)

    # Loads.

    def load(self, rid: str, transfers: Sequence[PoolTransfer]) -> bool:
        """Queues a restore. Always True: what cannot be restored fails where it is waited for, on this rank as on others."""
        known = self._lookups.pop(rid, None)
        lookup = known.lookup if known is not None else None
        parts: list[list[RestoreGroup]] = []
        try:
            if known is not None:
                parts = self._parts(known, transfers)
        except Exception:
            logger.exception("OrbitKV: the restore of request %s cannot be made", rid)
        self._queued.append(_Load(rid, parts, lookup))
        return True

    def _parts(self, known: _Lookup, transfers: Sequence[PoolTransfer]) -> list[list[RestoreGroup]]:
        """Restores of consecutive pages: one for most requests, more where the tree had some of the pages already."""
        ready = known.lookup.ready[0]
        position = {key: index for index, key in enumerate(known.keys)}
        parts: list[list[RestoreGroup]] = []
        for transfer in transfers:
            pool = self._pools[str(transfer.name)]
            pages = pages_of(transfer.device_indices, pool.rows_per_index_page)
            keys = transfer.keys or ()
            if pages is None or len(pages) != len(keys):
                raise ValueError(f"pool {pool.name}: {len(keys)} keys and indices that are not their whole pages")
            leased = ready.group(pool.tensors.group_id)
            runs: list[tuple[int, list[int]]] = []
            for key, page in zip(keys, pages, strict=True):
                at = position[key_bytes(key)]
                token = at * self._page_size
                if not leased.from_token <= token < leased.to_token:
                    raise ValueError(f"pool {pool.name}: page {at} is not needed for boundary {ready.boundary_token}")
                if runs and runs[-1][0] + len(runs[-1][1]) == at:
                    runs[-1][1].append(page)
                else:
                    runs.append((at, [page]))
            for index, (first, blocks) in enumerate(runs):
                while len(parts) <= index:
                    parts.append([])
                parts[index].append(RestoreGroup(pool.tensors.group_id, first * self._page_size, blocks))
        return parts

    def start_layer_wise_loading(self) -> int:
        """Begins what is queued, as one batch; the index to wait for its layers by, -1 for nothing."""
        if not self._queued:
            return -1
        loads, self._queued = self._queued, []
        for load in loads:
            for groups in load.parts:
                assert load.lookup is not None
                for group in groups:
                    self._pages.before_restore(group.group_id, group.blocks)
                pending = self._client.start_restore(
                    load.lookup.ready[0].lease,
                    groups,
                    request=visible_name(load.rid, 64),
                    progress=True,
                    timeout_seconds=self._settings.restore_timeout_ms / 1000,
                )
                blocks = [block for group in groups for block in group.blocks]
                load.transfers.append((self._transfer(self._client, pending, blocks), groups))
        batch = LoadBatch(loads, self._pages)
        index = self._next_batch
        self._next_batch += 1
        self._running.append(batch)
        self.layer_done_counter.add(index, batch)
        return index

    def _transfer(self, client: OrbitClient, pending: Any, pages: Sequence[int]) -> Transfer:
        settings = self._settings
        return Transfer(client, pending, pages, settings.restore_timeout_ms, settings.drain_timeout_ms)

    def cancel_queued_load(self, rid: str) -> bool:
        """Forgets a load that has not begun, and whatever is known of the request."""
        self._pending.discard(rid)
        self._drop(rid)
        for load in self._queued:
            if load.rid == rid:
                self._queued.remove(load)
                if load.lookup is not None:
                    load.lookup.drop()
                return True
        return False

    def num_completed_loads(self) -> int:
        """Batches that are over, counted up to the first that is not."""
        count = 0
        for batch in self._running:
            if not batch.over():
                break
            count += 1
        return count

    def pop_completed_load(self) -> list[str]:
        batch = self._running.popleft()
        for load in batch.loads:
            good = bool(load.transfers) and all(transfer.good for transfer, _ in load.transfers)
            self._count("restored_requests" if good else "restores_failed")
            if load.lookup is not None:
                load.lookup.drop()
        return batch.rids

    # Offloads.

    def offload(self, transfers: Sequence[PoolTransfer]) -> bool:
        """Publishes pages of every pool. Always True: it is popped as False where not all of it is stored."""
        self._offloads.append(self._publish(transfers))
        return True

    def _publish(self, transfers: Sequence[PoolTransfer]) -> _Offload:
        under_way = sum(len(entry.transfers) for entry in self._offloads)
        saver = self._save_client()
        if saver is None or not saver.connected or under_way >= self._settings.max_pending_saves:
            self._count("saves_dropped")
            return _Offload(failed=True)
        offload = _Offload()
        try:
            for transfer in transfers:
                pool = self._pools[str(transfer.name)]
                blocks = pages_of(transfer.device_indices, pool.rows_per_index_page)
                keys = [key_bytes(key) for key in transfer.keys or ()]
                if blocks is None or len(blocks) != len(keys):
                    raise ValueError(f"pool {pool.name}: {len(keys)} keys and indices that are not their whole pages")
                if not keys or (pool.replicated and not self._publishes_replicated):
                    continue
                self._pages.before_publish(pool.tensors.group_id, blocks)
                pending = saver.start_publish(pool.tensors.group_id, keys, blocks, timeout_seconds=SUBMIT_SECONDS)
                offload.transfers.append(self._transfer(saver, pending, blocks))
        except Exception:
            logger.exception("OrbitKV: pages were not saved")
            offload.failed = True
        return offload

    def _save_client(self) -> OrbitClient | None:
        if self._saver is None or self._saver.ended is not None:
            try:
                self._saver = self._client.attach_save()
            except (ConnectionError, RegistrationRefused):
                return None
        return self._saver

    def num_completed_offloads(self) -> int:
        count = 0
        for entry in self._offloads:
            if not all([transfer.poll() for transfer in entry.transfers]):
                break
            count += 1
        return count

    def pop_completed_offload(self) -> bool:
        entry = self._offloads.popleft()
        answers = [transfer.answer for transfer in entry.transfers]
        stored = [answer for answer in answers if isinstance(answer, Published) and NOT_STORED not in answer.outcomes]
        self._count("saved_blocks", sum(answer.stored for answer in stored))
        good = not entry.failed and len(stored) == len(answers)
        if not good:
            self._count("saves_failed")
        return good

    # The end.

    def reset(self) -> None:
        """Waits until no transfer is under way and forgets everything."""
        for batch in self._running:
            batch.wait()
            for load in batch.loads:
                if load.lookup is not None:
                    load.lookup.drop()
        for load in self._queued:
            if load.lookup is not None:
                load.lookup.drop()
        for entry in self._offloads:
            for transfer in entry.transfers:
                transfer.wait()
        for rid in list(self._lookups):
            self._drop(rid)
        self._running.clear()
        self._queued.clear()
        self._offloads.clear()
        self._pending.clear()
        self.layer_done_counter.reset()

    def close(self) -> None:
        self.reset()
        for client in (self._saver, self._client):
            if client is not None:
                client.close()
        self._saver = None
        self._pages.close()

