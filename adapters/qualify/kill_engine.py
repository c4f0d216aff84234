"""An engine that is made to be killed, or to live through its Manager's death: it publishes, restores and compares, for ever.

Arguments: socket, name, run. It writes a line before each copy ("publish" or "restore") and a JSON object after each round.
Pages are of 1 MiB: 8 layers, K and V planes of 64 KiB segments.
"""

from __future__ import annotations

import ctypes
import json
import random
import sys
import time
from pathlib import Path
from typing import Any

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parents[1] / "src")]

from orbitkv import Group, Published, Ready, Restored, RestoreGroup
from orbitkv.cuda.libcuda import open_library
from orbitkv.pages import GroupTensors, NamedTensor
from orbitkv.results import NOT_STORED
from orbitkv.transfers import Transfer
from qualify.common import PagedEngine, PlainTensor, keys_of

LAYERS, SEGMENT = 8, 65_536
PAGE = 2 * LAYERS * SEGMENT
SOURCES, TARGETS = 256, 256
BLOCKS = SOURCES + TARGETS + 1
SECONDS_MILLIS = 20_000


class Pages:
    """Pages on the GPU, written and read segment by segment by the driver alone."""

    def __init__(self) -> None:
        self.api: Any = open_library()
        self.api.retain(0)
        self.api.bind(0)
        self.planes = [self.api.allocate(2 * BLOCKS * SEGMENT) for _ in range(LAYERS)]
        self._buffer = ctypes.create_string_buffer(PAGE)
        base = random.Random(1).randbytes(PAGE)
        self._base = int.from_bytes(base, "little")

    def tensors(self) -> GroupTensors:
        named = [
            NamedTensor(f"layers.{layer}", PlainTensor(address, (2, BLOCKS, SEGMENT)))
            for layer, address in enumerate(self.planes)
        ]
        return GroupTensors(0, BLOCKS, named)

    def content(self, number: int) -> bytes:
        """What page `number` of the sources holds: no two have an 8-byte word in common at one place."""
        word = (number * 0x9E3779B97F4A7C15 + 1) & (1 << 64) - 1
        return (self._base ^ int.from_bytes(word.to_bytes(8, "little") * (PAGE // 8), "little")).to_bytes(PAGE, "little")

    def _places(self, block: int) -> list[int]:
        return [plane + (part * BLOCKS + block) * SEGMENT for plane in self.planes for part in range(2)]

    def write(self, block: int, data: bytes) -> None:
        for index, place in enumerate(self._places(block)):
            self.api.upload(place, data[index * SEGMENT : (index + 1) * SEGMENT])

    def read(self, block: int) -> bytes:
        for index, place in enumerate(self._places(block)):
            self.api.download(ctypes.addressof(self._buffer) + index * SEGMENT, place, SEGMENT)
        return self._buffer.raw


def main(socket_path: str, name: str, run: str) -> None:
    pages = Pages()
    contents = [pages.content(number) for number in range(SOURCES)]
    for block, content in enumerate(contents):
        pages.write(block, content)
    engine = PagedEngine(socket_path, name, [(Group(0, "ATTENTION_KV", 16, "PREFIX", 0), pages.tensors())])
    rng = random.Random(run)
    counts = {"rounds": 0, "good": 0, "failed": 0, "wrong": 0}
    print(json.dumps(counts), flush=True)
    while True:
        order = rng.sample(range(SOURCES), SOURCES)
        keys = keys_of(f"{run}/{counts['rounds']}", SOURCES)
        good = publish(engine, keys, order)
        if good:
            places = [SOURCES + place for place in rng.sample(range(TARGETS), TARGETS)]
            good = restore(engine, keys, places)
            if good:
                checked = rng.sample(range(SOURCES), 48)
                counts["wrong"] += sum(pages.read(places[at]) != contents[order[at]] for at in checked)
        counts["good" if good else "failed"] += 1
        if not good:
            engine.client.wait_connected(30)
            engine.saver.wait_connected(30)
            time.sleep(0.05)
        own = rng.sample(range(SOURCES), 8)
        counts["wrong"] += sum(pages.read(block) != contents[block] for block in own)
        counts["rounds"] += 1
        print(json.dumps(counts), flush=True)


def publish(engine: PagedEngine, keys: list[bytes], blocks: list[int]) -> bool:
    engine.pages.before_publish(0, blocks)
    print("publish", flush=True)
    if engine.saver.ended is not None:
        engine.saver = engine.client.attach_save()
    pending = engine.saver.start_publish(0, keys, blocks, request="kill")
    transfer = Transfer(engine.saver, pending, blocks, SECONDS_MILLIS, SECONDS_MILLIS)
    transfer.wait()
    answer = transfer.answer
    return isinstance(answer, Published) and NOT_STORED not in answer.outcomes


def restore(engine: PagedEngine, keys: list[bytes], places: list[int]) -> bool:
    ready = engine.client.query(0, {0: keys}, request="kill")
    if not isinstance(ready, Ready) or ready.boundary_token != 16 * len(keys):
        return False
    engine.pages.before_restore(0, places)
    print("restore", flush=True)
    pending = engine.client.start_restore(ready.lease, [RestoreGroup(0, 0, places)], request="kill", release=True)
    transfer = Transfer(engine.client, pending, places, SECONDS_MILLIS, SECONDS_MILLIS)
    transfer.wait()
    good = isinstance(transfer.answer, Restored)
    if good:
        engine.pages.after_restore(0, places)
    return good


if __name__ == "__main__":
    main(*sys.argv[1:])
