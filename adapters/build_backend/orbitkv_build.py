"""Builds the package from pyproject.toml with the standard library alone (PEP 517 and 660), so that it can be built
where no package index is reached. Files have a fixed time: the same sources give the same bytes.
"""

from __future__ import annotations

import base64
import hashlib
import importlib
import io
import re
import sys
import tarfile
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any


ROOT = Path(__file__).resolve().parents[1]
EARLIEST = (1980, 1, 1, 0, 0, 0)
TAG = "py3-none-any"


def _project() -> dict[str, Any]:
    # tomllib came with Python 3.11; before it pyproject.toml asks for tomli, which is the same.
    toml: Any = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    return toml.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def _stem(project: Mapping[str, Any]) -> str:
    return f"{re.sub(r'[-_.]+', '_', project['name'])}-{project['version']}"


def _metadata(project: Mapping[str, Any]) -> str:
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {project['name']}",
        f"Version: {project['version']}",
        f"Summary: {project['description']}",
        f"Requires-Python: {project['requires-python']}",
        *(f"Classifier: {classifier}" for classifier in project["classifiers"]),
        *(f"Requires-Dist: {dependency}" for dependency in project["dependencies"]),
        "Description-Content-Type: text/markdown",
        "",
        (ROOT / project["readme"]).read_text(encoding="utf-8"),
    ]
    return "\n".join(lines)


def _entry_points(project: Mapping[str, Any]) -> str:
    groups = project.get("entry-points", {})
    sections = [
        "\n".join([f"[{group}]", *(f"{name} = {target}" for name, target in sorted(points.items())), ""])
        for group, points in sorted(groups.items())
    ]
    return "\n".join(sections)


def _sources() -> Iterable[Path]:
    """The package's files, in a fixed order."""
    found = (ROOT / "src").rglob("*")
    return sorted(path for path in found if path.suffix in (".py", ".ptx") or path.name == "py.typed")


def _dist_info(project: Mapping[str, Any]) -> dict[str, bytes]:
    folder = f"{_stem(project)}.dist-info"
    wheel = f"Wheel-Version: 1.0\nGenerator: orbitkv_build\nRoot-Is-Purelib: true\nTag: {TAG}\n"
    return {
        f"{folder}/METADATA": _metadata(project).encode(),
        f"{folder}/WHEEL": wheel.encode(),
        f"{folder}/entry_points.txt": _entry_points(project).encode(),
    }


def _write_wheel(folder: str, contents: dict[str, bytes]) -> str:
    project = _project()
    contents = {**contents, **_dist_info(project)}
    record = f"{_stem(project)}.dist-info/RECORD"
    lines = [
        f"{name},sha256={base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b'=').decode()},{len(data)}"
        for name, data in contents.items()
    ]
    contents[record] = "\n".join([*lines, f"{record},,", ""]).encode()
    name = f"{_stem(project)}-{TAG}.whl"
    with zipfile.ZipFile(Path(folder) / name, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data in contents.items():
            entry = zipfile.ZipInfo(path, EARLIEST)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, data)
    return name


# The hooks.


def build_wheel(
    wheel_directory: str, config_settings: Mapping[str, Any] | None = None, metadata_directory: str | None = None
) -> str:
    sources = {path.relative_to(ROOT / "src").as_posix(): path.read_bytes() for path in _sources()}
    return _write_wheel(wheel_directory, sources)


def build_editable(
    wheel_directory: str, config_settings: Mapping[str, Any] | None = None, metadata_directory: str | None = None
) -> str:
    return _write_wheel(wheel_directory, {"__editable__.orbitkv.pth": f"{ROOT / 'src'}\n".encode()})


def build_sdist(sdist_directory: str, config_settings: Mapping[str, Any] | None = None) -> str:
    project = _project()
    files = [ROOT / "pyproject.toml", ROOT / project["readme"], Path(__file__).resolve(), *_sources()]
    name = f"{_stem(project)}.tar.gz"
    with tarfile.open(Path(sdist_directory) / name, "w:gz", format=tarfile.PAX_FORMAT) as archive:
        contents = {path.relative_to(ROOT).as_posix(): path.read_bytes() for path in files}
        contents["PKG-INFO"] = _metadata(project).encode()
        for path, data in contents.items():
            entry = tarfile.TarInfo(f"{_stem(project)}/{path}")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return name
