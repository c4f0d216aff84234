"""OrbitKVConnector: what vLLM loads.

    --kv-transfer-config '{"kv_connector": "OrbitKVConnector", "kv_connector_module_path": "orbitkv.vllm.connector",
                           "kv_role": "kv_both", "kv_load_failure_policy": "recompute",
                           "kv_connector_extra_config": {"socket": "/run/orbitkv.sock"}}'

One class for two jobs, as vLLM has it: an instance is the scheduler's or a worker's. Both may live in one process, so
there is no state but the instance's. The interface differs by version: what some versions lack is looked up, and methods
of newer ones do no harm to older ones, which never call them.
"""

from __future__ import annotations

import importlib
import inspect
import logging
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from orbitkv.settings import LAYERWISE, BadSetting, Settings
from orbitkv.vllm.engine import Blocks, Request, SchedulerOutput, nested, optional, shape_of
from orbitkv.vllm.messages import Report, StageFacts, Step
from orbitkv.vllm.scheduler import SchedulerSide, StoredBlocks
from orbitkv.vllm.stats import OrbitKVStats
from orbitkv.vllm.worker import WorkerSide

if TYPE_CHECKING:
    from orbitkv.vllm.upstream import (
        KVConnectorBase_V1,
        KVConnectorHandshakeMetadata,
        KVConnectorMetadata,
        KVConnectorRole,
        KVConnectorStats,
        KVConnectorWorkerMetadata,
        SupportsHMA,
    )
else:
    from vllm.distributed.kv_transfer.kv_connector.v1 import base as _base

    KVConnectorBase_V1 = _base.KVConnectorBase_V1
    KVConnectorMetadata = _base.KVConnectorMetadata
    KVConnectorRole = _base.KVConnectorRole
    # Not in every version.
    KVConnectorHandshakeMetadata = getattr(_base, "KVConnectorHandshakeMetadata", object)
    KVConnectorWorkerMetadata = getattr(_base, "KVConnectorWorkerMetadata", object)
    SupportsHMA = getattr(_base, "SupportsHMA", type("SupportsHMA", (), {}))

logger = logging.getLogger(__name__)

_BASE_MODULE = "vllm.distributed.kv_transfer.kv_connector.v1.base"


@dataclass
class OrbitKVMetadata(KVConnectorMetadata):
    step: Step


@dataclass
class OrbitKVHandshakeMetadata(KVConnectorHandshakeMetadata):
    facts: StageFacts


@dataclass
class OrbitKVWorkerMetadata(KVConnectorWorkerMetadata):
    report: Report

    def aggregate(self, other: KVConnectorWorkerMetadata) -> OrbitKVWorkerMetadata:
        if isinstance(other, OrbitKVWorkerMetadata):
            self.report.add(other.report)
        return self


