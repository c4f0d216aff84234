"""Reads docs/protocol.md: its golden bytes and its tables."""

from __future__ import annotations

import re
from pathlib import Path

PROTOCOL = Path(__file__).resolve().parents[2] / "docs" / "protocol.md"


def golden() -> dict[str, bytes]:
    """The examples of section 6 by name."""
    text = PROTOCOL.read_text(encoding="utf-8")
    found = re.findall(r"^```golden ([a-z-]+)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    return {name: bytes.fromhex(digits) for name, digits in found}


def codes() -> dict[int, tuple[str, str]]:
    """Name and remedy by code, from section 4."""
    text = PROTOCOL.read_text(encoding="utf-8")
    section = text[text.index("## 4. ") : text.index("## 5. ")]
    rows = re.findall(r"^\| (\d{3}) \| ([A-Z_]+) \| [^|]*\| ([^|]*) \|$", section, re.MULTILINE)
    return {int(code): (name, remedy) for code, name, remedy in rows}


def contract_names() -> list[str]:
    """The names of section 7, in its order."""
    text = PROTOCOL.read_text(encoding="utf-8")
    section = text[text.index("## 7. ") : text.index("## 8. ")]
    return re.findall(r"^\| ([a-z][A-Za-z]+) \| ", section.split("| name |", 1)[1], re.MULTILINE)
