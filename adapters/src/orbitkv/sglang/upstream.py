"""SGLang's base classes as the type checker sees them where SGLang is not installed. Never imported at run time."""

from __future__ import annotations

from typing import Any


class UnifiedCacheLinker:
    layer_done_counter: object


class HiCacheStorage:
    def register_mem_pool_host(self, mem_pool_host: Any) -> None: ...