class OrbitKVConnector(KVConnectorBase_V1, SupportsHMA):
    def __init__(self, vllm_config: Any, role: KVConnectorRole, kv_cache_config: Any = None) -> None:
        if kv_cache_config is None:
            raise BadSetting("this vLLM does not give connectors its KV cache configuration: it is too old for OrbitKV")
        if "kv_cache_config" in inspect.signature(KVConnectorBase_V1.__init__).parameters:
            super().__init__(vllm_config, role, kv_cache_config)
        else:
            cast("Any", super().__init__)(vllm_config, role)
        settings = Settings.of(_extra_config(vllm_config))
        shape = shape_of(vllm_config, kv_cache_config, settings)
        self._scheduler: SchedulerSide | None = None
        self._worker: WorkerSide | None = None
        if role.value == 0:
            _warn_of_random_hashes()
            _warn_of_failure_policy(vllm_config)
            events = nested(vllm_config, "kv_events_config.enable_kv_cache_events") is True
            self._scheduler = SchedulerSide(settings, shape, events)
        else:
            self._worker = WorkerSide(settings, shape)

    def _scheduling(self) -> SchedulerSide:
        if self._scheduler is None:
            raise RuntimeError("this is a worker's connector, not the scheduler's")
        return self._scheduler

    def _working(self) -> WorkerSide:
        if self._worker is None:
            raise RuntimeError("this is the scheduler's connector, not a worker's")
        return self._worker

    # What the connector is.

    @property
    def requires_kv_delivery(self) -> bool:
        """A cache: a save that is lost is a later miss."""
        return False

    @property
    def prefer_cross_layer_blocks(self) -> bool:
        return False

    @classmethod
    def get_required_kvcache_layout(cls, vllm_config: Any) -> str | None:
        """Any layout is registered as it is."""
        return None

    @classmethod
    def requires_piecewise_for_cudagraph(cls, extra_config: Mapping[str, Any]) -> bool:
        """The layer hooks are needed only while layers load under the forward pass."""
        return extra_config.get("load_mode") == LAYERWISE

    def get_finished_count(self) -> int | None:
        return None

    @classmethod
    def build_kv_connector_stats(cls, data: dict[str, Any] | None = None) -> KVConnectorStats | None:
        return OrbitKVStats(data if data is not None else {})

    # The scheduler's side.

    def bind_gpu_block_pool(self, gpu_block_pool: Any) -> None:
        null_block = nested(gpu_block_pool, "null_block.block_id")
        if isinstance(null_block, int):
            self._scheduling().bind_null_block(null_block)

    def on_new_request(self, request: Request) -> None:
        """Nothing is kept before the request is asked about."""

    def get_num_new_matched_tokens(self, request: Request, num_computed_tokens: int) -> tuple[int | None, bool]:
        return self._scheduling().matched_tokens(request, num_computed_tokens)

    def update_state_after_alloc(self, request: Request, blocks: Blocks, num_external_tokens: int) -> None:
        self._scheduling().allocated(request, blocks, num_external_tokens)

    def build_connector_meta(self, scheduler_output: SchedulerOutput) -> KVConnectorMetadata:
        return OrbitKVMetadata(self._scheduling().build_step(scheduler_output))

    def update_connector_output(self, connector_output: Any) -> None:
        meta = getattr(connector_output, "kv_connector_worker_meta", None)
        report = meta.report if isinstance(meta, OrbitKVWorkerMetadata) else Report()
        self._scheduling().report(
            report,
            optional(connector_output, "finished_recving", set, set[str]()),
            optional(connector_output, "invalid_block_ids", set, set[int]()),
        )

    def request_finished(self, request: Request, block_ids: list[int]) -> tuple[bool, dict[str, Any] | None]:
        return self.request_finished_all_groups(request, (block_ids,))

    def request_finished_all_groups(
        self, request: Request, block_ids: tuple[list[int], ...]
    ) -> tuple[bool, dict[str, Any] | None]:
        """Blocks may be freed at once: a step that overwrites one waits for the save that still reads it."""
        self._scheduling().finished(request.request_id)
        return False, None

    def take_events(self) -> Iterable[Any]:
        stored = self._scheduling().take_stored()
        return [_stored_event(blocks) for blocks in stored]

    def has_pending_push_work(self) -> bool:
        return False

    def has_pending_block_frees(self) -> bool:
        return False

    def reset_cache(self) -> bool | None:
        """Blocks belong to the namespace, not to this engine: `orbitkv evict` drops them."""
        return False

    def set_xfer_handshake_metadata(self, metadata: Mapping[int, KVConnectorHandshakeMetadata]) -> None:
        self._learn(metadata.values())

    def set_xfer_handshake_metadata_pp_aware(
        self, metadata: Mapping[tuple[int, int], KVConnectorHandshakeMetadata]
    ) -> None:
        self._learn(metadata.values())

    def _learn(self, metadata: Iterable[KVConnectorHandshakeMetadata]) -> None:
        known: dict[int, StageFacts] = {}
        for one in metadata:
            if isinstance(one, OrbitKVHandshakeMetadata) and known.setdefault(one.facts.stage, one.facts) != one.facts:
                raise BadSetting(f"ranks of pipeline stage {one.facts.stage} have registered different things")
        self._scheduling().learn(known)

    # A worker's side.

    def get_handshake_metadata(self) -> KVConnectorHandshakeMetadata | None:
        facts = self._working().facts
        return OrbitKVHandshakeMetadata(facts) if facts is not None else None

    def register_kv_caches(self, kv_caches: Mapping[str, Any]) -> None:
        self._working().register(kv_caches)

    def register_cross_layers_kv_cache(self, kv_cache: Any, attn_backend: Any) -> None:
        self._working().register_cross_layers(kv_cache)

    def set_host_xfer_buffer_ops(self, copy_operation: Any) -> None:
        """Pages are copied by the Manager."""

    def handle_preemptions(self, kv_connector_metadata: Any) -> None:
        """Before blocks are overwritten. Older versions pass request ids, and what is due follows with the binding."""
        if isinstance(kv_connector_metadata, OrbitKVMetadata):
            self._working().begin(kv_connector_metadata.step)

    def bind_connector_metadata(self, connector_metadata: KVConnectorMetadata) -> None:
        super().bind_connector_metadata(connector_metadata)
        if isinstance(connector_metadata, OrbitKVMetadata):
            self._working().begin(connector_metadata.step)

    def start_load_kv(self, forward_context: Any, **kwargs: Any) -> None:
        self._working().start_loads()

    def wait_for_layer_load(self, layer_name: str) -> None:
        self._working().wait_for_layer(layer_name)

    def save_kv_layer(self, layer_name: str, kv_layer: Any, attn_metadata: Any, **kwargs: Any) -> None:
        """A block is published whole, after its last layer: in wait_for_save."""

    def wait_for_save(self) -> None:
        """Begins the step's saves; they run on beside the next steps."""
        self._working().finish_compute()

    def finish_forward(self) -> None:
        self._working().finish_compute()

    def reset_capture_state(self) -> None:
        """Nothing of a graph's capture is kept."""

    def get_finished(self, finished_req_ids: set[str]) -> tuple[set[str] | None, set[str] | None]:
        received = self._working().take_received(finished_req_ids)
        return None, received or None

    def get_transfer_results(self, finished_req_ids: set[str] | None = None) -> Any:
        worker = self._working()
        received = worker.take_received(finished_req_ids or set())
        results = importlib.import_module(_BASE_MODULE).KVConnectorTransferResults
        return results(
            finished_sending=set[str](), finished_recving=received, failed_recving=worker.take_failed() & received
        )

    def get_block_ids_with_load_errors(self) -> set[int]:
        return self._working().take_invalid_blocks()

    def get_kv_connector_stats(self) -> KVConnectorStats | None:
        stats = OrbitKVStats(cast("dict[str, Any]", self._working().take_counters()))
        return None if stats.is_empty() else stats

    def get_kv_connector_kv_cache_events(self) -> Any:
        """The scheduler's side has them: they need tokens, which workers do not know."""
        return None

    def build_connector_worker_meta(self) -> KVConnectorWorkerMetadata | None:
        report = self._working().take_report()
        return None if report.empty else OrbitKVWorkerMetadata(report)

    # Both.

    def shutdown(self) -> None:
        for side in (self._scheduler, self._worker):
            if side is not None:
                side.close()


