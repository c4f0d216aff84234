"""SGLang's device pools as groups of pages, with the recovery rule of each kind.

Pools are known by the tensors that they hold. One whose tensors are not known is refused: pages that are not registered
whole would come back in part.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from orbitkv.geometry import TensorLike
from orbitkv.pages import GroupTensors, NamedTensor
from orbitkv.settings import BadSetting

KV, SWA, MAMBA, INDEXER = "kv", "swa", "mamba", "indexer"


@dataclass(frozen=True, slots=True)
class Pool:
    """One pool: the name that its transfers have, and how its indices name pages."""

    name: str
    component: str
    rule: str
    window_tokens: int | None
    replicated: bool
    rows_per_index_page: int
    """Indices per page in a transfer: the page's tokens, or 1 where an index is a slot."""
    tensors: GroupTensors


def pools_of(kvcache: Any, request_pool: Any, page_size: int, components: set[str], window: int | None) -> list[Pool]:
    """The pools of these components of the tree (`full`, `swa`, `mamba`). BadSetting says what is not known."""
    unknown = components - {"full", "swa", "mamba"}
    if unknown:
        raise BadSetting(f"OrbitKV has no recovery rule for the components {sorted(unknown)} of SGLang's tree")
    full = getattr(kvcache, "full_kv_pool", kvcache)
    pools = [_attention(0, KV, full, page_size, None, _model_layers(kvcache, swa=False))]
    if "swa" in components:
        if not window:
            raise BadSetting("the model has sliding windows, but SGLang names no window")
        swa = getattr(kvcache, "swa_kv_pool", None)
        pools.append(_attention(1, SWA, swa, page_size, window, _model_layers(kvcache, swa=True)))
    if "mamba" in components:
        pools.append(_recurrent(2, request_pool))
    indexer = getattr(full, "index_k_with_scale_buffer", None)
    if indexer is not None:
        rows = _tensors(indexer, "index_k_with_scale_buffer")
        named = [NamedTensor(f"layers.{layer}", tensor, None, 1) for layer, tensor in enumerate(rows)]
        tensors = GroupTensors(3, min(int(tensor.shape[0]) for tensor in rows), named)
        pools.append(Pool(INDEXER, "INDEXER", "PREFIX", None, True, page_size, tensors))
    return pools


def _tensors(found: object, name: str) -> list[TensorLike]:
    if not isinstance(found, Sequence) or not found:
        raise BadSetting(f"a pool of SGLang's has no list of tensors {name}: its representation is not known to OrbitKV")
    return list(cast("Sequence[TensorLike]", found))


def _model_layers(kvcache: Any, *, swa: bool) -> dict[int, int] | None:
    """The model's layer of each of a pool's layers; None where SGLang does not say."""
    mapping = getattr(kvcache, "layers_mapping", None)
    if not isinstance(mapping, Mapping):
        return None
    known = cast("Mapping[int, tuple[int, bool]]", mapping)
    return {local: layer for layer, (local, is_swa) in known.items() if bool(is_swa) == swa}


def _attention(
    group_id: int, name: str, pool: Any, page_size: int, window: int | None, layers: dict[int, int] | None
) -> Pool:
    latent = getattr(pool, "kv_buffer", None)
    parts = (
        [_tensors(latent, "kv_buffer")]
        if latent is not None
        else [_tensors(getattr(pool, part, None), part) for part in ("k_buffer", "v_buffer")]
    )
    named: list[NamedTensor] = []
    for part in parts:
        for local, tensor in enumerate(part):
            # A layer that is not known is restored with the first one, so that it is never waited for too late.
            layer = local if layers is None and name == KV else (layers or {}).get(local, 0)
            named.append(NamedTensor(f"layers.{layer}", tensor, None, page_size))
    rows = min(int(tensor.shape[0]) for part in parts for tensor in part)
    component = "SWA" if name == SWA else "MLA" if latent is not None else "ATTENTION_KV"
    rule = "PREFIX" if window is None else "WINDOW"
    tensors = GroupTensors(group_id, rows // page_size, named)
    return Pool(name, component, rule, window, latent is not None, page_size, tensors)


def _recurrent(group_id: int, request_pool: Any) -> Pool:
    """Convolution and recurrent state: one checkpoint, sealed as one."""
    cache = getattr(getattr(request_pool, "mamba_pool", None), "mamba_cache", None)
    conv, temporal = getattr(cache, "conv", None), getattr(cache, "temporal", None)
    if temporal is None or conv is None:
        raise BadSetting("SGLang's recurrent state has no tensors `conv` and `temporal` that OrbitKV knows")
    convs = _tensors(cast("object", conv), "conv") if isinstance(conv, Sequence) else [cast("TensorLike", conv)]
    tensors = [*convs, cast("TensorLike", temporal)]
    named = [
        # Each tensor has all layers; they are restored before the first one is used.
        NamedTensor("layers.0", tensor, layer, 1)
        for tensor in tensors
        for layer in range(int(tensor.shape[0]))
    ]
    slots = min(int(tensor.shape[1]) for tensor in tensors)
    return Pool(MAMBA, "RECURRENT", "CHECKPOINT", None, False, 1, GroupTensors(group_id, slots, named))


def pages_of(indices: Any, rows_per_page: int) -> list[int] | None:
    """Page numbers of a transfer's indices; None where they are not whole, aligned pages."""
    rows = [int(row) for row in (indices.tolist() if hasattr(indices, "tolist") else indices)]
    if len(rows) % rows_per_page:
        return None
    pages: list[int] = []
    for first in range(0, len(rows), rows_per_page):
        row = rows[first]
        if row % rows_per_page or rows[first : first + rows_per_page] != list(range(row, row + rows_per_page)):
            return None
        pages.append(row // rows_per_page)
    return pages


def key_bytes(key: str) -> bytes:
    """SGLang's page key as the Manager takes it: 1 to 64 bytes."""
    try:
        raw = bytes.fromhex(key)
    except ValueError:
        raw = key.encode()
    if not 1 <= len(raw) <= 64:
        raise ValueError(f"a page key of {len(raw)} bytes: OrbitKV takes 1 to 64")
    return raw
