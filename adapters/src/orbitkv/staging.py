"""What a registration of pages that only the engine touches has beside its layers (docs/protocol.md, staged pages).

The kind of memory is `orbitkv.cuda`'s business; here is what the client's other parts hand around.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class BoardHandover:
    """The board that REGISTERED brought; the receiver owns the descriptors."""

    size_bytes: int
    board_fd: int
    to_engine_fd: int
    to_manager_fd: int

    def close(self) -> None:
        for fd in (self.board_fd, self.to_engine_fd, self.to_manager_fd):
            os.close(fd)


class BoardService(Protocol):
    """What serves one session's board."""

    def close(self) -> None:
        """Ends it. Afterwards nothing touches the engine's pages for that session."""
        ...


class Staging(Protocol):
    """Staging slots and who moves pages to and from them."""

    def to_json(self) -> dict[str, object]:
        """The object `staging` of REGISTER."""
        ...

    def serve(self, handover: BoardHandover) -> BoardService:
        """Begins to serve a session's board, which it owns from now on. WireError where it makes no sense."""
        ...


@dataclass(frozen=True, slots=True)
class StagedBuffer:
    """Memory of the engine's that nobody else sees: its size is all that is registered."""

    size_bytes: int

    @property
    def fd(self) -> int | None:
        return None

    def to_json(self) -> dict[str, object]:
        return {"kind": "CUDA_STAGED", "bytes": self.size_bytes}
