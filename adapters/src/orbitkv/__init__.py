"""OrbitKV for Python: the client of a host's Manager. Standard library only; Linux, Python 3.10 or newer."""

from orbitkv.buffers import HostBuffer
from orbitkv.client import OrbitClient
from orbitkv.codes import Category, Code
from orbitkv.control import ConnectionLost, ControlConnection, ManagerUnavailable
from orbitkv.link import Ended, RegistrationRefused
from orbitkv.pending import Pending, PendingPrepare, PendingRestore
from orbitkv.registration import Group, Layer, ParallelShape, Registration, StateFormat, dense_layers
from orbitkv.results import (
    CancelAnswer,
    Cancelled,
    Cleaned,
    Discovered,
    Failed,
    Health,
    Lease,
    Limits,
    Loading,
    Miss,
    Pong,
    Prepared,
    Published,
    Ready,
    Refused,
    Released,
    Restored,
    SessionInfo,
    Sessions,
    Ticket,
    Unregistered,
)
from orbitkv.wire.payloads import AnswerGroup, PackedKeys, RestoreGroup

__version__ = "0.1.0"

__all__ = [
    "AnswerGroup",
    "CancelAnswer",
    "Cancelled",
    "Category",
    "Cleaned",
    "Code",
    "ConnectionLost",
    "ControlConnection",
    "Discovered",
    "Ended",
    "Failed",
    "Group",
    "Health",
    "HostBuffer",
    "Layer",
    "Lease",
    "Limits",
    "Loading",
    "ManagerUnavailable",
    "Miss",
    "OrbitClient",
    "PackedKeys",
    "ParallelShape",
    "Pending",
    "PendingPrepare",
    "PendingRestore",
    "Pong",
    "Prepared",
    "Published",
    "Ready",
    "Refused",
    "RegistrationRefused",
    "Registration",
    "Released",
    "RestoreGroup",
    "Restored",
    "SessionInfo",
    "Sessions",
    "StateFormat",
    "Ticket",
    "Unregistered",
    "dense_layers",
]
