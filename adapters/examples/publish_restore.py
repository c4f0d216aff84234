"""Publishes two blocks of an engine's KV cache and restores them to other pages.

    orbitkv manager --socket /tmp/orbitkv.sock --journal /tmp/orbitkv-journal
    PYTHONPATH=adapters/src python3 adapters/examples/publish_restore.py /tmp/orbitkv.sock
"""

import hashlib
import sys

from orbitkv import Group, HostBuffer, ManagerUnavailable, OrbitClient, Published, Ready, Registration
from orbitkv import RegistrationRefused, Restored, RestoreGroup, StateFormat, dense_layers

layers = dense_layers(layer_count=2, block_count=16, bytes_per_layer=4096)
buffer = HostBuffer(2 * 16 * 4096)
registration = Registration(
    instance="example",
    namespace="example-model/v1",
    format=StateFormat("sha256:example", "example/1", "bfloat16", "NHD"),
    groups=[Group(0, "ATTENTION_KV", page_tokens=64, rule="PREFIX", bytes_per_block=2 * 4096)],
    layers=layers,
    buffers=[buffer],
)
keys = [hashlib.sha256(text).digest() for text in (b"first page", b"second page")]


def run(socket: str | None) -> None:
    with OrbitClient.connect(registration, socket) as client:
        for layer in layers:
            buffer.segment(layer, 0)[:] = b"a" * 4096
            buffer.segment(layer, 1)[:] = b"b" * 4096
        published = client.publish(0, keys, [0, 1])
        assert isinstance(published, Published), published
        answer = client.query(0, {0: keys})
        assert isinstance(answer, Ready), answer
        restored = client.restore(answer.lease, [RestoreGroup(0, 0, [8, 9])], release=True)
        assert isinstance(restored, Restored), restored
        same = all(buffer.segment(layer, 9) == buffer.segment(layer, 1) for layer in layers)
        print(f"{answer.boundary_token} tokens, {restored.restored_bytes} bytes restored, equal: {same}")


try:
    run(sys.argv[1] if len(sys.argv) > 1 else None)
except (ManagerUnavailable, RegistrationRefused) as e:
    sys.exit(f"{sys.argv[0]}: {e}")
