"""The entry point `vllm.general_plugins`, which vLLM calls in each of its processes."""

from __future__ import annotations

import importlib
from typing import Any

CONNECTOR_NAME = "OrbitKVConnector"
CONNECTOR_MODULE = "orbitkv.vllm.connector"


def register() -> None:
    """Makes the connector known by its name, so that `"kv_connector": "OrbitKVConnector"` is enough.

    vLLM calls this also where OrbitKV is not used, so it imports nothing of the connector.
    """
    factory: Any = importlib.import_module("vllm.distributed.kv_transfer.kv_connector.factory").KVConnectorFactory
    try:
        factory.register_connector(CONNECTOR_NAME, CONNECTOR_MODULE, CONNECTOR_NAME)
    except ValueError:
        # Registered already: vLLM may load plug-ins more than once in a process.
        return
