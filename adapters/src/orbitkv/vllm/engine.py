"""What the adapter reads of vLLM's objects, and how it reads what only some versions have.

Protocols name the fields that every supported version has; `optional` reads the others.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar, cast

from orbitkv.registration import ParallelShape
from orbitkv.settings import BadSetting, Settings

T = TypeVar("T")


def optional(holder: object, name: str, kind: type[T], default: T) -> T:
    """An attribute that may be missing, None or of another type; then the default."""
    value = getattr(holder, name, None)
    return value if isinstance(value, kind) else default


def nested(holder: object, path: str) -> object:
    """`a.b.c` of an object; None where a part is missing."""
    for name in path.split("."):
        holder = getattr(holder, name, None)
    return holder


class Request(Protocol):
    request_id: str
    block_hashes: Sequence[object]
    num_tokens: int
    num_computed_tokens: int


class Blocks(Protocol):
    """KVCacheBlocks: all blocks of a request so far."""

    def get_block_ids(self) -> tuple[list[int], ...]: ...


class NewRequest(Protocol):
    req_id: str
    block_ids: Sequence[Sequence[int]]
    num_computed_tokens: int


class CachedRequests(Protocol):
    req_ids: Sequence[str]
    new_block_ids: Sequence[Sequence[Sequence[int]] | None]
    num_computed_tokens: Sequence[int]


class SchedulerOutput(Protocol):
    scheduled_new_reqs: Sequence[NewRequest]
    scheduled_cached_reqs: CachedRequests
    num_scheduled_tokens: dict[str, int]
    finished_req_ids: set[str]


def resumed_ids(cached: CachedRequests) -> set[str]:
    """Requests that come back from a preemption: their blocks are given anew, not added."""
    resumed = getattr(cached, "resumed_req_ids", None)
    if resumed is not None:
        return set(cast("set[str]", resumed))
    flags = cast("Sequence[bool]", getattr(cached, "resumed_from_preemption", ()))
    return {req_id for req_id, flag in zip(cached.req_ids, flags, strict=False) if flag}


@dataclass(frozen=True, slots=True)
class EngineGroup:
    """One of the engine's KV cache groups and the recovery rule that its kind has."""

    group_id: int
    layer_names: tuple[str, ...]
    component: str
    rule: str
    page_tokens: int
    window_tokens: int | None
    replicated: bool


@dataclass(frozen=True, slots=True)
class EngineShape:
    """What an engine's configuration says: the same in the scheduler and in every worker."""

    instance: str
    groups: tuple[EngineGroup, ...]
    block_count: int
    hash_tokens: int
    """Tokens per entry of Request.block_hashes."""
    parallel: ParallelShape
    tensor_rank: int
    pipeline_rank: int
    shards_per_stage: int
    model_digest: str
    implementation: str
    dtype: str

    @property
    def ranks(self) -> int:
        """Workers of the engine, over all stages."""
        return self.shards_per_stage * self.parallel.pipeline_parallel

    @property
    def alignment(self) -> int:
        """Boundaries are legal only at its multiples."""
        return math.lcm(*(group.page_tokens for group in self.groups))


# Rules by the name of a spec's class: newer kinds derive from these, so the class's bases are looked up too.
_PREFIX, _WINDOW, _CHECKPOINT = "PREFIX", "WINDOW", "CHECKPOINT"
_KINDS: dict[str, tuple[str, str]] = {
    "MLAAttentionSpec": ("MLA", _PREFIX),
    "SlidingWindowMLASpec": ("SWA", _WINDOW),
    "SlidingWindowSpec": ("SWA", _WINDOW),
    "ChunkedLocalAttentionSpec": ("SWA", _WINDOW),
    "MambaSpec": ("RECURRENT", _CHECKPOINT),
    "FullAttentionSpec": ("ATTENTION_KV", _PREFIX),
}


def _kind_of(spec: object) -> tuple[str, str, str]:
    for base in type(spec).__mro__:
        if base.__name__ in _KINDS:
            return base.__name__, *_KINDS[base.__name__]
    raise BadSetting(
        f"KV cache groups of kind {type(spec).__name__} have no recovery rule in OrbitKV; there are rules for: "
        + ", ".join(_KINDS)
    )


