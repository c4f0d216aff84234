"""The staging ring: GPU memory of this process that the Manager opens and copies extents to and from."""

from __future__ import annotations

from dataclasses import dataclass

from orbitkv.cuda.api import CudaApi, CudaError, CudaUnavailable, DeviceFacts

MIB = 1 << 20
MAX_SLOT_BYTES = 256 * MIB
OUT_OF_MEMORY = 2


@dataclass(frozen=True, slots=True)
class RingShape:
    """Slots for restores, then slots for publishes."""

    slot_bytes: int = 16 * MIB
    load_slots: int = 4
    save_slots: int = 4

    @property
    def slot_count(self) -> int:
        return self.load_slots + self.save_slots

    def fitting(self, extent_bytes: int) -> RingShape:
        """The same, or with larger slots where an extent needs them. ValueError where none is large enough."""
        if extent_bytes > MAX_SLOT_BYTES:
            raise ValueError(
                f"a block of {extent_bytes} bytes does not fit a staging slot of {MAX_SLOT_BYTES}: use smaller pages"
            )
        needed = -(-extent_bytes // MIB) * MIB
        return RingShape(max(self.slot_bytes, needed), self.load_slots, self.save_slots)


class StagingRing:
    """The device's context is current wherever its methods are called."""

    def __init__(self, api: CudaApi, device: DeviceFacts, shape: RingShape) -> None:
        """CudaUnavailable says what to do where there is no room or other processes cannot open it."""
        self._api = api
        self.device = device
        self.shape = shape
        size = shape.slot_count * shape.slot_bytes
        try:
            self.address = api.allocate(size)
        except CudaError as e:
            if e.code != OUT_OF_MEMORY:
                raise
            raise CudaUnavailable(
                f"the GPU has no {size >> 20} MiB left for OrbitKV's staging slots: leave more to it (vLLM's "
                "--gpu-memory-utilization, SGLang's --mem-fraction-static), or set staging_slot_mb, staging_load_slots "
                "and staging_save_slots lower"
            ) from e
        try:
            self._exported = api.export(self.address)
        except BaseException:
            api.free(self.address)
            raise

    def slot_address(self, slot: int) -> int:
        return self.address + slot * self.shape.slot_bytes

    def to_json(self) -> dict[str, object]:
        """The object `staging` of REGISTER."""
        return {
            "deviceUuid": self.device.uuid,
            "handle": self._exported.handle.hex(),
            "offset": self._exported.offset,
            "slotBytes": self.shape.slot_bytes,
            "loadSlots": self.shape.load_slots,
            "saveSlots": self.shape.save_slots,
        }

    def close(self) -> None:
        self._api.free(self.address)
