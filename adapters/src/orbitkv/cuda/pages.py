"""An engine's pages on a GPU, staged: only this process touches them."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from orbitkv.cuda.api import CudaApi, CudaUnavailable
from orbitkv.cuda.moves import Kernels
from orbitkv.cuda.ring import RingShape, StagingRing
from orbitkv.cuda.server import BoardServer
from orbitkv.cuda.tables import GroupTable
from orbitkv.pages import Entry, PageBuffers, wire_layer
from orbitkv.staging import BoardHandover, BoardService, StagedBuffer, Staging


def framework_stream(ordinal: int) -> int:
    """The stream that the engine's framework puts work on in this thread; the default one where it is not PyTorch."""
    torch: Any = sys.modules.get("torch")
    return int(torch.cuda.current_stream(ordinal).cuda_stream) if torch is not None else 0


class StagedPages(PageBuffers):
    """Gathers wait for what the engine had put on its stream before the publish was asked for, scatters for what it had
    before the restore: a page is neither saved before it is written nor overwritten while a kernel still reads it.
    """

    kind = "CUDA_STAGED"

    def __init__(
        self,
        entries: Sequence[Entry],
        layout: str,
        shape: RingShape,
        api: CudaApi,
        stream_of: Callable[[int], int] = framework_stream,
    ) -> None:
        """CudaUnavailable says why the pages cannot be served."""
        super().__init__(entries, layout)
        self._api = api
        self._stream_of = stream_of
        ordinals = sorted({api.device_of(entry.plane.address) for entry in entries})
        if len(ordinals) != 1:
            raise CudaUnavailable(f"the engine's pages are on several GPUs ({ordinals}): OrbitKV takes one per worker")
        self._ordinal = ordinals[0]
        grouped: dict[int, list[Entry]] = {}
        for entry in entries:
            grouped.setdefault(entry.group_id, []).append(entry)
        tables = {group: GroupTable(group, [entry.plane for entry in found]) for group, found in grouped.items()}
        try:
            fitted = shape.fitting(max(table.extent_bytes for table in tables.values()))
        except ValueError as e:
            raise CudaUnavailable(str(e)) from e
        device = api.retain(self._ordinal)
        try:
            with api.bound(self._ordinal):
                self._ring = StagingRing(api, device, fitted)
                try:
                    self._kernels = Kernels(api, self._ring, tables)
                except BaseException:
                    self._ring.close()
                    raise
        except BaseException:
            api.release(self._ordinal)
            raise
        base = min(entry.plane.address for entry in entries)
        end = max(entry.plane.address + entry.plane.span_bytes for entry in entries)
        self.buffers = [StagedBuffer(end - base)]
        self.layers = [wire_layer(entry, 0, entry.plane.address - base, entry.plane) for entry in entries]
        self.staging: Staging | None = self
        self._open = True

    @property
    def direct(self) -> bool:
        return True

    def before_publish(self, group_id: int, blocks: Sequence[int]) -> None:
        self._order(saves=True)

    def before_restore(self, group_id: int, blocks: Sequence[int]) -> None:
        self._order(saves=False)

    def _order(self, *, saves: bool) -> None:
        with self._api.bound(self._ordinal):
            self._kernels.order_after(self._stream_of(self._ordinal), saves=saves)

    def after_restore(self, group_id: int, blocks: Sequence[int]) -> None:
        """The kernels are over when a restore's answer has come: what the engine launches from now on sees the bytes."""

    # What the client asks.

    def to_json(self) -> dict[str, object]:
        return self._ring.to_json()

    def serve(self, handover: BoardHandover) -> BoardService:
        shape = self._ring.shape
        return BoardServer(self._api, self._ordinal, self._kernels, handover, shape.slot_count, shape.load_slots)

    def close(self) -> None:
        if self._open:
            self._open = False
            with self._api.bound(self._ordinal):
                self._kernels.close()
                self._ring.close()
            self._api.release(self._ordinal)
