"""What an engine's configuration says to an adapter."""

from __future__ import annotations

import dataclasses
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass

from orbitkv.control import ManagerUnavailable, socket_path_of
from orbitkv.cuda.ring import MIB, RingShape

ASYNC, LAYERWISE = "async", "layerwise"
_RANGES: dict[str, tuple[int, int]] = {
    "lookup_inline_ms": (0, 1000),
    "lookup_timeout_ms": (1, 60_000),
    "restore_timeout_ms": (10, 600_000),
    "drain_timeout_ms": (100, 3_600_000),
    "max_pending_saves": (1, 128),
    "staging_slot_mb": (1, 256),
    "staging_load_slots": (1, 16),
    "staging_save_slots": (1, 16),
}


class BadSetting(ValueError):
    """A setting that is not known or not possible; the message names it."""


@dataclass(frozen=True, slots=True)
class Settings:
    """Fields are the keys of `kv_connector_extra_config` (vLLM) and of the `orbitkv` extra config (SGLang)."""

    socket: str = ""
    """Path of the Manager's socket; else ORBITKV_SOCKET."""
    instance: str = ""
    """Name of this deployment of the engine; else the engine's own id. Two running engines must not have one name."""
    namespace: str = ""
    """What may share bytes; else derived from model, format and layout. One that is bound otherwise is refused."""
    model_digest: str = ""
    """Else derived from the model's name and revision."""
    load_mode: str = ASYNC
    """`async`: a request waits for its pages outside the batch. `layerwise`: it computes while later layers load."""
    lookup_inline_ms: int = 2
    """How long a lookup may hold up the scheduler before it is taken up again at its next step."""
    lookup_timeout_ms: int = 2000
    """How long a request stays queued for its lookup before it goes on without the cache."""
    restore_timeout_ms: int = 30_000
    """After this a restore is cancelled and the request recomputes."""
    drain_timeout_ms: int = 60_000
    """After this an engine ends itself rather than use pages that a hung Manager may still touch."""
    max_pending_saves: int = 16
    """Publishes under way per worker; what comes beyond is not saved."""
    staging_slot_mb: int = 16
    """Pages on a GPU: MiB of a staging slot, a chunk of a copy. Larger where a block needs it."""
    staging_load_slots: int = 4
    staging_save_slots: int = 4
    """Slots for restores and for publishes: GPU memory that each worker takes."""

    @staticmethod
    def of(values: Mapping[str, object]) -> Settings:
        """BadSetting names a key that is not known or a value that is not possible."""
        known = {field.name: field for field in dataclasses.fields(Settings)}
        chosen: dict[str, object] = {}
        for key, value in values.items():
            if key not in known:
                raise BadSetting(f"OrbitKV has no setting {key!r}; there are: {', '.join(known)}")
            if key in _RANGES:
                low, high = _RANGES[key]
                if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
                    raise BadSetting(f"{key} is an integer from {low} to {high}, not {value!r}")
            elif not isinstance(value, str):
                raise BadSetting(f"{key} is a string, not {value!r}")
            chosen[key] = value
        settings = dataclasses.replace(Settings(), **chosen)
        if settings.load_mode not in (ASYNC, LAYERWISE):
            raise BadSetting(f"load_mode is {ASYNC!r} or {LAYERWISE!r}, not {settings.load_mode!r}")
        return settings

    @property
    def ring(self) -> RingShape:
        """The staging slots of pages on a GPU."""
        return RingShape(self.staging_slot_mb * MIB, self.staging_load_slots, self.staging_save_slots)

    def socket_path(self) -> str:
        return socket_path_of(self.socket or None)

    def require_socket(self) -> str:
        """The path, where there is a socket. ManagerUnavailable otherwise, so that a start fails at once."""
        path = self.socket_path()
        try:
            found = stat.S_ISSOCK(os.stat(path).st_mode)
        except OSError:
            found = False
        if not found:
            raise ManagerUnavailable(
                f"there is no OrbitKV Manager socket at {path}: start `orbitkv manager --socket {path}` on this host "
                "before the engine, or name the right path by the setting `socket` or by ORBITKV_SOCKET"
            )
        return path


def visible_name(text: str, length: int) -> str:
    """The text as a name of the protocol: visible ASCII, at most so long; its end distinguishes, so the end is kept."""
    return "".join(letter if "!" <= letter <= "~" else "_" for letter in text)[-length:]
