"""The scheduler's side: which prefixes can be restored, which blocks are worth saving, and when neither is safe.

Lookups never wait longer than `lookup_inline_ms`; one that has no answer yet parks its request (`None`) until the next
step. While an admitted restore has not reached its first compute step no other lookup is admitted: a request that then
could not get blocks would stand before the restored one in the queue, and both would wait for ever.

Block ids are handed to the workers only for blocks that are whole after the step, by the hashes of the request: tokens
of a speculative draft have none. What a request computes on top of a restore whose outcome is not known yet is not saved
before every rank has reported it good, else bytes computed from garbage could be sealed.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from orbitkv.client import OrbitClient
from orbitkv.link import RegistrationRefused
from orbitkv.registration import QUERY, Registration
from orbitkv.results import Lease, Ready
from orbitkv.settings import LAYERWISE, Settings, visible_name
from orbitkv.vllm.engine import Blocks, EngineShape, Request, SchedulerOutput, nested, optional, resumed_ids
from orbitkv.lookup import SUBMIT_SECONDS, Lookup
from orbitkv.vllm.messages import LoadPlan, Report, SavePlan, StageFacts, StageLease, Step

logger = logging.getLogger(__name__)

MAX_KEYS, MAX_KEY_BYTES = 32_000, 1_000_000
"""Keys of one query, and their bytes: a little below what a slot of the channel holds."""
MAX_KEYS_OF_A_SAVE = 8192
MAX_SAVES_TO_REPORT = 4096
"""Saves whose outcome is awaited for the engine's KV events; the oldest is forgotten beyond this."""


@dataclass
class StoredBlocks:
    """Blocks of group 0 that every rank has put into the cache."""

    hashes: tuple[bytes, ...]
    parent_hash: bytes | None
    token_ids: tuple[int, ...]
    page_tokens: int
    lora_id: int | None
    lora_name: str | None
    ranks_missing: int


@dataclass
class _Tracked:
    """A request as the connector knows it."""

    request: Request
    blocks: list[list[int]]
    saved: list[int]
    """Per group: pages from the first on that need no saving any more."""
    lookup: Lookup | None = None
    admitted: bool = False
    """Its restore runs outside the batch, and it has not computed since."""
    unproven_from: int | None = None
    """First token of a restore that not every rank has reported good."""
    restored_ranks: int = 0
    leases: list[tuple[int, Lease]] = field(default_factory=list[tuple[int, Lease]])


