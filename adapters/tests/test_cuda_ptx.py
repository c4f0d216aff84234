"""The kernels that are shipped: the same for Java and Python, of the source that is there, loadable by old drivers; and what their source does."""

from __future__ import annotations

import hashlib
import random
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "native/src/main/cuda/pages.cu"
FOR_JAVA = ROOT / "native/src/main/resources/io/orbitkv/ffi/cuda/pages.ptx"
FOR_PYTHON = ROOT / "adapters/src/orbitkv/cuda/pages.ptx"
LANES = Path(__file__).resolve().parent / "cuda_lanes"
LAYOUTS = 60


class PtxTest(unittest.TestCase):
    def test_java_and_python_load_the_same_kernels_made_of_this_source(self) -> None:
        ptx = FOR_PYTHON.read_bytes()
        self.assertEqual(FOR_JAVA.read_bytes(), ptx, "run native/src/main/cuda/make-ptx")
        digest = hashlib.sha256(SOURCE.read_bytes()).hexdigest()
        self.assertIn(digest, ptx.splitlines()[0].decode(), "run native/src/main/cuda/make-ptx")

    def test_old_drivers_load_them(self) -> None:
        text = FOR_PYTHON.read_text(encoding="ascii")
        version = re.findall(r"^\.version (\d+)\.(\d+)$", text, re.MULTILINE)
        self.assertEqual([("7", "0")], version)
        self.assertEqual(["sm_80"], re.findall(r"^\.target (\S+)$", text, re.MULTILINE))
        self.assertEqual(
            ["orbitkv_begin", "orbitkv_gather", "orbitkv_scatter"],
            sorted(re.findall(r"^\.visible \.entry (\w+)\(", text, re.MULTILINE)),
        )


@unittest.skipIf(shutil.which("g++") is None, "g++ is not installed")
class KernelSourceTest(unittest.TestCase):
    def test_random_layouts_are_moved_and_summed_exactly(self) -> None:
        seed = random.randrange(1 << 31)
        with tempfile.TemporaryDirectory(prefix="orbitkv-lanes-") as folder:
            program = f"{folder}/random_layouts"
            source = str(LANES / "random_layouts.cpp")
            build = ["g++", "-std=c++20", "-O1", "-pthread", "-w", f'-DPAGES_CU="{SOURCE}"', source, "-o", program]
            built = subprocess.run(build, capture_output=True, text=True, timeout=120, check=False)
            self.assertEqual(0, built.returncode, f"repeat with: {' '.join(build)}\n{built.stderr}")
            run = [program, str(seed), str(LAYOUTS)]
            ran = subprocess.run(run, capture_output=True, text=True, timeout=120, check=False)
            self.assertEqual(0, ran.returncode, f"repeat with: {' '.join(run[1:])}\n{ran.stdout}{ran.stderr}")
            self.assertEqual(f"{LAYOUTS} layouts\n", ran.stdout)


if __name__ == "__main__":
    unittest.main()
