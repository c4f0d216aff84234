"""vLLM's base classes as the type checker sees them where vLLM is not installed. Never imported at run time."""

from __future__ import annotations

import enum
from typing import Any


class KVConnectorRole(enum.Enum):
    SCHEDULER = 0
    WORKER = 1


class KVConnectorMetadata: ...


class KVConnectorHandshakeMetadata: ...


class KVConnectorWorkerMetadata: ...


class SupportsHMA: ...


class KVConnectorStats:
    data: dict[str, Any]


class KVConnectorBase_V1:
    def __init__(self, vllm_config: Any, role: KVConnectorRole, kv_cache_config: Any) -> None: ...
    def bind_connector_metadata(self, connector_metadata: KVConnectorMetadata) -> None: ...
    def clear_connector_metadata(self) -> None: ...
