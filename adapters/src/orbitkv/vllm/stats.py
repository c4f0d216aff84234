"""The workers' counters in vLLM's form: sums over ranks and steps."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from orbitkv.vllm.upstream import KVConnectorStats
else:
    from vllm.distributed.kv_transfer.kv_connector.v1.metrics import KVConnectorStats


@dataclass
class OrbitKVStats(KVConnectorStats):
    """saved_blocks, saved_bytes, save_blocks_refused, saves_dropped, saves_failed, waits_for_saves, restored_requests,
    restored_bytes and restores_failed since the last interval."""

    data: dict[str, Any] = field(default_factory=dict[str, Any])

    def reset(self) -> None:
        self.data = {}

    def aggregate(self, other: KVConnectorStats) -> OrbitKVStats:
        for name, value in other.data.items():
            self.data[name] = cast("int", self.data.get(name, 0)) + value
        return self

    def reduce(self) -> dict[str, int | float]:
        return dict(self.data)

    def is_empty(self) -> bool:
        return not any(self.data.values())
