"""The checksum as docs/checksum.md writes it down."""

from __future__ import annotations

M = (1 << 64) - 1
STEP = 0x9E3779B97F4A7C15


def mix(z: int) -> int:
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & M
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & M
    return z ^ (z >> 31)


TABLE = [mix((j + 1) * STEP & M) for j in range(512)]


def partial_sum(data: bytes, base_position: int = 0) -> int:
    assert base_position % 8 == 0
    total = 0
    for at in range(0, len(data), 8):
        w = int.from_bytes(data[at : at + 8], "little")  # a short last word is zero padded
        n, j = divmod((base_position + at) // 8, 512)
        key = mix(n * STEP + 0x243F6A8885A308D3 & M)
        weight = mix(n * STEP + 0x13198A2E03707344 & M) | 1
        x = w + TABLE[j] + key & M
        total += weight * ((x & 0xFFFFFFFF) * (x >> 32) + w)
    return total & M


def finish(total: int, length: int) -> int:
    return mix(total + mix(length + 0xA4093822299F31D0 & M) & M)
