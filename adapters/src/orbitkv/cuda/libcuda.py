"""The driver's library, libcuda.so.1, by ctypes.

Calls that may wait release the interpreter's lock; those that only put work on a stream keep it, since giving it up for some
microseconds can cost the milliseconds that a busy thread holds it for before it hands it on.
"""

from __future__ import annotations

import contextlib
import ctypes
import threading
from collections.abc import Generator, Sequence
from ctypes import byref, c_char, c_char_p, c_int, c_size_t, c_ubyte, c_uint, c_uint64, c_void_p
from typing import Any

from orbitkv.cuda.api import IPC_HANDLE_BYTES, Argument, CudaError, CudaUnavailable, DeviceFacts, Exported, KernelArguments

LIBRARY = "libcuda.so.1"
STREAM_NON_BLOCKING = 1
EVENT_DISABLE_TIMING = 2
NOT_READY = 600
# Of CUpointer_attribute and CUdevice_attribute.
POINTER_DEVICE_ORDINAL, POINTER_LEGACY_IPC, POINTER_RANGE_START = 9, 10, 11
DEVICE_MULTIPROCESSORS = 16
HOST_ALLOC_PORTABLE_MAPPED = 3


class _Handle(ctypes.Structure):
    _fields_ = [("reserved", c_ubyte * IPC_HANDLE_BYTES)]


