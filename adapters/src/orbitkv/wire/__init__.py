"""The bytes of protocol version 1, in both directions: control frames, ring descriptors, payloads. No I/O here.

Encoders raise ValueError for what the protocol cannot express (a mistake of the caller). Decoders raise WireError for
bytes that the protocol does not allow (a mistake of the Manager); whoever meets one gives the connection up.
"""

from __future__ import annotations


class WireError(Exception):
    """The peer sent something that the protocol does not allow."""
