"""A worker's side: registers its pages, restores into them and publishes from them.

Two sessions: restores and the scheduler's leases go by the first, publishes by a second one, so that a save never stands
before a restore. Publishes start after the forward pass and run on beside the next steps; a step waits only for those
that still read blocks which it was handed to overwrite.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Mapping, Sequence

from orbitkv.client import OrbitClient
from orbitkv.geometry import TensorLike
from orbitkv.link import RegistrationRefused
from orbitkv.pages import GroupTensors, NamedTensor, PageBuffers, open_pages
from orbitkv.registration import Group, Registration, StateFormat
from orbitkv.results import ALREADY, NOT_STORED, STORED, Lease, Published, Restored
from orbitkv.settings import BadSetting, Settings, visible_name
from orbitkv.transfers import Transfer
from orbitkv.vllm.engine import EngineShape
from orbitkv.vllm.messages import LoadPlan, Report, SavePlan, StageFacts, Step
from orbitkv.wire.payloads import RestoreGroup

logger = logging.getLogger(__name__)

SUBMIT_SECONDS = 0.05
"""How long a publish may wait for a free slot before it is dropped."""


class _Load:
    """One request's restore into this rank's pages."""

    def __init__(self, plan: LoadPlan, groups: tuple[int, ...], transfer: Transfer | None) -> None:
        self.plan = plan
        self.groups = groups
        self.transfer = transfer
        """None where nothing could be begun: the load has failed."""
        self.settled = False

    @property
    def good(self) -> bool:
        return self.transfer is not None and self.transfer.good


class WorkerSide:
    """Belongs to the thread that drives the model."""

    def __init__(self, settings: Settings, shape: EngineShape) -> None:
        self._settings = settings
        self._shape = shape
        self._path = settings.require_socket()
        self._pages: PageBuffers | None = None
        self._client: OrbitClient | None = None
        self._saver: OrbitClient | None = None
        self.facts: StageFacts | None = None
        self._step: Step | None = None
        self._due_loads: list[LoadPlan] = []
        self._due_saves: list[SavePlan] = []
        self._loads: dict[str, _Load] = {}
        self._saves: list[tuple[SavePlan, Transfer]] = []
        self._report = Report()
        self._received: set[str] = set()
        self._failed: set[str] = set()
        self._invalid: set[int] = set()
        self._bad_requests: set[str] = set()
        self.counters: dict[str, int] = {}

    def _count(self, name: str, amount: int = 1) -> None:
        self.counters[name] = self.counters.get(name, 0) + amount

    # Registration.

    def register(self, caches: Mapping[str, TensorLike | Sequence[TensorLike]]) -> None:
        """Registers the pages of these layers. Fails where the Manager is not there or refuses."""
        groups: list[GroupTensors] = []
        for group in self._shape.groups:
            tensors: list[NamedTensor] = []
            for name in group.layer_names:
                found = caches.get(name)
                if found is None:
                    continue
                parts = found if isinstance(found, Sequence) else [found]
                tensors += [NamedTensor(name, part) for part in parts]
            if not tensors:
                raise BadSetting(f"the engine registered no pages for KV cache group {group.group_id}")
            groups.append(GroupTensors(group.group_id, self._shape.block_count, tensors))
        self._open(groups)

    def register_cross_layers(self, tensor: TensorLike) -> None:
        """Registers one tensor whose first dimension is the layers of the only group."""
        if len(self._shape.groups) != 1:
            raise BadSetting("a tensor of all layers goes with one KV cache group")
        group = self._shape.groups[0]
        tensors = [NamedTensor(name, tensor, index) for index, name in enumerate(group.layer_names)]
        self._open([GroupTensors(group.group_id, self._shape.block_count, tensors)])

    def _open(self, groups: Sequence[GroupTensors]) -> None:
        shape = self._shape
        pages = open_pages(groups, self._settings.ring)
        described = tuple(
            Group(
                group.group_id,
                group.component,
                group.page_tokens,
                group.rule,
                pages.bytes_per_block(group.group_id),
                group.window_tokens,
                group.replicated,
            )
            for group in shape.groups
        )
        state_format = StateFormat(shape.model_digest, shape.implementation, shape.dtype, pages.layout, shape.parallel)
        stages = shape.parallel.pipeline_parallel
        stage = f"/stage{shape.pipeline_rank}of{stages}" if stages > 1 else ""
        identity = f"{state_format}{described}"
        namespace = self._settings.namespace or f"vllm/{hashlib.sha256(identity.encode()).hexdigest()[:32]}"
        self.facts = StageFacts(
            shape.pipeline_rank,
            stages,
            shape.shards_per_stage,
            visible_name(shape.instance + stage, 128),
            visible_name(namespace + stage, 200),
            state_format,
            described,
        )
        registration = Registration(
            self.facts.instance,
            self.facts.namespace,
            state_format,
            described,
            pages.layers,
            pages.buffers,
            shape.tensor_rank,
            shape.shards_per_stage,
            staging=pages.staging,
        )
        try:
            self._client = OrbitClient.connect(registration, self._path)
        except BaseException:
            pages.close()
            raise
        self._pages = pages
        self._report.facts[shape.pipeline_rank] = self.facts

    def _ready(self) -> tuple[OrbitClient, PageBuffers]:
        if self._client is None or self._pages is None:
            raise RuntimeError("the engine has registered no pages with the OrbitKV connector")
        return self._client, self._pages

    def _save_client(self) -> OrbitClient | None:
        """The session for saves, opened with the first of them; None while there can be none."""
        if self._saver is None or self._saver.ended is not None:
            client, _ = self._ready()
            try:
                self._saver = client.attach_save()
            except (ConnectionError, RegistrationRefused):
                return None
        return self._saver

    # A step, in the engine's order.

    def begin(self, step: Step) -> None:
        """Before anything of the step is computed: waits for saves that read what the step overwrites.

        Several ranks may share one Step: it is not changed. Again with the same step does nothing.
        """
        if step is self._step:
            return
        self._step = step
        self._due_loads, self._due_saves = list(step.loads), list(step.saves)
        self._bad_requests.clear()
        for _, transfer in self._saves:
            if not transfer.pages.isdisjoint(step.overwritten):
                self._count("waits_for_saves")
                transfer.wait()
        self._settle_saves()

    def start_loads(self) -> None:
        """Begins the step's restores. Again does nothing."""
        loads, self._due_loads = self._due_loads, []
        for plan in loads:
            self._start_load(plan)

    def _start_load(self, plan: LoadPlan) -> None:
        client, pages = self._ready()
        granted = plan.leases.get(self._shape.pipeline_rank)
        if granted is None:
            self._loads[plan.req_id] = _Load(plan, (), None)
            return
        groups = [RestoreGroup(group_id, first, blocks) for group_id, first, blocks in granted.ranges]
        for group in groups:
            pages.before_restore(group.group_id, group.blocks)
        lease = Lease(granted.lease_id, granted.epoch, granted.session_id, granted.life_millis)
        pending = client.start_restore(
            lease,
            groups,
            request=visible_name(plan.req_id, 64),
            progress=not plan.asynchronous,
            timeout_seconds=self._settings.restore_timeout_ms / 1000,
        )
        transfer = Transfer(
            client,
            pending,
            [block for group in groups for block in group.blocks],
            self._settings.restore_timeout_ms,
            self._settings.drain_timeout_ms,
        )
        self._loads[plan.req_id] = _Load(plan, tuple(group.group_id for group in groups), transfer)

    def wait_for_layer(self, layer_name: str) -> None:
        """Until the step's synchronous restores have that layer in place. A failed one is reported, not raised."""
        _, pages = self._ready()
        for load in list(self._loads.values()):
            if load.plan.asynchronous or load.settled or load.transfer is None:
                continue
            count = pages.layers_until(layer_name, load.groups)
            # Mirrored pages are copied to the engine's own when the whole restore is there.
            if count and pages.direct and load.transfer.wait_layers(count):
                continue
            if count:
                load.transfer.wait()
                self._settle_load(load)

    def finish_compute(self) -> None:
        """After the forward pass: ends synchronous restores and begins the step's saves. Again does nothing."""
        for load in list(self._loads.values()):
            if not load.plan.asynchronous:
                if load.transfer is not None:
                    load.transfer.wait()
                self._settle_load(load)
        saves, self._due_saves = self._due_saves, []
        for plan in saves:
            if plan.req_id not in self._bad_requests:
                self._start_save(plan)

    def _start_save(self, plan: SavePlan) -> None:
        _, pages = self._ready()
        if self._shape.groups[plan.group_id].replicated and self._shape.tensor_rank != 0:
            return
        self._settle_saves()
        if len(self._saves) >= self._settings.max_pending_saves:
            self._count("saves_dropped")
            return
        client = self._save_client()
        if client is None or not client.connected:
            self._count("saves_dropped")
            return
        pages.before_publish(plan.group_id, plan.blocks)
        pending = client.start_publish(
            plan.group_id,
            plan.keys,
            plan.blocks,
            request=visible_name(plan.req_id, 64),
            timeout_seconds=SUBMIT_SECONDS,
        )
        transfer = Transfer(
            client, pending, plan.blocks, self._settings.restore_timeout_ms, self._settings.drain_timeout_ms
        )
        self._saves.append((plan, transfer))

    def _settle_saves(self) -> None:
        running: list[tuple[SavePlan, Transfer]] = []
        for plan, transfer in self._saves:
            if not transfer.poll():
                running.append((plan, transfer))
                continue
            answer = transfer.answer
            if isinstance(answer, Published):
                self._count("saved_blocks", answer.stored)
                self._count("saved_bytes", answer.stored_bytes)
                self._count("save_blocks_refused", answer.outcomes.count(NOT_STORED))
                if all(outcome in (STORED, ALREADY) for outcome in answer.outcomes):
                    self._report.stored[plan.save_id] = 1
            else:
                self._count("saves_failed")
        self._saves = running

    def _settle_load(self, load: _Load) -> bool:
        """Takes the outcome of a restore once; whether it is over."""
        if load.settled:
            return True
        if load.transfer is not None and not load.transfer.poll():
            return False
        load.settled = True
        _, pages = self._ready()
        plan = load.plan
        del self._loads[plan.req_id]
        answer = load.transfer.answer if load.transfer is not None else None
        if isinstance(answer, Restored):
            granted = plan.leases[self._shape.pipeline_rank]
            for group_id, _, blocks in granted.ranges:
                pages.after_restore(group_id, blocks)
            self._count("restored_requests")
            self._count("restored_bytes", answer.restored_bytes)
            self._report.restored[plan.req_id] = 1
        else:
            logger.warning("OrbitKV: the restore of request %s failed, it recomputes: %s", plan.req_id, answer)
            self._count("restores_failed")
            self._report.failed[plan.req_id] = 1
            self._invalid |= plan.invalid_if_failed
            self._failed.add(plan.req_id)
            self._bad_requests.add(plan.req_id)
        if plan.asynchronous:
            self._received.add(plan.req_id)
        return True

    # What the engine asks after a step.

    def take_received(self, finished: set[str]) -> set[str]:
        """Requests whose asynchronous restore is over, good or bad, each of them once. Cancels those of `finished`."""
        for load in list(self._loads.values()):
            if load.plan.asynchronous and not self._settle_load(load) and load.plan.req_id in finished:
                assert load.transfer is not None
                load.transfer.cancel()
        received, self._received = self._received, set()
        return received

    def take_failed(self) -> set[str]:
        """Those of the requests received that must not use what they got."""
        failed, self._failed = self._failed, set()
        return failed

    def take_invalid_blocks(self) -> set[int]:
        invalid, self._invalid = self._invalid, set()
        return invalid

    def take_report(self) -> Report:
        self._settle_saves()
        report, self._report = self._report, Report()
        return report

    def take_counters(self) -> dict[str, int]:
        counters, self.counters = self.counters, {}
        return counters

    def close(self) -> None:
        """Waits for what is under way and ends the sessions. The engine's pages are its own afterwards."""
        for load in self._loads.values():
            if load.transfer is not None:
                load.transfer.cancel()
                load.transfer.wait()
        for _, transfer in self._saves:
            transfer.wait()
        self._loads.clear()
        self._saves.clear()
        for client in (self._saver, self._client):
            if client is not None:
                client.close()
        self._saver = self._client = None
        if self._pages is not None:
            self._pages.close()
            self._pages = None