def _extra_config(vllm_config: Any) -> Mapping[str, object]:
    found = nested(vllm_config, "kv_transfer_config.kv_connector_extra_config")
    return cast("Mapping[str, object]", found) if isinstance(found, Mapping) else {}


def _warn_of_random_hashes() -> None:
    if os.environ.get("PYTHONHASHSEED") in (None, "", "random"):
        logger.warning(
            "OrbitKV: PYTHONHASHSEED is not set, so that vLLM's block hashes differ from process to process: this engine "
            "restores only what it has saved itself. Set PYTHONHASHSEED to the same number for every engine that shares."
        )


def _warn_of_failure_policy(vllm_config: Any) -> None:
    policy = nested(vllm_config, "kv_transfer_config.kv_load_failure_policy")
    if policy is not None and policy != "recompute":
        logger.warning(
            "OrbitKV: kv_load_failure_policy is %r: requests whose restore fails will fail. Set it to 'recompute'.", policy
        )


def _stored_event(blocks: StoredBlocks) -> Any:
    """vLLM's BlockStored, of which versions have different fields."""
    event: Any = importlib.import_module("vllm.distributed.kv_events").BlockStored
    names = getattr(event, "__struct_fields__", None) or inspect.signature(event).parameters
    fields: dict[str, object] = {
        "block_hashes": list(blocks.hashes),
        "parent_block_hash": blocks.parent_hash,
        "token_ids": list(blocks.token_ids),
        "block_size": blocks.page_tokens,
        "lora_id": blocks.lora_id,
        "medium": "EXTERNAL",
        "lora_name": blocks.lora_name,
    }
    return event(**{name: value for name, value in fields.items() if name in names})
