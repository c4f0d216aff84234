"""One process of the model's qualification. Arguments: `write` or `read`, socket, folder of the results, prefixes, seed.

`write` prefills prompts, publishes their pages and notes the suffixes' logits; `read`, another process with the same weights
and empty pages, restores and computes the same. Both time what they do and leave a JSON file.
"""

from __future__ import annotations

import json
import random
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[1] / "src")]

from orbitkv import RestoreGroup
from qualify.common import PagedEngine, say
from qualify.paged_model import PagedModel, Prompt, digest_of, long_prompt, random_prompts

LENGTHS = (2048, 8192, 32_768)
REPEATS = 5


def timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def some_blocks(model: PagedModel, count: int, rng: random.Random) -> list[int]:
    return rng.sample(range(model.block_count), count)


def restore(engine: PagedEngine, prompt: Prompt, blocks: list[int]) -> int:
    ready = engine.lookup({0: prompt.keys})
    if ready.boundary_token != len(prompt.prefix):
        raise AssertionError(f"{ready.boundary_token} of {len(prompt.prefix)} tokens were found")
    return engine.restore(ready, [RestoreGroup(0, 0, blocks)]).restored_bytes


def write(socket_path: str, folder: Path, prefixes: int, seed: int) -> None:
    rng = random.Random(seed)
    notes: dict[str, Any] = {}
    model = PagedModel("1b", 1024)
    notes["weights"] = model.weights_digest()
    with_engine(model, socket_path, "writer", lambda engine: notes.update(write_prefixes(model, engine, prefixes, seed, rng)))
    say("write: prefixes are published")
    del model
    model = PagedModel("8b", 2304)
    notes["weights 8b"] = model.weights_digest()
    with_engine(model, socket_path, "writer", lambda engine: notes.update(write_long(model, engine, seed, rng)))
    (folder / "write.json").write_text(json.dumps(notes))


def write_prefixes(model: PagedModel, engine: PagedEngine, count: int, seed: int, rng: random.Random) -> dict[str, Any]:
    digests: list[str] = []
    for prompt in random_prompts(count, seed):
        blocks = some_blocks(model, prompt.pages, rng)
        model.prefill(prompt.prefix, blocks)
        # No wait for the GPU: the publish itself must wait for the prefill.
        engine.publish(0, prompt.keys, blocks)
        digests.append(digest_of(model.suffix_logits(prompt.suffix, blocks), model.torch))
    return {"digests": digests}


def write_long(model: PagedModel, engine: PagedEngine, seed: int, rng: random.Random) -> dict[str, Any]:
    digests: dict[str, str] = {}
    publish: dict[str, float] = {}
    for tokens in LENGTHS:
        prompt = long_prompt(tokens, seed)
        blocks = some_blocks(model, prompt.pages, rng)
        model.prefill(prompt.prefix, blocks)
        model.torch.cuda.synchronize()
        publish[str(tokens)] = timed(lambda: engine.publish(0, prompt.keys, blocks))
        digests[str(tokens)] = digest_of(model.suffix_logits(prompt.suffix, blocks, 1), model.torch)
    return {"long digests": digests, "publish s": publish}


def read(socket_path: str, folder: Path, prefixes: int, seed: int, name: str, repeats: int) -> None:
    rng = random.Random(seed + 1)
    written: dict[str, Any] = json.loads((folder / "write.json").read_text())
    notes: dict[str, Any] = {}
    model = PagedModel("1b", 1024)
    notes["same weights"] = model.weights_digest() == written["weights"]
    notes["parameters"] = model.parameters
    prompts = random_prompts(prefixes, seed)
    with_engine(
        model, socket_path, name, lambda engine: notes.update(read_prefixes(model, engine, prompts, written["digests"], rng))
    )
    say(name, notes)
    del model
    model = PagedModel("8b", 2304)
    notes["same weights 8b"] = model.weights_digest() == written["weights 8b"]
    notes["parameters 8b"] = model.parameters
    with_engine(
        model, socket_path, name, lambda engine: notes.update(read_long(model, engine, seed, written, rng, repeats))
    )
    (folder / f"{name}.json").write_text(json.dumps(notes))


def read_prefixes(
    model: PagedModel, engine: PagedEngine, prompts: list[Prompt], digests: list[str], rng: random.Random
) -> dict[str, Any]:
    first = prompts[0]
    empty = digest_of(model.suffix_logits(first.suffix, some_blocks(model, first.pages, rng)), model.torch)
    identical = restored = 0
    for prompt, digest in zip(prompts, digests, strict=True):
        blocks = some_blocks(model, prompt.pages, rng)
        restored += restore(engine, prompt, blocks)
        identical += digest_of(model.suffix_logits(prompt.suffix, blocks), model.torch) == digest
    return {
        "prefixes": len(prompts),
        "bit-identical": identical,
        "restored bytes": restored,
        "differs without a restore": empty != digests[0],
    }


def read_long(
    model: PagedModel, engine: PagedEngine, seed: int, written: dict[str, Any], rng: random.Random, repeats: int
) -> dict[str, Any]:
    rows: list[dict[str, Any]] = []
    torch = model.torch
    for tokens in LENGTHS:
        prompt = long_prompt(tokens, seed)
        whole = prompt.prefix + prompt.suffix
        model.first_token_without_cache(whole)
        without = [timed(lambda: model.first_token_without_cache(whole)) for _ in range(REPEATS)]
        model.suffix_logits(prompt.suffix, some_blocks(model, prompt.pages, rng), 1)
        times: list[float] = []
        restores: list[float] = []
        identical = True
        size = 0
        for _ in range(repeats):
            blocks = some_blocks(model, prompt.pages, rng)
            torch.cuda.synchronize()
            began = time.perf_counter()
            size = restore(engine, prompt, blocks)
            restores.append(time.perf_counter() - began)
            logits = model.suffix_logits(prompt.suffix, blocks, 1)
            int(logits[-1].argmax().item())
            times.append(time.perf_counter() - began)
            identical &= digest_of(logits, torch) == written["long digests"][str(tokens)]
        rows.append(
            {
                "tokens": tokens,
                "MB": round(size / 1e6),
                "TTFT without ms": round(1000 * statistics.median(without), 1),
                "TTFT with ms": round(1000 * statistics.median(times), 1),
                "speed-up": round(statistics.median(without) / statistics.median(times), 1),
                "lookup and restore ms": round(1000 * statistics.median(restores), 1),
                "restore GB/s": round(size / statistics.median(restores) / 1e9, 1),
                "publish GB/s": round(size / written["publish s"][str(tokens)] / 1e9, 1),
                "bit-identical": identical,
            }
        )
        say("read:", rows[-1])
    return {"ttft": rows}


def with_engine(model: PagedModel, socket_path: str, role: str, work: Callable[[PagedEngine], None]) -> None:
    engine = model.engine(socket_path, role)
    try:
        work(engine)
    finally:
        engine.close()


if __name__ == "__main__":
    role, socket, results, how_many, the_seed, *rest = sys.argv[1:]
    if role == "write":
        write(socket, Path(results), int(how_many), int(the_seed))
    else:
        read(socket, Path(results), int(how_many), int(the_seed), rest[0], int(rest[1]))
