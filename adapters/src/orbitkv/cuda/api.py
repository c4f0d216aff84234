"""What of CUDA's driver the rest of this package uses: the seam between it and the library, or a test's stand-in.

Addresses, streams, events and functions are the driver's numbers; sizes are in bytes. A device's primary context must be
current in the calling thread (`bind`, or `bound` for a while) wherever nothing else is said.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import NamedTuple, Protocol

IPC_HANDLE_BYTES = 64


class CudaUnavailable(RuntimeError):
    """There is no driver or no GPU here; the message says which and what to do."""


class CudaError(RuntimeError):
    """The driver refused or failed at a call."""

    def __init__(self, call: str, code: int, name: str) -> None:
        super().__init__(f"{call} failed: {name} ({code})")
        self.code = code
        """The CUresult."""


@dataclass(frozen=True, slots=True)
class DeviceFacts:
    ordinal: int
    """Of this process: what it stands for differs between processes, so that it is never sent."""
    uuid: str
    """`GPU-` and the UUID in its usual form."""
    multiprocessors: int


@dataclass(frozen=True, slots=True)
class Exported:
    """Where another process finds some memory: `offset` bytes into the allocation that the handle opens."""

    handle: bytes
    offset: int


class CudaApi(Protocol):
    # Devices and contexts; callable without a current context.

    def device_of(self, address: int) -> int:
        """The ordinal of the device whose memory is at that address."""
        ...

    def retain(self, ordinal: int) -> DeviceFacts:
        """Keeps a device's primary context, the one that frameworks use, until `release`."""
        ...

    def release(self, ordinal: int) -> None: ...
    def bind(self, ordinal: int) -> None:
        """Makes a retained context the calling thread's."""
        ...

    def bound(self, ordinal: int) -> AbstractContextManager[None]:
        """The same, for as long as it is entered."""
        ...

    # Memory.

    def allocate(self, size: int) -> int: ...
    def free(self, address: int) -> None: ...
    def allocate_host(self, size: int) -> int:
        """Pinned memory of this process, zeroed, which kernels reach at the same address."""
        ...

    def free_host(self, address: int) -> None: ...
    def export(self, address: int) -> Exported:
        """CudaUnavailable where other processes cannot open the allocation that holds the address."""
        ...

    def upload(self, address: int, data: bytes) -> None:
        """Returns when it is done."""
        ...

    # Work in the order of a stream; returns before it is done.

    def open_stream(self) -> int:
        """A stream that waits for no other by itself."""
        ...

    def close_stream(self, stream: int) -> None: ...
    def open_event(self) -> int: ...
    def close_event(self, event: int) -> None: ...
    def record(self, event: int, stream: int) -> None: ...
    def wait_event(self, stream: int, event: int) -> None:
        """What is put on the stream from now on waits for the event as it was last recorded."""
        ...

    def passed(self, event: int) -> bool:
        """CudaError where the work before it failed."""
        ...

    def await_event(self, event: int) -> None:
        """Returns when it has passed; other threads of Python run meanwhile."""
        ...


    # Kernels.

    def load(self, image: bytes, names: Sequence[str]) -> tuple[int, list[int]]:
        """A module from PTX, and its functions of those names."""
        ...

    def unload(self, module: int) -> None: ...
    def launch(
        self, function: int, blocks: int, threads: int, arguments: KernelArguments, stream: int
    ) -> None: ...


class Argument(NamedTuple):
    """One value that a kernel takes."""

    value: int
    is_address: bool
    """64 bits, else 32."""


KernelArguments = Sequence[Argument | bytes]
"""Bytes are a structure, passed by value."""


def address(value: int) -> Argument:
    return Argument(value, True)


def number(value: int) -> Argument:
    return Argument(value, False)
