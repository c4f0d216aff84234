"""A Llama with random weights whose KV cache lies in pages, as an engine's does.

Prompts are computed in two pieces: a prefix of whole pages, and a suffix that attends to the prefix as it lies in the
pages. Who restores a prefix computes the same suffix with the same kernels, so that its logits must be the same bits.
"""

from __future__ import annotations

import hashlib
import importlib
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from orbitkv import Group
from orbitkv.pages import GroupTensors, NamedTensor
from qualify.common import PagedEngine, torch_module

PAGE_TOKENS = 16
VOCABULARY = 32_000


@dataclass(frozen=True, slots=True)
class ModelShape:
    hidden: int
    inner: int
    layers: int
    heads: int
    kv_heads: int

    @property
    def head_size(self) -> int:
        return self.hidden // self.heads


SHAPES = {"1b": ModelShape(2048, 8192, 16, 32, 8), "8b": ModelShape(4096, 14_336, 32, 32, 8)}


class PagedModel:
    def __init__(self, name: str, block_count: int) -> None:
        self.torch: Any = torch_module()
        torch = self.torch
        transformers: Any = importlib.import_module("transformers")
        self._cache_class: Any = transformers.DynamicCache
        self.name, self.shape, self.block_count = name, SHAPES[name], block_count
        shape = self.shape
        config = transformers.LlamaConfig(
            hidden_size=shape.hidden,
            intermediate_size=shape.inner,
            num_hidden_layers=shape.layers,
            num_attention_heads=shape.heads,
            num_key_value_heads=shape.kv_heads,
            vocab_size=VOCABULARY,
            max_position_embeddings=65_536,
            tie_word_embeddings=False,
        )
        config._attn_implementation = "sdpa"
        torch.manual_seed(0)
        torch.cuda.manual_seed_all(0)
        torch.set_default_dtype(torch.bfloat16)
        with torch.device("cuda"):
            self._model = transformers.LlamaForCausalLM(config).eval()
        torch.set_default_dtype(torch.float32)
        inner = (2, block_count, PAGE_TOKENS, shape.kv_heads, shape.head_size)
        self.pages = [torch.zeros(inner, dtype=torch.bfloat16, device="cuda") for _ in range(shape.layers)]

    @property
    def parameters(self) -> int:
        return sum(parameter.numel() for parameter in self._model.parameters())

    def weights_digest(self) -> str:
        """Of some weights of every layer: two processes must have drawn the same."""
        digest = hashlib.sha256()
        for parameter in self._model.parameters():
            part = parameter.detach().flatten()[:4096].contiguous().view(self.torch.uint8)
            digest.update(part.cpu().numpy().tobytes())
        return digest.hexdigest()

    def engine(self, socket_path: str, role: str) -> PagedEngine:
        named = [NamedTensor(f"model.layers.{layer}", tensor) for layer, tensor in enumerate(self.pages)]
        group = Group(0, "ATTENTION_KV", PAGE_TOKENS, "PREFIX", 0)
        tensors = GroupTensors(0, self.block_count, named)
        return PagedEngine(socket_path, f"model-{self.name}/{role}", [(group, tensors)], None, f"model-{self.name}")

    def _tokens(self, tokens: Sequence[int]) -> Any:
        return self.torch.tensor([list(tokens)], dtype=self.torch.int64, device="cuda")

    def prefill(self, tokens: Sequence[int], blocks: Sequence[int]) -> None:
        """Computes whole pages of tokens from nothing and puts their KV into these blocks."""
        torch = self.torch
        with torch.inference_mode():
            cache = self._cache_class()
            self._model(self._tokens(tokens), past_key_values=cache, use_cache=True, logits_to_keep=1)
            at = torch.tensor(list(blocks), device="cuda")
            for layer, pages in enumerate(self.pages):
                for part, found in enumerate(_layer_of(cache, layer)):
                    # (1, heads, tokens, size) to (pages, tokens of a page, heads, size).
                    rows = found[0].transpose(0, 1)
                    pages[part][at] = rows.reshape(len(blocks), PAGE_TOKENS, *rows.shape[1:])

    def first_token_without_cache(self, tokens: Sequence[int]) -> int:
        with self.torch.inference_mode():
            logits = self._model(self._tokens(tokens), use_cache=True, logits_to_keep=1).logits
            return int(logits[0, -1].argmax().item())

    def suffix_logits(self, suffix: Sequence[int], blocks: Sequence[int], keep: int = 0) -> Any:
        """Logits of the suffix's last `keep` tokens (0: of all), after the prefix that lies in these blocks."""
        torch = self.torch
        with torch.inference_mode():
            at = torch.tensor(list(blocks), device="cuda")
            cache = self._cache_class()
            for layer, pages in enumerate(self.pages):
                rows = pages[:, at].flatten(1, 2).transpose(1, 2)  # (K and V, heads, tokens, size)
                cache.update(rows[0:1].contiguous(), rows[1:2].contiguous(), layer)
            return self._model(
                self._tokens(suffix), past_key_values=cache, use_cache=True, logits_to_keep=keep
            ).logits[0]


def _layer_of(cache: Any, layer: int) -> tuple[Any, Any]:
    """Keys and values of a layer; where they are differs between versions of transformers."""
    layers = getattr(cache, "layers", None)
    if layers is not None:
        return layers[layer].keys, layers[layer].values
    return cache.key_cache[layer], cache.value_cache[layer]


def digest_of(logits: Any, torch: Any) -> str:
    """Of every bit."""
    return hashlib.sha256(logits.contiguous().view(torch.uint8).cpu().numpy().tobytes()).hexdigest()


@dataclass(frozen=True, slots=True)
class Prompt:
    prefix: list[int]
    suffix: list[int]

    @property
    def pages(self) -> int:
        return len(self.prefix) // PAGE_TOKENS

    @property
    def keys(self) -> list[bytes]:
        """Each page's hash, of its tokens and of all before it."""
        keys: list[bytes] = []
        parent = b""
        for at in range(0, len(self.prefix), PAGE_TOKENS):
            page = self.prefix[at : at + PAGE_TOKENS]
            parent = hashlib.sha256(parent + b"".join(token.to_bytes(4, "little") for token in page)).digest()
            keys.append(parent)
        return keys


def random_prompts(count: int, seed: int) -> list[Prompt]:
    """Prefixes of 64 to 2048 tokens, suffixes of 1 to 64."""
    rng = random.Random(seed)
    return [
        _prompt(rng, PAGE_TOKENS * rng.randint(4, 128), rng.randint(1, 64))
        for _ in range(count)
    ]


def long_prompt(tokens: int, seed: int) -> Prompt:
    """All but the last page is prefix."""
    return _prompt(random.Random(seed * 1_000_003 + tokens), tokens - PAGE_TOKENS, PAGE_TOKENS)


def _prompt(rng: random.Random, prefix: int, suffix: int) -> Prompt:
    return Prompt(
        [rng.randrange(VOCABULARY) for _ in range(prefix)], [rng.randrange(VOCABULARY) for _ in range(suffix)]
    )
