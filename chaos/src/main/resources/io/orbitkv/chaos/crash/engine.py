"""An engine in Python that asks, restores, compares and publishes without a pause, and says each thing it is told.

Arguments: socket, instance, seed, conversations. A line on standard output for each promise, as soon as it is known:
"session ID EPOCH", "stored KEY FIRST_EPOCH LAST_EPOCH", "leased ID EPOCH", "restored ID EPOCH", "released ID EPOCH"; also
"operation", "dead" for a use of a dead epoch's lease that was refused, and "broken TEXT" before it ends. It ends when
its standard input does.
"""

from __future__ import annotations

import dataclasses
import os
import random
import sys
import threading
import time

from orbitkv import Category, Failed, Group, HostBuffer, Lease, Miss, OrbitClient, Published, Ready, Refused
from orbitkv import Registration, Released, RestoreGroup, Restored, StateFormat, dense_layers
from orbitkv.codes import Code
from orbitkv.registration import ParallelShape
from orbitkv.results import STORED

LAYERS = 2
LAYER_BYTES = 4096
BLOCK_BYTES = LAYERS * LAYER_BYTES
PAGE_TOKENS = 16
PREFIX_BLOCKS = 16
PAGES = 2 * PREFIX_BLOCKS
KEY_WORDS = 4
CONVERSATION_STRIDE = 1000
MASK = (1 << 64) - 1


def mix(value: int) -> int:
    z = (value + 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


# The bytes of block b: each word is that of NOISE, exclusive or mix(b). As in BlockPattern.
NOISE = int.from_bytes(b"".join(mix(~i & MASK).to_bytes(8, "little") for i in range(BLOCK_BYTES // 8)), "little")
ONES = int.from_bytes((1).to_bytes(8, "little") * (BLOCK_BYTES // 8), "little")


def bytes_of(block: int) -> bytes:
    return (NOISE ^ mix(block) * ONES).to_bytes(BLOCK_BYTES, "little")


def key_of(block: int) -> bytes:
    state, words = mix(0), []
    for _ in range(KEY_WORDS):
        state = mix(state ^ block)
        words.append(state.to_bytes(8, "little"))
    return b"".join(words)


def say(*words: object) -> None:
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


class Broken(Exception):
    """A promise that this engine saw broken."""


class Engine:
    def __init__(self, socket_path: str, instance: str, seed: int, conversations: int) -> None:
        self.layers = dense_layers(layer_count=LAYERS, block_count=PAGES, bytes_per_layer=LAYER_BYTES)
        self.buffer = HostBuffer(PAGES * BLOCK_BYTES)
        registration = Registration(
            instance=instance,
            namespace="crash",
            format=StateFormat("workload", "orbitkv-workload", "u8", "LBT", ParallelShape(1, 1, 1, 0)),
            groups=[Group(0, "ATTENTION_KV", PAGE_TOKENS, "PREFIX", BLOCK_BYTES)],
            layers=self.layers,
            buffers=[self.buffer],
        )
        self.client = OrbitClient.connect(registration, socket_path)
        self.random = random.Random(seed)
        self.conversations = conversations
        self.session_seen = 0
        self.old: Lease | None = None

    def fill(self, page: int, data: bytes) -> None:
        for i, layer in enumerate(self.layers):
            self.buffer.segment(layer, page)[:] = data[i * LAYER_BYTES : (i + 1) * LAYER_BYTES]

    def read(self, page: int) -> bytes:
        return b"".join(bytes(self.buffer.segment(layer, page)) for layer in self.layers)

    def step(self) -> None:
        session, epoch = self.client.session_id, self.client.epoch
        if session and epoch and session != self.session_seen and session == self.client.session_id:
            self.session_seen = session
            say("session", session, epoch)
            self.refuse_the_dead(session, epoch)
        if self.converse():
            say("operation")
        else:
            time.sleep(0.002)

    def refuse_the_dead(self, session: int, epoch: int) -> None:
        """A lease of a dead daemon must be refused by its successor, also when its epoch is forged."""
        old = self.old
        if old is None or old.epoch == epoch:
            return
        for lease in (old, dataclasses.replace(old, epoch=epoch, session_id=session)):
            answer = self.client.restore(lease, [RestoreGroup(0, 0, [0])], request="old")
            if isinstance(answer, Restored):
                raise Broken(f"lease {old} of a dead epoch was honoured in epoch {epoch}")
            if isinstance(answer, Refused) and answer.category == Category.STALE:
                say("dead")
        self.old = None

    def converse(self) -> bool:
        first = self.random.randrange(self.conversations) * CONVERSATION_STRIDE
        count = self.random.randint(1, PREFIX_BLOCKS)
        keys = [key_of(first + i) for i in range(count)]
        name = f"p-{self.random.getrandbits(40):x}"
        answer = self.client.query(0, {0: keys}, request=name, timeout_seconds=60)
        hits = 0
        if isinstance(answer, Ready):
            say("leased", answer.lease.lease_id, answer.lease.epoch)
            hits = answer.boundary_token // PAGE_TOKENS
            self.restore(answer.lease, name, first, hits)
        elif not isinstance(answer, Miss):
            return self.not_served(answer)
        return hits == count or self.publish(keys[hits:], name, first + hits)

    def restore(self, lease: Lease, name: str, first: int, hits: int) -> None:
        for page in range(hits):
            self.fill(page, bytes(BLOCK_BYTES))
        pages = RestoreGroup(0, 0, range(hits))
        if isinstance(self.client.restore(lease, [pages], request=name, timeout_seconds=60), Restored):
            say("restored", lease.lease_id, lease.epoch)
            for page in range(hits):
                if self.read(page) != bytes_of(first + page):
                    raise Broken(f"request {name}: block {first + page} was restored with wrong bytes")
        if self.old is None and self.random.randrange(8) == 0:
            self.old = lease
            return
        answer = self.client.release(lease)
        if isinstance(answer, Released) and answer.was_open:
            say("released", lease.lease_id, lease.epoch)

    def publish(self, keys: list[bytes], name: str, first: int) -> bool:
        pages = range(PREFIX_BLOCKS, PREFIX_BLOCKS + len(keys))
        for i, page in enumerate(pages):
            self.fill(page, bytes_of(first + i))
        before = self.client.epoch
        answer = self.client.publish(0, keys, pages, request=name, timeout_seconds=60)
        if not isinstance(answer, Published) or before == 0:
            return self.not_served(answer)
        after = self.client.epoch or before + 1
        for key, outcome in zip(keys, answer.outcomes, strict=True):
            if outcome == STORED:
                say("stored", key.hex(), before, after)
        return True

    def not_served(self, answer: object) -> bool:
        """It is what a dying, starting or full Manager explains."""
        if isinstance(answer, Refused | Failed) and (
            answer.category in (Category.USER, Category.INTERNAL) or answer.code == Code.DEADLINE
        ):
            raise Broken(f"an honest request ended with {answer}")
        return False


def end_with_input() -> None:
    while sys.stdin.buffer.read(1024):
        pass
    os._exit(0)


def main() -> None:
    threading.Thread(target=end_with_input, daemon=True).start()
    try:
        engine = Engine(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))
        while True:
            engine.step()
    except Exception as e:
        say("broken", f"{type(e).__name__}: {e}".replace("\n", " "))
        os._exit(1)


main()
