"""The JSON of control frames: compact on the way out, checked field by field on the way in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import cast

from orbitkv.wire import WireError

MAX_INT = (1 << 53) - 1


def encode_json(fields: Mapping[str, object]) -> bytes:
    return json.dumps(fields, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode()


def _no_constant(text: str) -> object:
    raise ValueError(f"{text} is no JSON number")


def decode_json(payload: bytes) -> Fields:
    try:
        value: object = json.loads(payload.decode("utf-8"), parse_constant=_no_constant)
    except (ValueError, RecursionError) as e:
        raise WireError(f"the peer's JSON cannot be read: {e}") from e
    if not isinstance(value, dict):
        raise WireError("the peer's JSON is no object")
    return Fields(cast("dict[str, object]", value), "")


class Fields:
    """One JSON object of a reply. Fields that nobody asks for are ignored, so that a later Manager may add some."""

    __slots__ = ("_path", "_values")

    def __init__(self, values: dict[str, object], path: str) -> None:
        self._values = values
        self._path = path

    def _get(self, name: str) -> object:
        if name not in self._values:
            raise WireError(f"the reply has no field {self._path}{name}")
        return self._values[name]

    def has(self, name: str) -> bool:
        return name in self._values

    def integer(self, name: str, low: int = 0, high: int = MAX_INT) -> int:
        value = self._get(name)
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise WireError(f"reply field {self._path}{name} is no integer from {low} to {high}")
        return value

    def text(self, name: str) -> str:
        value = self._get(name)
        if not isinstance(value, str):
            raise WireError(f"reply field {self._path}{name} is no string")
        return value

    def flag(self, name: str) -> bool:
        value = self._get(name)
        if not isinstance(value, bool):
            raise WireError(f"reply field {self._path}{name} is no boolean")
        return value

    def object(self, name: str) -> Fields:
        value = self._get(name)
        if not isinstance(value, dict):
            raise WireError(f"reply field {self._path}{name} is no object")
        return Fields(cast("dict[str, object]", value), f"{self._path}{name}.")

    def _list(self, name: str) -> list[object]:
        value = self._get(name)
        if not isinstance(value, list):
            raise WireError(f"reply field {self._path}{name} is no array")
        return cast("list[object]", value)

    def objects(self, name: str) -> list[Fields]:
        found: list[Fields] = []
        for index, value in enumerate(self._list(name)):
            if not isinstance(value, dict):
                raise WireError(f"reply field {self._path}{name}[{index}] is no object")
            found.append(Fields(cast("dict[str, object]", value), f"{self._path}{name}[{index}]."))
        return found

    def texts(self, name: str) -> tuple[str, ...]:
        values = self._list(name)
        if not all(isinstance(value, str) for value in values):
            raise WireError(f"reply field {self._path}{name} is no array of strings")
        return tuple(cast("list[str]", values))
