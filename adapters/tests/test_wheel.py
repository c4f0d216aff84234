"""The package as it is installed: the wheel builds without a network, and what its entry points name is there."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]

LOAD = """
import importlib.metadata, json, sys
found = {}
for group in ("vllm.general_plugins", "sglang.srt.plugins"):
    for point in importlib.metadata.entry_points(group=group):
        if point.name == "orbitkv":
            function = point.load()
            found[group] = [function.__module__, function.__name__, callable(function)]
import orbitkv
foreign = [name for name in ("torch", "vllm", "sglang") if name in sys.modules]
print(json.dumps({"found": found, "file": orbitkv.__file__, "foreign": foreign}))
"""


@unittest.skipIf(sys.version_info < (3, 11), "needs tomllib, of Python 3.11")
class WheelTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory(prefix="orbitkv-wheel-")
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        sys.path.insert(0, str(ROOT / "build_backend"))
        self.addCleanup(sys.path.remove, str(ROOT / "build_backend"))
        self.backend: Any = importlib.import_module("orbitkv_build")

    def install(self, name: str) -> dict[str, Any]:
        """Unpacks a wheel, which is all that an installation is, and loads its entry points in another process."""
        site = self.folder / "site"
        with zipfile.ZipFile(self.folder / name) as archive:
            self.assertIsNone(archive.testzip())
            archive.extractall(site)
        run = [sys.executable, "-I", "-c", f"import site; site.addsitedir({str(site)!r})\n{LOAD}"]
        output = subprocess.run(run, cwd=self.folder, capture_output=True, text=True, timeout=60, check=False)
        self.assertEqual(0, output.returncode, output.stderr)
        return json.loads(output.stdout)

    def test_the_wheel_s_entry_points_load_without_the_engines(self) -> None:
        name = self.backend.build_wheel(str(self.folder))
        self.assertEqual("orbitkv-0.1.0-py3-none-any.whl", name)
        loaded = self.install(name)
        expected = {
            "vllm.general_plugins": ["orbitkv.vllm.plugin", "register", True],
            "sglang.srt.plugins": ["orbitkv.sglang.plugin", "register", True],
        }
        self.assertEqual((expected, []), (loaded["found"], loaded["foreign"]))
        self.assertTrue(loaded["file"].startswith(str(self.folder)))

    def test_the_wheel_has_every_module_and_nothing_else(self) -> None:
        name = self.backend.build_wheel(str(self.folder))
        with zipfile.ZipFile(self.folder / name) as archive:
            packed = {path for path in archive.namelist() if ".dist-info/" not in path}
        sources = {path.relative_to(ROOT / "src").as_posix() for path in (ROOT / "src").rglob("*.py")}
        self.assertEqual(sources | {"orbitkv/py.typed", "orbitkv/cuda/pages.ptx"}, packed)

    def test_the_same_sources_give_the_same_bytes(self) -> None:
        first = (self.folder / self.backend.build_wheel(str(self.folder))).read_bytes()
        self.assertEqual(first, (self.folder / self.backend.build_wheel(str(self.folder))).read_bytes())

    def test_an_editable_install_uses_the_checkout(self) -> None:
        loaded = self.install(self.backend.build_editable(str(self.folder)))
        self.assertEqual(str(ROOT / "src/orbitkv/__init__.py"), loaded["file"])

    def test_the_source_distribution_can_be_built_from(self) -> None:
        import tarfile

        name = self.backend.build_sdist(str(self.folder))
        with tarfile.open(self.folder / name) as archive:
            names = archive.getnames()
        for needed in ("pyproject.toml", "README.md", "build_backend/orbitkv_build.py", "PKG-INFO", "src/orbitkv/client.py"):
            self.assertIn(f"orbitkv-0.1.0/{needed}", names)


if __name__ == "__main__":
    unittest.main()
