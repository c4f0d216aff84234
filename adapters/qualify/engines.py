"""The adapters' own tests of whole engines, with their pages on the GPU: vLLM's at random, SGLang's linkers."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time

from qualify.common import say

SUITES = ("tests.test_vllm_property", "tests.test_sglang.LinkerTest", "tests.test_sglang.LinkerRestartTest")
SECONDS = 240.0


def run(launcher: str, seed: int) -> dict[str, object]:
    environment = {**os.environ, "ORBITKV_TEST_GPU": "true", "ORBITKV_LAUNCHER": launcher, "ORBITKV_SEED": str(seed)}
    began = time.monotonic()
    command = [sys.executable, "-m", "unittest", *SUITES]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=SECONDS, check=False, env=environment)
    found = re.search(r"^Ran (\d+) tests", ran.stderr, re.MULTILINE)
    if ran.returncode:
        say(ran.stderr[-6000:])
    return {
        "seed": seed,
        "ran": int(found.group(1)) if found else 0,
        "failed": len(re.findall(r"^(?:FAIL|ERROR): ", ran.stderr, re.MULTILINE)),
        "seconds": round(time.monotonic() - began, 1),
    }
