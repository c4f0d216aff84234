"""A real model's prefixes, computed in one process and restored in others: through memory, and through the SSD after a restart."""

from __future__ import annotations

import json
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

from qualify.common import Manager, python_of_child, say

POOL = "12gb"
SSD_CAPACITY = "14gb"
PROCESS_SECONDS = 240.0


def _process(role: str, manager: Manager, folder: Path, *arguments: str) -> None:
    command = python_of_child("model_process.py", role, manager.socket_path, str(folder), *arguments)
    ran = subprocess.run(command, capture_output=True, text=True, timeout=PROCESS_SECONDS, check=False)
    print(ran.stdout[-4000:], end="", flush=True)
    if ran.returncode:
        raise AssertionError(f"{command} ended with {ran.returncode}:\n{ran.stderr[-4000:]}\n{manager.log()}")


def run(launcher: str, prefixes: int, seed: int, ssd: bool) -> dict[str, Any]:
    manager = Manager(launcher, POOL, ssd_capacity=SSD_CAPACITY if ssd else "")
    found: dict[str, Any] = {"seed": seed}
    try:
        with tempfile.TemporaryDirectory(prefix="orbitkv-model-") as name:
            folder = Path(name)
            manager.start()
            _process("write", manager, folder, str(prefixes), str(seed))
            say("model: written")
            _process("read", manager, folder, str(prefixes), str(seed), "memory", "5")
            found["memory"] = json.loads((folder / "memory.json").read_text())
            if ssd:
                manager.stop()
                found["restart s"] = round(manager.start(), 2)
                time.sleep(0.1)
                _process("read", manager, folder, str(prefixes), str(seed), "ssd", "1")
                found["ssd"] = json.loads((folder / "ssd.json").read_text())
    finally:
        manager.close()
    return found
