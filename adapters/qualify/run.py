"""Qualifies a Manager and the adapters on a machine with a GPU: layouts, whole engines, kills, a real model.

    PYTHONPATH=adapters/src:adapters python3 -m qualify.run --launcher ./orbitkv --out results

Needs PyTorch and transformers for the layouts and the model; the rest needs the driver alone. Leaves results.json and results.md
in the folder of `--out`, and ends with 1 where something is not as it must be.
"""

from __future__ import annotations

import argparse
import json
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from qualify import engines, kills, layouts, model
from qualify.common import say, table

PARTS = ("layouts", "engines", "kills", "model")


def main() -> int:
    parser = argparse.ArgumentParser(description="OrbitKV on a GPU: layouts, kills, a real model")
    parser.add_argument("--launcher", required=True, help="the orbitkv command to start Managers with")
    parser.add_argument("--out", default="results", help="folder for results.json and results.md")
    parser.add_argument("--parts", default=",".join(PARTS), help=f"some of {','.join(PARTS)}")
    parser.add_argument("--kill-engines", type=int, default=25)
    parser.add_argument("--kill-managers", type=int, default=25)
    parser.add_argument("--prefixes", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-ssd", action="store_true", help="do not restore through the SSD tier")
    options = parser.parse_args()
    work: dict[str, Callable[[], Any]] = {
        "layouts": lambda: layouts.run(options.launcher),
        "engines": lambda: engines.run(options.launcher, options.seed),
        "kills": lambda: kills.run(options.launcher, options.kill_engines, options.kill_managers, options.seed),
        "model": lambda: model.run(options.launcher, options.prefixes, options.seed, not options.no_ssd),
    }
    folder = Path(options.out)
    folder.mkdir(parents=True, exist_ok=True)
    results: dict[str, Any] = {}
    faults: list[str] = []
    for part in options.parts.split(","):
        try:
            results[part] = work[part]()
            faults += checked(part, results[part])
        except Exception as e:
            traceback.print_exc()
            faults.append(f"{part}: {e}")
        results["faults"] = faults
        (folder / "results.json").write_text(json.dumps(results, indent=1) + "\n")
        (folder / "results.md").write_text(markdown(results))
    say("faults:" if faults else "no fault", *faults)
    return 1 if faults else 0


def checked(part: str, found: Any) -> list[str]:
    """What is not as it must be."""
    if part == "layouts":
        return [f"layouts: {row['layout']} is not exact" for row in found if not row["exact"]]
    if part == "engines":
        return [] if found["ran"] and not found["failed"] else [f"engines: {found}"]
    if part == "kills":
        must_be_zero = ("wrong pages", "times something was still held", "times GPU memory was not back")
        return [
            f"kills of {who}: {found[who][name]} {name}"
            for who in ("engines", "managers")
            for name in must_be_zero
            if found[who][name]
        ]
    faults: list[str] = []
    for way in ("memory", "ssd"):
        notes: Mapping[str, Any] | None = found.get(way)
        if notes is None:
            continue
        if notes["bit-identical"] != notes["prefixes"] or not all(row["bit-identical"] for row in notes["ttft"]):
            faults.append(f"model, {way}: {notes['bit-identical']} of {notes['prefixes']} are bit-identical")
        if not (notes["same weights"] and notes["same weights 8b"] and notes["differs without a restore"]):
            faults.append(f"model, {way}: the comparison itself does not hold: {notes}")
    return faults


def markdown(results: Mapping[str, Any]) -> str:
    parts: list[str] = []
    if "layouts" in results:
        parts += ["### Layouts", table(results["layouts"])]
    if "engines" in results:
        parts += ["### Engines", table([results["engines"]])]
    if "kills" in results:
        rows = [{"killed": who, **results["kills"][who]} for who in ("engines", "managers")]
        names = list(dict.fromkeys(name for row in rows for name in row))
        parts += ["### Kills", table([{name: row.get(name, "") for name in names} for row in rows])]
    if "model" in results:
        for way in ("memory", "ssd"):
            notes = results["model"].get(way)
            if notes is not None:
                same = f"{notes['bit-identical']} of {notes['prefixes']} prefixes bit-identical ({way})"
                parts += [f"### Model, {way}", same, table(notes["ttft"])]
    parts.append(f"Faults: {results.get('faults') or 'none'}")
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    sys.exit(main())