def _group(group_id: int, group: object, context_parallel: int) -> EngineGroup:
    spec = getattr(group, "kv_cache_spec", None)
    inner = getattr(spec, "kv_cache_specs", None)
    if isinstance(inner, dict) and inner:
        # UniformTypeKVCacheSpecs: layers of one kind whose sizes differ.
        spec = next(iter(cast("dict[str, object]", inner).values()))
    name, component, rule = _kind_of(spec)
    window = None
    if rule == _WINDOW:
        if name == "ChunkedLocalAttentionSpec":
            window = optional(spec, "attention_chunk_size", int, 0)
        else:
            # The first token after a boundary attends to itself and to this many before it.
            window = max(optional(spec, "sliding_window", int, 0) - 1, 1)
        if window < 1:
            raise BadSetting(f"group {group_id} is of kind {name} but names no window")
    elif rule == _CHECKPOINT:
        mode = getattr(spec, "mamba_cache_mode", "align")
        if mode == "none":
            raise BadSetting(
                f"group {group_id} keeps recurrent state without checkpoints (mamba_cache_mode none): start vLLM with "
                "--enable-prefix-caching --mamba-cache-mode align, or without the OrbitKV connector"
            )
    page_tokens = optional(spec, "block_size", int, 0) * context_parallel
    if page_tokens < 1:
        raise BadSetting(f"group {group_id} of kind {name} has no block size")
    replicated = component == "MLA" or name == "SlidingWindowMLASpec"
    layer_names = tuple(cast("Sequence[str]", getattr(group, "layer_names", ())))
    return EngineGroup(group_id, layer_names, component, rule, page_tokens, window, replicated and context_parallel == 1)


def shape_of(vllm_config: object, kv_cache_config: object, settings: Settings) -> EngineShape:
    """Reads the configuration. BadSetting says what OrbitKV cannot serve."""
    parallel = nested(vllm_config, "parallel_config")
    tensor = optional(parallel, "tensor_parallel_size", int, 1)
    pipeline = optional(parallel, "pipeline_parallel_size", int, 1)
    context = optional(parallel, "decode_context_parallel_size", int, 1) * optional(
        parallel, "prefill_context_parallel_size", int, 1
    )
    if optional(parallel, "nnodes", int, 1) > 1:
        raise BadSetting("the ranks of this engine are on several hosts: OrbitKV serves those of one host")
    rank = optional(parallel, "rank", int, 0) % (tensor * pipeline)
    found = cast("Sequence[object]", getattr(kv_cache_config, "kv_cache_groups", ()))
    groups = tuple(_group(index, group, context) for index, group in enumerate(found))
    if not groups:
        raise BadSetting("the engine has no KV cache groups: nothing can be cached")
    pages = [group.page_tokens for group in groups]
    hash_tokens = optional(nested(vllm_config, "cache_config"), "hash_block_size", int, 0) * context or math.gcd(*pages)
    if any(page % hash_tokens for page in pages):
        raise BadSetting(f"block sizes {pages} are no multiples of the {hash_tokens} tokens of a block hash")
    model = nested(vllm_config, "model_config")
    identity = [str(getattr(model, name, None)) for name in ("model", "revision", "quantization", "max_model_len")][:3]
    digest = settings.model_digest or "sha256:" + hashlib.sha256("\n".join(identity).encode()).hexdigest()
    cache_dtype = nested(vllm_config, "cache_config.cache_dtype")
    dtype = str(getattr(model, "dtype", "auto") if cache_dtype in (None, "auto") else cache_dtype)
    engine_id = settings.instance or str(nested(vllm_config, "kv_transfer_config.engine_id") or "")
    if not engine_id:
        raise BadSetting("the engine has no id: set `instance` in kv_connector_extra_config")
    algorithm = str(nested(vllm_config, "cache_config.prefix_caching_hash_algo") or "unknown")
    return EngineShape(
        instance=engine_id,
        groups=groups,
        block_count=optional(kv_cache_config, "num_blocks", int, 0),
        hash_tokens=hash_tokens,
        parallel=ParallelShape(tensor, pipeline, context, _kv_heads(model)),
        tensor_rank=rank % tensor,
        pipeline_rank=rank // tensor,
        shards_per_stage=tensor,
        model_digest=digest[-128:],
        implementation=f"vllm-{_version()}/{algorithm}"[:128],
        dtype=dtype.replace("torch.", "")[:64],
    )


def _kv_heads(model: object) -> int:
    ask = getattr(model, "get_total_num_kv_heads", None)
    heads = ask() if callable(ask) else 0
    return heads if isinstance(heads, int) else 0


def _version() -> str:
    import sys

    return ".".join(str(getattr(sys.modules.get("vllm"), "__version__", "unknown")).split(".")[:2])
