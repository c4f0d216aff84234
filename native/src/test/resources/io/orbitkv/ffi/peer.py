"""The other process of PythonPeerTest: one scenario per run, standard library only.

Usage: peer.py SCENARIO SOCKET_PATH. It exits 0 when everything was as it should be.
"""

import fcntl
import mmap
import os
import socket
import sys

F_ADD_SEALS = 1033
F_SEAL_SHRINK = 2
BYTES = 65536


def connect(path):
    peer = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    peer.settimeout(20)
    peer.connect(path)
    return peer


def make_memfd(fill, seal):
    memfd = os.memfd_create("python", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.ftruncate(memfd, BYTES)
    with mmap.mmap(memfd, BYTES) as memory:
        memory[:] = bytes([fill]) * BYTES
    if seal:
        fcntl.fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK)
    return memfd


def give(path):
    """Hands over memory and a doorbell, and waits for the answer in both."""
    memfd = make_memfd(0x5A, seal=True)
    doorbell = os.eventfd(0, os.EFD_CLOEXEC)
    with connect(path) as peer:
        socket.send_fds(peer, [b"give"], [memfd, doorbell])
        assert os.eventfd_read(doorbell) == 1
        with mmap.mmap(memfd, BYTES) as memory:
            assert memory[0] == 0xA5 and memory[BYTES - 1] == 0xA5
            assert memory[1] == 0x5A
        peer.sendall(b"seen")
        assert peer.recv(1) == b""


def take(path):
    """Takes memory and two doorbells, answers in the memory and rings the second."""
    with connect(path) as peer:
        data, fds, flags, _ = socket.recv_fds(peer, 16, 8)
        assert data == b"take" and flags & socket.MSG_CTRUNC == 0
        memfd, mine, theirs = fds
        assert os.fstat(memfd).st_size == BYTES
        os.eventfd_read(mine)
        with mmap.mmap(memfd, BYTES) as memory:
            assert memory[:] == bytes(i % 251 for i in range(BYTES))
            memory[:] = bytes((i + 1) % 251 for i in range(BYTES))
        try:
            os.ftruncate(memfd, 4096)
        except PermissionError:
            pass
        else:
            raise AssertionError("a sealed memfd was truncated")
        os.eventfd_write(theirs, 3)
        assert peer.recv(1) == b""


def hostile(path):
    """Sends what a bad peer would: too many descriptors, the wrong kinds, an unsealed memfd."""
    unsealed = make_memfd(1, seal=False)
    reader, _ = os.pipe()
    with connect(path) as peer:
        socket.send_fds(peer, [b"many"], [unsealed] * 3)
        socket.send_fds(peer, [b"kind"], [reader, reader])
        socket.send_fds(peer, [b"trun"], [unsealed])
        os.ftruncate(unsealed, 0)
        assert peer.recv(1) == b""


def linger(path):
    """Connects, says so, and stays until it is killed."""
    with connect(path) as peer:
        peer.sendall(b"here")
        peer.settimeout(60)
        peer.recv(1)


def pong(path):
    """Answers each ring of the first eventfd by one of the second, until told to stop."""
    with connect(path) as peer:
        _, fds, _, _ = socket.recv_fds(peer, 16, 2)
        ping, answer = fds
        os.set_blocking(ping, True)
        while os.eventfd_read(ping) < 1000:
            os.eventfd_write(answer, 1)


if __name__ == "__main__":
    {"give": give, "take": take, "hostile": hostile, "linger": linger, "pong": pong}[
        sys.argv[1]
    ](sys.argv[2])