class LibCuda:
    """The CudaApi of this process."""

    def __init__(self) -> None:
        """CudaUnavailable where there is no driver or it finds no GPU."""
        try:
            self._waits: Any = ctypes.CDLL(LIBRARY)
            self._quick: Any = ctypes.PyDLL(LIBRARY)
        except OSError as e:
            raise CudaUnavailable(f"NVIDIA's driver is not installed here, or not shown to this container: {e}") from e
        try:
            self._check("cuInit", self._waits.cuInit(0))
        except CudaError as e:
            raise CudaUnavailable(f"the driver finds no GPU: {e}") from e
        self._contexts: dict[int, c_void_p] = {}

    def _check(self, call: str, code: int) -> None:
        if code:
            name = c_char_p()
            self._waits.cuGetErrorName(code, byref(name))
            raise CudaError(call, code, (name.value or b"an error that this driver does not know").decode())

    # Devices and contexts.

    def device_of(self, address: int) -> int:
        ordinal = c_int()
        call = self._waits.cuPointerGetAttribute
        self._check("cuPointerGetAttribute", call(byref(ordinal), POINTER_DEVICE_ORDINAL, c_uint64(address)))
        return ordinal.value

    def retain(self, ordinal: int) -> DeviceFacts:
        device, context, count = c_int(), c_void_p(), c_int()
        self._check("cuDeviceGet", self._waits.cuDeviceGet(byref(device), ordinal))
        uuid = (c_ubyte * 16)()
        self._check("cuDeviceGetUuid", self._waits.cuDeviceGetUuid(byref(uuid), device))
        code = self._waits.cuDeviceGetAttribute(byref(count), DEVICE_MULTIPROCESSORS, device)
        self._check("cuDeviceGetAttribute", code)
        self._check("cuDevicePrimaryCtxRetain", self._waits.cuDevicePrimaryCtxRetain(byref(context), device))
        self._contexts[ordinal] = context
        digits = bytes(uuid).hex()
        parts = (digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:])
        return DeviceFacts(ordinal, "GPU-" + "-".join(parts), count.value)

    def release(self, ordinal: int) -> None:
        self._check("cuDevicePrimaryCtxRelease", self._waits.cuDevicePrimaryCtxRelease_v2(c_int(ordinal)))

    def bind(self, ordinal: int) -> None:
        self._check("cuCtxSetCurrent", self._quick.cuCtxSetCurrent(self._contexts[ordinal]))

    @contextlib.contextmanager
    def bound(self, ordinal: int) -> Generator[None, None, None]:
        self._check("cuCtxPushCurrent", self._quick.cuCtxPushCurrent_v2(self._contexts[ordinal]))
        try:
            yield
        finally:
            former = c_void_p()
            self._check("cuCtxPopCurrent", self._quick.cuCtxPopCurrent_v2(byref(former)))

    # Memory.

    def allocate(self, size: int) -> int:
        address = c_uint64()
        self._check("cuMemAlloc", self._waits.cuMemAlloc_v2(byref(address), c_size_t(size)))
        return address.value

    def free(self, address: int) -> None:
        self._check("cuMemFree", self._waits.cuMemFree_v2(c_uint64(address)))

    def allocate_host(self, size: int) -> int:
        address = c_void_p()
        code = self._waits.cuMemHostAlloc(byref(address), c_size_t(size), c_uint(HOST_ALLOC_PORTABLE_MAPPED))
        self._check("cuMemHostAlloc", code)
        assert address.value is not None
        ctypes.memset(address.value, 0, size)
        return address.value

    def free_host(self, address: int) -> None:
        self._check("cuMemFreeHost", self._waits.cuMemFreeHost(c_void_p(address)))

    def export(self, address: int) -> Exported:
        capable, start = c_int(), c_uint64()
        ask = self._waits.cuPointerGetAttribute
        code = ask(byref(capable), POINTER_LEGACY_IPC, c_uint64(address))
        self._check("cuPointerGetAttribute", code)
        if not capable.value:
            raise CudaUnavailable(
                "this GPU memory is not of a kind that another process can open: memory of the virtual memory management "
                "(PyTorch's expandable_segments, vLLM's sleep mode) or of a platform without CUDA IPC"
            )
        self._check("cuPointerGetAttribute", ask(byref(start), POINTER_RANGE_START, c_uint64(address)))
        handle = _Handle()
        self._check("cuIpcGetMemHandle", self._waits.cuIpcGetMemHandle(byref(handle), c_uint64(start.value)))
        return Exported(bytes(handle.reserved), address - start.value)

    def upload(self, address: int, data: bytes) -> None:
        source = (c_char * len(data)).from_buffer_copy(data)
        self._check("cuMemcpyHtoD", self._waits.cuMemcpyHtoD_v2(c_uint64(address), source, c_size_t(len(data))))

    # For tools: nothing of the adapters' needs them.

    def download(self, host_address: int, address: int, size: int) -> None:
        """Returns when it is done."""
        code = self._waits.cuMemcpyDtoH_v2(c_void_p(host_address), c_uint64(address), c_size_t(size))
        self._check("cuMemcpyDtoH", code)

    def free_bytes(self) -> int:
        """What is free on the device, whoever uses the rest."""
        free, total = c_size_t(), c_size_t()
        self._check("cuMemGetInfo", self._waits.cuMemGetInfo_v2(byref(free), byref(total)))
        return free.value

    # Streams and events.

    def open_stream(self) -> int:
        stream = c_void_p()
        self._check("cuStreamCreate", self._waits.cuStreamCreate(byref(stream), c_uint(STREAM_NON_BLOCKING)))
        assert stream.value is not None
        return stream.value

    def close_stream(self, stream: int) -> None:
        self._check("cuStreamDestroy", self._waits.cuStreamDestroy_v2(c_void_p(stream)))

    def open_event(self) -> int:
        event = c_void_p()
        self._check("cuEventCreate", self._waits.cuEventCreate(byref(event), c_uint(EVENT_DISABLE_TIMING)))
        assert event.value is not None
        return event.value

    def close_event(self, event: int) -> None:
        self._check("cuEventDestroy", self._waits.cuEventDestroy_v2(c_void_p(event)))

    def record(self, event: int, stream: int) -> None:
        self._check("cuEventRecord", self._quick.cuEventRecord(c_void_p(event), c_void_p(stream)))

    def wait_event(self, stream: int, event: int) -> None:
        code = self._quick.cuStreamWaitEvent(c_void_p(stream), c_void_p(event), c_uint(0))
        self._check("cuStreamWaitEvent", code)

    def passed(self, event: int) -> bool:
        code = self._quick.cuEventQuery(c_void_p(event))
        if code == NOT_READY:
            return False
        self._check("cuEventQuery", code)
        return True

    def await_event(self, event: int) -> None:
        self._check("cuEventSynchronize", self._waits.cuEventSynchronize(c_void_p(event)))

    # Kernels.

    def load(self, image: bytes, names: Sequence[str]) -> tuple[int, list[int]]:
        module = c_void_p()
        self._check("cuModuleLoadData", self._waits.cuModuleLoadData(byref(module), c_char_p(image)))
        assert module.value is not None
        functions: list[int] = []
        for name in names:
            function = c_void_p()
            code = self._waits.cuModuleGetFunction(byref(function), module, c_char_p(name.encode()))
            self._check("cuModuleGetFunction", code)
            assert function.value is not None
            functions.append(function.value)
        return module.value, functions

    def unload(self, module: int) -> None:
        self._check("cuModuleUnload", self._waits.cuModuleUnload(c_void_p(module)))

    def launch(
        self, function: int, blocks: int, threads: int, arguments: KernelArguments, stream: int
    ) -> None:
        values = [_value(argument) for argument in arguments]
        pointers = (c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
        code = self._quick.cuLaunchKernel(
            c_void_p(function),
            c_uint(blocks),
            c_uint(1),
            c_uint(1),
            c_uint(threads),
            c_uint(1),
            c_uint(1),
            c_uint(0),
            c_void_p(stream),
            pointers,
            c_void_p(None),
        )
        self._check("cuLaunchKernel", code)


def _value(argument: Argument | bytes) -> ctypes.Array[ctypes.c_char] | c_uint64 | c_uint:
    if isinstance(argument, bytes):
        return (ctypes.c_char * len(argument)).from_buffer_copy(argument)
    return c_uint64(argument.value) if argument.is_address else c_uint(argument.value)


_opening = threading.Lock()
_opened: LibCuda | None = None


def open_library() -> LibCuda:
    """The process's one. CudaUnavailable where there is no driver or no GPU."""
    global _opened
    with _opening:
        if _opened is None:
            _opened = LibCuda()
        return _opened
