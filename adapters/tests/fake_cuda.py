"""A GPU without one: its memory is this process's, a stream is a queue, and the kernels are a plain reading of their rules.

Work runs when somebody looks at an event, in the order that streams and events give it, so that what must wait for the
engine's stream can be seen to wait.
"""

from __future__ import annotations

import contextlib
import ctypes
import struct
import threading
from collections.abc import Callable, Generator, Sequence

from orbitkv.cuda.api import Argument, CudaError, CudaUnavailable, DeviceFacts, Exported, KernelArguments
from tests.checksum import partial_sum

UUID = "GPU-00112233-4455-6677-8899-aabbccddeeff"
ENGINE_STREAM = 77
_LAYER = struct.Struct("<3Q2IQ")
_ENTRY = struct.Struct("<2IQ")


class FakeCuda:
    def __init__(self) -> None:
        self.exportable = True
        self.room = 1 << 30
        self.failing_launch = 0
        """A CUresult that launches give."""
        self.failing_kernel = 0
        """A CUresult that kernels end with."""
        self.held: set[int] = set()
        """Streams on which nothing runs for now."""
        self.launches: list[tuple[str, Sequence[int]]] = []
        """Of the kernels that move pages."""
        self.retained = 0
        self._allocated: dict[int, ctypes.Array[ctypes.c_char]] = {}
        self._lock = threading.Lock()
        self._streams: dict[int, list[Callable[[], bool]]] = {ENGINE_STREAM: []}
        self._events: dict[int, list[bool]] = {}
        self._errors: dict[int, int] = {}
        self._functions: dict[int, str] = {}
        self._next = 1000

    @property
    def open_things(self) -> int:
        """Allocations, streams and events that are still there."""
        return len(self._allocated) + len(self._streams) - 1 + len(self._events) + len(self._functions) + self.retained

    def _number(self) -> int:
        self._next += 1
        return self._next

    def device_of(self, address: int) -> int:
        return 1 if address & (1 << 62) else 0

    def retain(self, ordinal: int) -> DeviceFacts:
        self.retained += 1
        return DeviceFacts(ordinal, UUID, 4)

    def release(self, ordinal: int) -> None:
        self.retained -= 1

    def bind(self, ordinal: int) -> None:
        assert ordinal == 0

    @contextlib.contextmanager
    def bound(self, ordinal: int) -> Generator[None, None, None]:
        assert ordinal == 0
        yield

    def allocate(self, size: int) -> int:
        if size > self.room:
            raise CudaError("cuMemAlloc", 2, "CUDA_ERROR_OUT_OF_MEMORY")
        memory = ctypes.create_string_buffer(size + 256)
        address = -(-ctypes.addressof(memory) // 256) * 256
        self._allocated[address] = memory
        return address

    def free(self, address: int) -> None:
        del self._allocated[address]

    allocate_host = allocate
    free_host = free

    def export(self, address: int) -> Exported:
        if not self.exportable:
            raise CudaUnavailable("another process cannot open it")
        return Exported(bytes(range(64)), 0)

    def upload(self, address: int, data: bytes) -> None:
        ctypes.memmove(address, data, len(data))

    def open_stream(self) -> int:
        stream = self._number()
        self._streams[stream] = []
        return stream

    def close_stream(self, stream: int) -> None:
        assert not self._streams.pop(stream), "a stream with work was closed"

    def open_event(self) -> int:
        event = self._number()
        self._events[event] = [True]
        return event

    def close_event(self, event: int) -> None:
        del self._events[event]

    def _put(self, stream: int, work: Callable[[], object]) -> None:
        def run() -> bool:
            work()
            return True

        with self._lock:
            self._streams[stream].append(run)

    def record(self, event: int, stream: int) -> None:
        mark = [False]
        with self._lock:
            self._events[event] = mark

        def passes() -> None:
            mark[0] = True
            self._errors[event] = self.failing_kernel

        self._put(stream, passes)

    def wait_event(self, stream: int, event: int) -> None:
        with self._lock:
            mark = self._events[event]
            self._streams[stream].append(lambda: mark[0])

    def run(self) -> None:
        """Everything that can run."""
        with self._lock:
            moved = True
            while moved:
                moved = False
                for stream, queue in self._streams.items():
                    while stream not in self.held and queue and queue[0]():
                        queue.pop(0)
                        moved = True

    def passed(self, event: int) -> bool:
        self.run()
        if self._events[event][0] and self._errors.get(event):
            raise CudaError("cuEventQuery", self._errors[event], "CUDA_ERROR_ILLEGAL_ADDRESS")
        return self._events[event][0]

    def await_event(self, event: int) -> None:
        while not self.passed(event):
            threading.Event().wait(0.001)

    def load(self, image: bytes, names: Sequence[str]) -> tuple[int, list[int]]:
        assert image.endswith(b"\0") and all(f".entry {name}(".encode() in image for name in names)
        module = self._number()
        self._functions[module] = ""
        functions = [self._number() for _ in names]
        self._functions.update(zip(functions, names, strict=True))
        return module, functions

    def unload(self, module: int) -> None:
        self._functions.clear()

    def launch(self, function: int, blocks: int, threads: int, arguments: KernelArguments, stream: int) -> None:
        if self.failing_launch:
            raise CudaError("cuLaunchKernel", self.failing_launch, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES")
        name = self._functions[function]
        assert blocks >= 1 and 32 <= threads <= 512 and threads % 32 == 0
        values = [argument.value for argument in arguments if isinstance(argument, Argument)]
        structures = [argument for argument in arguments if isinstance(argument, bytes)]
        wide = "".join("s" if isinstance(a, bytes) else "a" if a.is_address else "n" for a in arguments)
        assert wide == {"orbitkv_begin": "aan"}.get(name, "annanaaaas"), f"{name} takes other values"
        if name == "orbitkv_begin":
            self._put(stream, lambda: ctypes.memmove(values[1], values[0], 8 * values[2]))
        else:
            assert len(structures[0]) == 3840
            self.launches.append((name, values))
            self._put(stream, lambda: _move(structures[0], *values, scatter=name == "orbitkv_scatter"))


def _move(
    inlined: bytes,
    table: int,
    first: int,
    count: int,
    entry_table: int,
    entry_count: int,
    slot: int,
    sums: int,
    host_sums: int,
    finished: int,
    *,
    scatter: bool,
) -> None:
    """Segment by segment, as docs/checksum.md and the layers' description say."""
    raw = ctypes.string_at(table + _LAYER.size * first, _LAYER.size * count)
    layers = list(_LAYER.iter_unpack(raw))
    size = _ENTRY.size * entry_count
    entries = list(_ENTRY.iter_unpack(ctypes.string_at(entry_table, size) if entry_table else inlined[:size]))
    if sums:
        assert ctypes.c_uint.from_address(finished).value == 0
    for index, (page, _, slot_offset) in enumerate(entries):
        for at, (address, block_stride, segment_stride, segments, size, extent) in enumerate(layers):
            staged = slot + slot_offset + extent - layers[0][5]
            for segment in range(segments):
                there = address + page * block_stride + segment * segment_stride
                here = staged + segment * size
                ctypes.memmove(*((there, here) if scatter else (here, there)), size)
            if sums:
                place = 8 * (index * count + at)
                total = ctypes.c_uint64.from_address(sums + place).value
                total += partial_sum(ctypes.string_at(staged, segments * size), extent)
                ctypes.c_uint64.from_address(host_sums + place).value = total