class SchedulerSide:
    """Belongs to the scheduler's thread."""

    def __init__(self, settings: Settings, shape: EngineShape, events: bool = False) -> None:
        self._settings = settings
        self._shape = shape
        self._path = settings.require_socket()
        self._clients: dict[int, OrbitClient] = {}
        self._facts: dict[int, StageFacts] = {}
        self._tracked: dict[str, _Tracked] = {}
        self._admitted: set[str] = set()
        self._step = Step()
        self._null_block = 0
        self._next_save_id = 1
        self._events_wanted = events
        self._awaited: dict[int, StoredBlocks] = {}
        self._stored: list[StoredBlocks] = []
        self._warned: set[str] = set()

    # What the workers have registered.

    def learn(self, facts: Mapping[int, StageFacts]) -> None:
        """Takes what stages have registered; with the last of them the sessions for queries are opened.

        Raises what OrbitClient.connect raises.
        """
        self._facts.update(facts)
        stage_count = next(iter(self._facts.values())).stage_count if self._facts else 0
        if self._clients or len(self._facts) < max(stage_count, 1):
            return
        clients: dict[int, OrbitClient] = {}
        try:
            for stage, known in sorted(self._facts.items()):
                clients[stage] = self._connect(known)
        except BaseException:
            for client in clients.values():
                client.close()
            raise
        self._clients = clients

    def _connect(self, known: StageFacts) -> OrbitClient:
        registration = Registration(
            known.instance,
            known.namespace,
            known.format,
            known.groups,
            shard_count=known.shard_count,
            role=QUERY,
        )
        return OrbitClient.connect(registration, self._path)

    def bind_null_block(self, block_id: int) -> None:
        """The block that stands for "none" in lists of blocks."""
        self._null_block = block_id

    # Lookups.

    def matched_tokens(self, request: Request, num_computed_tokens: int) -> tuple[int | None, bool]:
        """How many tokens beyond those can be restored, or None while that is not known; whether outside the batch."""
        tracked = self._track(request)
        if tracked.admitted:
            return 0, False
        lookup = tracked.lookup
        if lookup is not None and (lookup.start_token != num_computed_tokens or not lookup.fresh):
            self._drop_lookup(tracked)
            lookup = None
        if lookup is None:
            limit = self._limit(request, num_computed_tokens)
            if limit is None:
                return 0, False
            if self._admitted:
                return None, False
            lookup = tracked.lookup = Lookup(
                self._clients,
                visible_name(request.request_id, 64),
                num_computed_tokens,
                limit,
                lambda until: self._keys(request, num_computed_tokens, until),
                self._settings.lookup_timeout_ms,
            )
        boundary = lookup.advance(self._settings.lookup_inline_ms / 1000)
        if boundary is None or self._admitted:
            # Also one that was asked before the restore was admitted.
            return None, False
        found = boundary - num_computed_tokens
        return found, found > 0 and self._settings.load_mode != LAYERWISE

    def _limit(self, request: Request, start: int) -> int | None:
        """The longest boundary worth asking for; None where there is nothing to ask."""
        if not self._clients or start % self._shape.alignment:
            return None
        if optional(request, "skip_reading_prefix_cache", bool, False):
            return None
        if not self._hashes_fit(request):
            return None
        # At least one token is left to compute.
        limit = min(request.num_tokens - 1, len(request.block_hashes) * self._shape.hash_tokens)
        limit = min(limit - limit % self._shape.alignment, start + self._most_tokens(request))
        return limit if limit > start else None

    def _most_tokens(self, request: Request) -> int:
        """What one query has room for."""
        alignment = self._shape.alignment
        keys = sum(alignment // group.page_tokens for group in self._shape.groups)
        hash_bytes = len(request.block_hashes[0]) if isinstance(request.block_hashes[0], bytes) else 1
        return alignment * min(MAX_KEYS // keys, MAX_KEY_BYTES // (keys * hash_bytes))

    def _hashes_fit(self, request: Request) -> bool:
        """Whether the request's hashes are bytes and as many as `hash_tokens` says: else none could be told apart."""
        count = len(request.block_hashes)
        if not count:
            return False
        expected = request.num_tokens // self._shape.hash_tokens
        if count <= expected and isinstance(request.block_hashes[0], bytes) and (count == expected or self._seen(request)):
            return True
        self._warn(
            "hashes",
            f"a request of {request.num_tokens} tokens has {count} block hashes of {type(request.block_hashes[0]).__name__}, "
            f"where {expected} of bytes were expected: it goes on without OrbitKV",
        )
        return False

    def _seen(self, request: Request) -> bool:
        """Whether it has computed before: its last tokens may have no hash yet."""
        return request.num_computed_tokens > 0 or optional(request, "num_preemptions", int, 0) > 0

    def _page_keys(self, request: Request, page_tokens: int, first: int, end: int) -> list[bytes]:
        scale = page_tokens // self._shape.hash_tokens
        hashes = request.block_hashes
        keys = [hashes[(page + 1) * scale - 1] for page in range(first, end)]
        return [key for key in keys if isinstance(key, bytes)]

    def _keys(self, request: Request, start: int, until: int) -> dict[int, list[bytes]]:
        return {
            group.group_id: self._page_keys(
                request, group.page_tokens, start // group.page_tokens, until // group.page_tokens
            )
            for group in self._shape.groups
        }

    # Restores.

    def allocated(self, request: Request, blocks: Blocks, num_external_tokens: int) -> None:
        """The engine has given the request blocks, so many tokens of them to be restored."""
        tracked = self._track(request)
        tracked.blocks = [list(ids) for ids in blocks.get_block_ids()]
        lookup = tracked.lookup
        if num_external_tokens == 0:
            self._drop_lookup(tracked)
            return
        if lookup is None or lookup.boundary is None:
            raise RuntimeError(f"blocks for a restore of {request.request_id}, of which nothing was promised")
        tracked.lookup = None
        boundary = lookup.start_token + num_external_tokens
        invalid = self._blocks_from(tracked, lookup.start_token, boundary)
        asynchronous = self._settings.load_mode != LAYERWISE
        leases: dict[int, StageLease] = {}
        if boundary == lookup.boundary:
            leases = {stage: self._stage_lease(tracked, ready) for stage, ready in lookup.ready.items()}
        # Otherwise the engine took less than it was offered: that is no boundary of this lease, and the load fails.
        tracked.leases = [(stage, ready.lease) for stage, ready in lookup.ready.items()]
        tracked.unproven_from, tracked.restored_ranks = lookup.start_token, 0
        for group in self._shape.groups:
            tracked.saved[group.group_id] = max(tracked.saved[group.group_id], boundary // group.page_tokens)
        if asynchronous:
            tracked.admitted = True
            self._admitted.add(request.request_id)
        self._step.loads.append(LoadPlan(request.request_id, leases, invalid, asynchronous))
        self._step.overwritten |= invalid

    def _stage_lease(self, tracked: _Tracked, ready: Ready) -> StageLease:
        lease = ready.lease
        ranges: list[tuple[int, int, tuple[int, ...]]] = []
        for group_id, from_token, to_token, _ in ready.groups:
            page = self._shape.groups[group_id].page_tokens
            blocks = tracked.blocks[group_id][from_token // page : to_token // page]
            # Pages that the engine gave no block are pages that it does not need, before its window for example.
            given = [index for index, block in enumerate(blocks) if block != self._null_block]
            first = given[0] if given else len(blocks)
            if first < len(blocks):
                ranges.append((group_id, from_token + first * page, tuple(blocks[first:])))
        return StageLease(lease.lease_id, lease.epoch, lease.session_id, lease.life_millis, tuple(ranges))

    def _blocks_from(self, tracked: _Tracked, start: int, end: int) -> frozenset[int]:
        blocks: set[int] = set()
        for group in self._shape.groups:
            pages = slice(start // group.page_tokens, -(-end // group.page_tokens))
            blocks.update(tracked.blocks[group.group_id][pages])
        blocks.discard(self._null_block)
        return frozenset(blocks)

    # Steps.

    def build_step(self, output: SchedulerOutput) -> Step:
        """What the workers are to do in this step."""
        for client in self._clients.values():
            # Takes in answers of lookups that were given up, which gives back what they got.
            client.drain(0)
        step, self._step = self._step, Step()
        overwritten = set(step.overwritten)
        for req_id in optional(output, "preempted_req_ids", set, set[str]()):
            self._preempted(str(req_id))
        totals: list[tuple[_Tracked, int]] = []
        for new in output.scheduled_new_reqs:
            tracked = self._tracked.get(new.req_id)
            if tracked is not None:
                tracked.blocks = [list(ids) for ids in new.block_ids]
                for group in self._shape.groups:
                    overwritten.update(tracked.blocks[group.group_id][new.num_computed_tokens // group.page_tokens :])
                totals.append((tracked, new.num_computed_tokens))
            else:
                overwritten.update(block for ids in new.block_ids for block in ids)
        cached = output.scheduled_cached_reqs
        resumed = resumed_ids(cached)
        for index, req_id in enumerate(cached.req_ids):
            given = cached.new_block_ids[index]
            for ids in given or ():
                overwritten.update(ids)
            tracked = self._tracked.get(req_id)
            if tracked is None:
                continue
            if given is not None:
                if req_id in resumed:
                    tracked.blocks = [list(ids) for ids in given]
                else:
                    for mine, ids in zip(tracked.blocks, given, strict=True):
                        mine.extend(ids)
            totals.append((tracked, cached.num_computed_tokens[index]))
        for tracked, computed in totals:
            req_id = tracked.request.request_id
            self._reached_compute(tracked)
            step.saves += self._saves(tracked, computed + output.num_scheduled_tokens.get(req_id, 0))
        overwritten.discard(self._null_block)
        step.overwritten = frozenset(overwritten)
        for req_id in output.finished_req_ids:
            self.finished(req_id)
        return step

    def _reached_compute(self, tracked: _Tracked) -> None:
        if tracked.admitted:
            tracked.admitted = False
            self._admitted.discard(tracked.request.request_id)

    def _preempted(self, req_id: str) -> None:
        tracked = self._tracked.get(req_id)
        if tracked is not None:
            tracked.blocks = [[] for _ in self._shape.groups]
            self._drop_lookup(tracked)

    def _saves(self, tracked: _Tracked, total_tokens: int) -> list[SavePlan]:
        request = tracked.request
        if not self._clients or tracked.unproven_from is not None or not self._hashes_are_bytes(request):
            return []
        hashed = min(len(request.block_hashes), optional(request, "num_publishable_block_hashes", int, 1 << 62))
        whole = min(total_tokens, hashed * self._shape.hash_tokens)
        plans: list[SavePlan] = []
        for group in self._shape.groups:
            blocks = tracked.blocks[group.group_id]
            first, end = tracked.saved[group.group_id], min(whole // group.page_tokens, len(blocks))
            pages = [page for page in range(first, end) if blocks[page] != self._null_block]
            tracked.saved[group.group_id] = max(first, end)
            if not pages:
                continue
            keys = self._page_keys(request, group.page_tokens, first, end)
            for start in range(0, len(pages), MAX_KEYS_OF_A_SAVE):
                part = pages[start : start + MAX_KEYS_OF_A_SAVE]
                plan = SavePlan(
                    self._next_save_id,
                    request.request_id,
                    group.group_id,
                    tuple(keys[page - first] for page in part),
                    tuple(blocks[page] for page in part),
                )
                self._next_save_id += 1
                plans.append(plan)
                if self._events_wanted and group.group_id == 0:
                    self._await_event(plan, tracked, part)
        return plans

    def _hashes_are_bytes(self, request: Request) -> bool:
        return not request.block_hashes or isinstance(request.block_hashes[0], bytes)

    # What the workers report.

    def report(self, report: Report, received: Collection[str], invalid_blocks: Collection[int]) -> None:
        """Takes what the workers report of a step, summed over ranks, and what the engine made of it."""
        if report.facts:
            try:
                self.learn(report.facts)
            except (ConnectionError, RegistrationRefused) as e:
                self._warn("learn", f"the scheduler's session could not be opened, nothing will be restored: {e}")
        failed = set(report.failed)
        if invalid_blocks:
            invalid = set(invalid_blocks)
            for req_id, tracked in self._tracked.items():
                if tracked.unproven_from is not None and any(not invalid.isdisjoint(ids) for ids in tracked.blocks):
                    failed.add(req_id)
        for req_id in failed:
            self._failed(req_id)
        for req_id, count in report.restored.items():
            tracked = self._tracked.get(req_id)
            if tracked is not None and req_id not in failed:
                tracked.restored_ranks += count
                if tracked.restored_ranks >= self._shape.ranks:
                    self._proven(tracked)
        for req_id in received:
            # Every rank has ended its restore, and errors come no later than that.
            tracked = self._tracked.get(req_id)
            if tracked is not None:
                self._proven(tracked)
        for save_id, count in report.stored.items():
            awaited = self._awaited.get(save_id)
            if awaited is not None:
                awaited.ranks_missing -= count
                if awaited.ranks_missing <= 0:
                    self._stored.append(self._awaited.pop(save_id))

    def _failed(self, req_id: str) -> None:
        tracked = self._tracked.get(req_id)
        if tracked is None or tracked.unproven_from is None:
            return
        for group in self._shape.groups:
            first = tracked.unproven_from // group.page_tokens
            tracked.saved[group.group_id] = min(tracked.saved[group.group_id], first)
        tracked.unproven_from = None
        self._release(tracked)

    def _proven(self, tracked: _Tracked) -> None:
        tracked.unproven_from = None
        self._release(tracked)

    # The end of requests.

    def finished(self, req_id: str) -> None:
        """The request is over, wherever it was. A restore that is under way ends by itself."""
        tracked = self._tracked.pop(req_id, None)
        if tracked is not None:
            self._admitted.discard(req_id)
            self._drop_lookup(tracked)
            self._release(tracked)

    def close(self) -> None:
        """Gives everything back and ends the sessions."""
        for req_id in list(self._tracked):
            self.finished(req_id)
        for client in self._clients.values():
            client.close()
        self._clients.clear()

    # KV events.

    def take_stored(self) -> list[StoredBlocks]:
        """Blocks that have become restorable since the last call."""
        stored, self._stored = self._stored, []
        return stored

    def _await_event(self, plan: SavePlan, tracked: _Tracked, pages: Sequence[int]) -> None:
        group = self._shape.groups[plan.group_id]
        tokens = getattr(tracked.request, "all_token_ids", None) or getattr(tracked.request, "prompt_token_ids", None)
        first, end = pages[0], pages[-1] + 1
        if tokens is None or end - first != len(pages):
            return
        parent = self._page_keys(tracked.request, group.page_tokens, first - 1, first) if first else []
        while len(self._awaited) >= MAX_SAVES_TO_REPORT:
            del self._awaited[next(iter(self._awaited))]
        self._awaited[plan.save_id] = StoredBlocks(
            plan.keys,
            parent[0] if parent else None,
            tuple(tokens[first * group.page_tokens : end * group.page_tokens]),
            group.page_tokens,
            getattr(nested(tracked.request, "lora_request"), "adapter_id", None),
            getattr(nested(tracked.request, "lora_request"), "name", None),
            len(self._clients) if group.replicated else self._shape.ranks,
        )

    # Bookkeeping.

    def _track(self, request: Request) -> _Tracked:
        tracked = self._tracked.get(request.request_id)
        if tracked is None:
            count = len(self._shape.groups)
            tracked = _Tracked(request, [[] for _ in range(count)], [0] * count)
            self._tracked[request.request_id] = tracked
        return tracked

    def _drop_lookup(self, tracked: _Tracked) -> None:
        if tracked.lookup is not None:
            tracked.lookup.drop()
            tracked.lookup = None

    def _release(self, tracked: _Tracked) -> None:
        for stage, lease in tracked.leases:
            if stage in self._clients:
                self._clients[stage].release(lease, SUBMIT_SECONDS)
        tracked.leases.clear()

    def _warn(self, what: str, message: str) -> None:
        if what not in self._warned:
            self._warned.add(what)
            logger.warning("OrbitKV: %s", message)
