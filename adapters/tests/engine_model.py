"""A small vLLM: scheduler, block pool and workers that compute nothing but the bytes a page must have.

What a page must hold is a function of the group, the layer, the rank and the tokens up to the page's end, and of nothing
that the connector does. Before a request computes on top of pages, every rank compares them. A request that computes
on pages that are not right (its restore fails in the same step) computes poison, and pages of poison must never come
back.
"""

from __future__ import annotations

import dataclasses
import hashlib
import random
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests import vllm_stub
from tests.tensors import ON_GPU, FakeTensor, Memory

HASH_TOKENS = 4
NULL_BLOCK = 0


@dataclass(frozen=True)
class ModelGroup:
    """A KV cache group of the model: its kind, and the layers that each pipeline stage has of it."""

    kind: str
    """full, mla, swa or mamba."""
    block_size: int
    window: int = 0
    layers: int = 2

    def spec(self) -> object:
        match self.kind:
            case "full":
                return vllm_stub.FullAttentionSpec(self.block_size)
            case "mla":
                return vllm_stub.MLAAttentionSpec(self.block_size)
            case "swa":
                return vllm_stub.SlidingWindowSpec(self.block_size, self.window)
            case _:
                return vllm_stub.MambaSpec(self.block_size)

    def first_needed(self, computed: int) -> int:
        """The first page that a request of so many computed tokens still reads."""
        match self.kind:
            case "swa":
                return max(0, computed - self.window + 1) // self.block_size
            case "mamba":
                return max(0, computed // self.block_size - 1)
            case _:
                return 0


@dataclass(frozen=True)
class Scenario:
    """One engine: its model, its size, how it is cut and which version it is."""

    name: str
    version: str
    groups: tuple[ModelGroup, ...]
    tensor_parallel: int = 1
    pipeline_parallel: int = 1
    blocks: int = 41
    load_mode: str = "async"
    shared: bool = True
    layout: str = "nhd"

    @property
    def ranks(self) -> int:
        return self.tensor_parallel * self.pipeline_parallel


@dataclass
class Req:
    """vLLM's Request."""

    request_id: str
    tokens: list[int]
    end: int
    """It finishes with so many tokens."""
    block_hashes: list[bytes] = field(default_factory=list[bytes])
    num_computed_tokens: int = 0
    num_preemptions: int = 0
    blocks: list[list[int]] = field(default_factory=list[list[int]])
    state: str = "waiting"
    """waiting, remote, running, done."""
    restored_tokens: int = 0

    def __post_init__(self) -> None:
        self.hash_tokens()

    @property
    def num_tokens(self) -> int:
        return len(self.tokens)

    @property
    def all_token_ids(self) -> list[int]:
        return self.tokens

    def hash_tokens(self) -> None:
        while (len(self.block_hashes) + 1) * HASH_TOKENS <= len(self.tokens):
            first = len(self.block_hashes) * HASH_TOKENS
            parent = self.block_hashes[-1] if self.block_hashes else b"none"
            text = parent + bytes(str(self.tokens[first : first + HASH_TOKENS]), "ascii")
            self.block_hashes.append(hashlib.sha256(text).digest())


class Worker:
    """One rank: its connector and its pages."""

    def __init__(self, engine: Engine, rank: int) -> None:
        scenario = engine.scenario
        self.rank = rank
        self.stage, self.tensor_rank = divmod(rank, scenario.tensor_parallel)
        self.memory = Memory(1 << 20, scenario.shared, ON_GPU)
        self._expected: dict[tuple[str, bytes], bytes] = {}
        self.tensors: dict[str, list[tuple[FakeTensor, int]]] = {}
        names: list[list[str]] = []
        for index, group in enumerate(scenario.groups):
            first = self.stage * group.layers
            layer_names = [f"model.layers.{first + layer}.group{index}" for layer in range(group.layers)]
            names.append(layer_names)
            for name in layer_names:
                self.tensors[name] = self._tensors(group, scenario)
        self.names = names
        self.config = vllm_stub.KVCacheConfig(
            scenario.blocks,
            [vllm_stub.CacheGroup(own, group.spec()) for own, group in zip(names, scenario.groups, strict=True)],
        )
        self.connector = engine.new_connector(self.config, rank, vllm_stub.KVConnectorRole.WORKER)
        self.connector.register_kv_caches(
            {
                name: [tensor for tensor, _ in parts] if len(parts) > 1 else parts[0][0]
                for name, parts in self.tensors.items()
            }
        )

    def _tensors(self, group: ModelGroup, scenario: Scenario) -> list[tuple[FakeTensor, int]]:
        blocks, size = scenario.blocks, group.block_size
        if group.kind == "mamba":
            # Convolution and recurrent state of a page, one after the other in one storage.
            page = 5 * 8 + 3 * 16 + 8
            start = self.memory.tensor((blocks, page))
            address = start.data_ptr()
            conv = FakeTensor(address, (blocks, 5, 8), (page, 8, 1), start.device)
            state = FakeTensor(address + 40, (blocks, 3, 16), (page, 16, 1), start.device)
            return [(conv, 0), (state, 0)]
        if group.kind == "mla":
            return [(self.memory.tensor((blocks, size, 24)), 0)]
        match scenario.layout:
            case "planes":
                return [(self.memory.tensor((2, blocks, size, 3, 8)), 1)]
            case "hnd":
                return [(self.memory.tensor((blocks, 3, size, 16)), 0)]
            case _:
                return [(self.memory.tensor((blocks, 3, size, 16), (0, 2, 1, 3)), 0)]

    def expected(self, group: int, name: str, key: bytes, replicated: bool) -> bytes:
        rank = 0 if replicated else self.tensor_rank
        found = self._expected.get((name, key))
        if found is None:
            size = sum(tensor.page_bytes(dim) for tensor, dim in self.tensors[name])
            found = random.Random(f"{group}/{name}/{rank}/{key.hex()}").randbytes(size)
            self._expected[name, key] = found
        return found

    def read(self, name: str, block: int) -> bytes:
        return b"".join(tensor.read(dim, block) for tensor, dim in self.tensors[name])

    def write(self, name: str, block: int, data: bytes) -> None:
        for tensor, dim in self.tensors[name]:
            size = tensor.page_bytes(dim)
            tensor.write(dim, block, data[:size])
            data = data[size:]

    def close(self) -> None:
        self.connector.shutdown()
        self.memory.close()


class Engine:
    """One running engine. `step` is one step of its loop."""

    def __init__(self, scenario: Scenario, connector_module: Any, socket: str, engine_id: str, rng: random.Random) -> None:
        self.scenario = scenario
        self.rng = rng
        self._module = connector_module
        self._settings = {"socket": socket, "load_mode": scenario.load_mode, "max_pending_saves": 8}
        self._engine_id = engine_id
        self.fail_load: Callable[[], bool] = lambda: False
        self.workers: list[Worker] = []
        for rank in range(scenario.ranks):
            self.workers.append(Worker(self, rank))
        self.connector = self.new_connector(self.workers[0].config, 0, vllm_stub.KVConnectorRole.SCHEDULER)
        self.free = list(range(1, scenario.blocks))
        self.refs = [0] * scenario.blocks
        self.cached: dict[bytes, int] = {}
        self.waiting: list[Req] = []
        self.running: list[Req] = []
        self.remote: list[Req] = []
        self.received: dict[str, set[int]] = {}
        self.failed: dict[str, int] = {}
        """Requests whose restore failed, and how many of their tokens are good all the same."""
        self.finished_ids: set[str] = set()
        self.preempted_ids: set[str] = set()
        self.wrong: list[str] = []
        self.restored_requests = self.restored_tokens = self.failed_loads = self.parked = self.done = 0
        self.events: list[Any] = []
        self._introduce()

    def new_connector(self, config: Any, rank: int, role: Any) -> Any:
        scenario = self.scenario
        vllm_config = vllm_stub.vllm_config(
            engine_id=self._engine_id,
            extra=dict(self._settings),
            tensor_parallel=scenario.tensor_parallel,
            pipeline_parallel=scenario.pipeline_parallel,
            rank=rank,
            hash_block_size=HASH_TOKENS,
            events=True,
        )
        return self._module.OrbitKVConnector(vllm_config, role, kv_cache_config=config)

    def _introduce(self) -> None:
        scenario = self.scenario
        facts = {
            divmod(worker.rank, scenario.tensor_parallel): worker.connector.get_handshake_metadata()
            for worker in self.workers
        }
        if scenario.version == "older":
            self.connector.set_xfer_handshake_metadata({rank: meta for rank, meta in enumerate(facts.values())})
            return
        null_block = types.SimpleNamespace(block_id=NULL_BLOCK)
        self.connector.bind_gpu_block_pool(types.SimpleNamespace(null_block=null_block))
        self.connector.set_xfer_handshake_metadata_pp_aware(facts)

    # Blocks.

    def _take_block(self) -> int:
        block = self.free.pop(self.rng.randrange(len(self.free)))
        for key in [key for key, held in self.cached.items() if held == block]:
            del self.cached[key]
        self.refs[block] = 1
        return block

    def _drop_block(self, block: int) -> None:
        if block != NULL_BLOCK:
            self.refs[block] -= 1
            if self.refs[block] == 0:
                self.free.append(block)

    def _free_blocks(self, req: Req) -> None:
        for blocks in req.blocks:
            for block in blocks:
                self._drop_block(block)
        req.blocks = [[] for _ in self.scenario.groups]

    def _allocate(self, req: Req, computed: int, end: int, restored_to: int = 0) -> list[list[int]] | None:
        """Blocks for tokens up to `end`, of which so many will be computed; the new ones, or None without room."""
        plans: list[list[bool]] = []
        for group, blocks in zip(self.scenario.groups, req.blocks, strict=True):
            pages = range(len(blocks), -(-end // group.block_size))
            first = group.first_needed(max(computed, restored_to))
            # Of recurrent state only the page at the end of a step, and the one to restore, has a block.
            wanted = {(end - 1) // group.block_size, restored_to // group.block_size - 1}
            plans.append([page >= first and (group.kind != "mamba" or page in wanted) for page in pages])
        if sum(sum(plan) for plan in plans) > len(self.free):
            return None
        new = [[self._take_block() if real else NULL_BLOCK for real in plan] for plan in plans]
        for blocks, added in zip(req.blocks, new, strict=True):
            blocks.extend(added)
        return new

    def _drop_skipped(self, req: Req) -> None:
        """Frees what lies before a window."""
        for group, blocks in zip(self.scenario.groups, req.blocks, strict=True):
            for page in range(min(group.first_needed(req.num_computed_tokens), len(blocks))):
                if blocks[page] != NULL_BLOCK:
                    self._drop_block(blocks[page])
                    blocks[page] = NULL_BLOCK

    def _local_hit(self, req: Req) -> int:
        """Takes blocks that this engine still has, in a model of one group."""
        group = self.scenario.groups[0]
        if len(self.scenario.groups) > 1 or group.kind not in ("full", "mla"):
            return 0
        taken: list[int] = []
        for page in range((req.num_tokens - 1) // group.block_size):
            block = self.cached.get(req.block_hashes[(page + 1) * group.block_size // HASH_TOKENS - 1])
            if block is None:
                break
            taken.append(block)
        for block in taken:
            if self.refs[block] == 0:
                self.free.remove(block)
            self.refs[block] += 1
        req.blocks = [taken]
        return len(taken) * group.block_size

    # What happens to requests.

    def add(self, req: Req) -> None:
        req.blocks = [[] for _ in self.scenario.groups]
        self.waiting.append(req)
        if self.scenario.version != "older":
            self.connector.on_new_request(req)

    def abort(self, req: Req) -> None:
        req.state = "aborted" if req in self.remote else "done"
        self.connector.request_finished_all_groups(req, tuple(list(ids) for ids in req.blocks))
        self.finished_ids.add(req.request_id)
        for queue in (self.waiting, self.running):
            if req in queue:
                queue.remove(req)
        if req.state == "done":
            self._free_blocks(req)

    def preempt(self, req: Req) -> None:
        self.running.remove(req)
        self._free_blocks(req)
        req.num_computed_tokens, req.state = 0, "waiting"
        req.num_preemptions += 1
        self.preempted_ids.add(req.request_id)
        self.waiting.insert(0, req)

    # A step.

    def step(self) -> None:
        scheduled: dict[str, tuple[Req, int]] = {}
        new: list[Any] = []
        cached: list[tuple[str, Any, int, bool]] = []
        preempted_before = self.preempted_ids
        self.preempted_ids = set()
        budget = 24
        for req in list(self.running):
            count = self._chunk(req, req.num_computed_tokens, budget)
            if req not in self.running or count == 0:
                continue
            self._drop_skipped(req)
            given = self._allocate(req, req.num_computed_tokens, req.num_computed_tokens + count)
            while given is None and self.running[-1] is not req and self.running[-1].request_id not in scheduled:
                self.preempt(self.running[-1])
                given = self._allocate(req, req.num_computed_tokens, req.num_computed_tokens + count)
            if given is None:
                self.preempt(req)
                continue
            scheduled[req.request_id] = (req, count)
            cached.append((req.request_id, given, req.num_computed_tokens, False))
            budget -= count
        if not self.preempted_ids:
            budget = self._admit(budget, scheduled, new, cached)
        self._execute(scheduled, new, cached, preempted_before | self.preempted_ids)

    def _chunk(self, req: Req, computed: int, budget: int) -> int:
        end = min(req.num_tokens, computed + budget)
        if end < req.num_tokens:
            sizes = [group.block_size for group in self.scenario.groups if group.kind == "mamba"]
            end -= end % max(sizes, default=1)
        return max(0, end - computed)

    def _admit(self, budget: int, scheduled: dict[str, Any], new: list[Any], cached: list[Any]) -> int:
        for req in list(self.waiting):
            if budget == 0 or len(self.running) >= 6:
                break
            external, asynchronous = 0, False
            if req.num_computed_tokens == 0:
                local = self._local_hit(req)
                external, asynchronous = self.connector.get_num_new_matched_tokens(req, local)
                if external is None:
                    self.parked += 1
                    self._free_blocks(req)
                    continue
                req.num_computed_tokens = local
            computed = req.num_computed_tokens + external
            if not asynchronous and computed >= req.num_tokens:
                raise AssertionError(f"{req.request_id}: nothing is left to compute")
            count = 0 if asynchronous else self._chunk(req, computed, budget)
            given = self._allocate(req, req.num_computed_tokens, computed + count, computed if external else 0)
            if given is None or (count == 0 and not asynchronous):
                self._free_blocks(req)
                req.num_computed_tokens = 0
                break
            blocks = types.SimpleNamespace(get_block_ids=lambda req=req: tuple(list(ids) for ids in req.blocks))
            self.connector.update_state_after_alloc(req, blocks, external)
            self.waiting.remove(req)
            req.num_computed_tokens = computed
            req.restored_tokens = external or req.restored_tokens
            if asynchronous:
                req.state = "remote"
                self.remote.append(req)
                continue
            self._run(req, count, scheduled, new, cached)
            budget -= count
        return budget

    def _run(self, req: Req, count: int, scheduled: dict[str, Any], new: list[Any], cached: list[Any]) -> None:
        req.state = "running"
        self.running.append(req)
        scheduled[req.request_id] = (req, count)
        blocks = [list(ids) for ids in req.blocks]
        if req.num_preemptions:
            cached.append((req.request_id, blocks, req.num_computed_tokens, True))
        else:
            new.append(
                types.SimpleNamespace(
                    req_id=req.request_id,
                    prompt_token_ids=req.tokens,
                    block_ids=tuple(blocks),
                    num_computed_tokens=req.num_computed_tokens,
                )
            )

    def _execute(self, scheduled: dict[str, Any], new: list[Any], cached: list[Any], preempted: set[str]) -> None:
        resumed: dict[str, Any] = (
            {"resumed_from_preemption": [flag for *_, flag in cached]}
            if self.scenario.version == "older"
            else {"resumed_req_ids": {req_id for req_id, *_, flag in cached if flag}}
        )
        output = types.SimpleNamespace(
            scheduled_new_reqs=new,
            scheduled_cached_reqs=types.SimpleNamespace(
                req_ids=[req_id for req_id, *_ in cached],
                new_block_ids=[tuple(given) if any(given) else None for _, given, *_ in cached],
                num_computed_tokens=[computed for _, _, computed, _ in cached],
                **resumed,
            ),
            num_scheduled_tokens={req_id: count for req_id, (_, count) in scheduled.items()},
            finished_req_ids=self.finished_ids,
        )
        if self.scenario.version != "older":
            output.preempted_req_ids = preempted
        finished, self.finished_ids = self.finished_ids, set()
        meta = self.connector.build_connector_meta(output)
        doomed = {load.req_id for load in meta.step.loads if self.fail_load()}
        bad: dict[str, list[str]] = {}
        invalid: set[int] = set()
        failed: set[str] = set()
        received: set[str] = set()
        worker_meta: Any = None
        for worker in self.rng.sample(self.workers, len(self.workers)):
            mine = meta
            if doomed and worker.rank == len(self.workers) - 1:
                mine = _tampered(meta, doomed)
            result = self._work(worker, mine, scheduled, finished, preempted, doomed, bad)
            received |= self._count_received(worker.rank, result.finished_recving)
            failed |= result.failed_recving
            invalid |= result.invalid
            if result.worker_meta is not None:
                worker_meta = (
                    result.worker_meta if worker_meta is None else worker_meta.aggregate(result.worker_meta)
                )
        self.connector.update_connector_output(
            types.SimpleNamespace(
                finished_sending=None,
                finished_recving=received or None,
                invalid_block_ids=invalid,
                kv_connector_stats=None,
                kv_connector_worker_meta=worker_meta,
            )
        )
        self.events += self.connector.take_events()
        self._process(scheduled, bad, invalid, failed, received)

    def _count_received(self, rank: int, req_ids: set[str]) -> set[str]:
        done: set[str] = set()
        for req_id in req_ids:
            ranks = self.received.setdefault(req_id, set())
            if rank in ranks:
                self.wrong.append(f"rank {rank} reported the restore of {req_id} twice")
            ranks.add(rank)
            if len(ranks) == len(self.workers):
                del self.received[req_id]
                done.add(req_id)
        return done

    # Work on a rank.

    def _work(
        self,
        worker: Worker,
        meta: Any,
        scheduled: dict[str, tuple[Req, int]],
        finished: set[str],
        preempted: set[str],
        doomed: set[str],
        bad: dict[str, list[str]],
    ) -> Any:
        connector = worker.connector
        version = self.scenario.version
        connector.handle_preemptions(preempted if version == "older" else meta)
        connector.bind_connector_metadata(meta)
        # Model runner v2 begins asynchronous restores after the forward pass.
        late = version == "b" and all(load.asynchronous for load in meta.step.loads)
        if not late:
            connector.start_load_kv(object())
        for index in range(len(self.scenario.groups)):
            for name in worker.names[index]:
                if scheduled:
                    connector.wait_for_layer_load(name)
                for req, count in scheduled.values():
                    self._compute(worker, index, name, req, count, doomed, bad)
                connector.save_kv_layer(name, worker.tensors[name][0][0], None)
        if version == "b":
            connector.finish_forward()
        if late:
            connector.start_load_kv(object())
        connector.wait_for_save()
        result = types.SimpleNamespace(failed_recving=set[str]())
        if version == "b":
            transfers = connector.get_transfer_results(finished)
            result.finished_recving, result.failed_recving = transfers.finished_recving, transfers.failed_recving
        else:
            result.finished_recving = connector.get_finished(finished)[1] or set()
        result.invalid = connector.get_block_ids_with_load_errors()
        connector.get_kv_connector_stats()
        result.worker_meta = connector.build_connector_worker_meta() if version != "older" else None
        connector.clear_connector_metadata()
        return result

    def _compute(
        self,
        worker: Worker,
        index: int,
        name: str,
        req: Req,
        count: int,
        doomed: set[str],
        bad: dict[str, list[str]],
    ) -> None:
        group = self.scenario.groups[index]
        size, computed, blocks = group.block_size, req.num_computed_tokens, req.blocks[index]
        replicated = group.kind == "mla"
        end = computed + count
        for page in self._pages_read(group, computed):
            key = req.block_hashes[(page + 1) * size // HASH_TOKENS - 1]
            if worker.read(name, blocks[page]) != worker.expected(index, name, key, replicated):
                bad.setdefault(req.request_id, []).append(f"rank {worker.rank} {name} page {page} block {blocks[page]}")
        poison = req.request_id in doomed or req.request_id in bad
        for page in range(computed // size, -(-end // size)):
            if blocks[page] == NULL_BLOCK:
                continue
            data = self.rng.randbytes(len(worker.expected(index, name, b"", replicated)))
            if end >= (page + 1) * size and not poison:
                key = req.block_hashes[(page + 1) * size // HASH_TOKENS - 1]
                data = worker.expected(index, name, key, replicated)
            worker.write(name, blocks[page], data)

    def _pages_read(self, group: ModelGroup, computed: int) -> range:
        """Whole pages that a request reads before it goes on from there."""
        last = computed // group.block_size
        if group.kind == "mamba":
            return range(last - 1, last) if computed and computed % group.block_size == 0 else range(0)
        return range(group.first_needed(computed), last)

    # After a step.

    def _process(
        self,
        scheduled: dict[str, tuple[Req, int]],
        bad: dict[str, list[str]],
        invalid: set[int],
        failed: set[str],
        received: set[str],
    ) -> None:
        for req in self.remote:
            if req.request_id in failed or self._first_invalid(req, invalid) is not None:
                first = self._first_invalid(req, invalid)
                self.failed[req.request_id] = first if first is not None else 0
        for req_id in received:
            req = next(req for req in self.remote if req.request_id == req_id)
            self.remote.remove(req)
            good = self.failed.pop(req_id, None)
            if req.state == "aborted":
                self._free_blocks(req)
                req.state = "done"
                continue
            req.state = "waiting"
            if good is not None:
                self._recompute(req, good)
            self.waiting.insert(0, req)
        for req, count in scheduled.values():
            if req not in self.running:
                continue
            first = self._first_invalid(req, invalid)
            if first is not None:
                self.running.remove(req)
                self.waiting.insert(0, req)
                req.state = "waiting"
                req.num_preemptions += 1
                self._recompute(req, first)
                continue
            if req.request_id in bad:
                self.wrong.append(f"{req.request_id} computed on wrong bytes: {bad[req.request_id][:3]}")
            if req.restored_tokens:
                self.restored_requests += 1
                self.restored_tokens += req.restored_tokens
                req.restored_tokens = 0
            self._remember(req, count)
            req.num_computed_tokens += count
            if req.num_computed_tokens == req.num_tokens:
                if req.num_tokens >= req.end:
                    self.done += 1
                    self.abort(req)
                else:
                    # As greedy sampling does: the same prompt goes on in the same way.
                    req.tokens.append(random.Random(str(req.tokens)).randrange(4))
                    req.hash_tokens()

    def _remember(self, req: Req, count: int) -> None:
        """Whole pages are found again by this engine, in a model of one group."""
        group = self.scenario.groups[0]
        if len(self.scenario.groups) == 1 and group.kind in ("full", "mla"):
            size = group.block_size
            for page in range(req.num_computed_tokens // size, (req.num_computed_tokens + count) // size):
                key = req.block_hashes[(page + 1) * size // HASH_TOKENS - 1]
                self.cached.setdefault(key, req.blocks[0][page])

    def _first_invalid(self, req: Req, invalid: set[int]) -> int | None:
        """The first token that lies in an invalid block."""
        found = [
            page * group.block_size
            for group, blocks in zip(self.scenario.groups, req.blocks, strict=True)
            for page, block in enumerate(blocks)
            if block in invalid
        ]
        return min(found) if found else None

    def _recompute(self, req: Req, good_tokens: int) -> None:
        """The load failure policy `recompute`: from the first bad token, or from the start in a hybrid model."""
        self.failed_loads += 1
        req.restored_tokens = 0
        if len(self.scenario.groups) > 1:
            good_tokens = 0
        req.num_computed_tokens = good_tokens
        for group, blocks in zip(self.scenario.groups, req.blocks, strict=True):
            keep = good_tokens // group.block_size
            for block in blocks[keep:]:
                self._drop_block(block)
            del blocks[keep:]

    @property
    def idle(self) -> bool:
        return not (self.waiting or self.running or self.remote)

    def close(self) -> None:
        self.connector.shutdown()
        for worker in self.workers:
            worker.close()


def _tampered(meta: Any, doomed: set[str]) -> Any:
    """The step with leases that the Manager never gave, for those requests."""
    loads = [
        dataclasses.replace(
            load,
            leases={stage: dataclasses.replace(lease, lease_id=1 << 40) for stage, lease in load.leases.items()},
        )
        if load.req_id in doomed
        else load
        for load in meta.step.loads
    ]
    return type(meta)(dataclasses.replace(meta.step, loads=loads))
