"""Publishes and restores under way, for an engine that does something else meanwhile.

The rule of this file: **pages belong to the Manager until it has let go of them.** A transfer is over when its answer has
come; one whose connection was lost, when the Manager's process has ended or has registered a successor. A transfer
that takes too long is cancelled, which still needs the Manager's answer. Where a Manager neither answers nor ends, no
page may be used again, and PagesStuck says so: the engine must end, a wrong byte is never an option.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from orbitkv.client import OrbitClient
from orbitkv.codes import Code
from orbitkv.pending import Pending, PendingRestore
from orbitkv.results import Published, Refused, Restored


class PagesStuck(RuntimeError):
    """The Manager has hung while it may touch pages that the engine needs."""


class Transfer:
    """One publish or restore."""

    def __init__(
        self,
        client: OrbitClient,
        pending: Pending[Any],
        pages: Sequence[int],
        timeout_millis: int,
        drain_timeout_millis: int,
    ) -> None:
        self._client = client
        self._pending = pending
        self.pages = frozenset(pages)
        """Blocks of the engine that the Manager reads or writes."""
        started = time.monotonic()
        self._cancel_at = started + timeout_millis / 1000
        self._stuck_at = self._cancel_at + drain_timeout_millis / 1000
        self._cancelled = False
        self.over = False

    @property
    def answer(self) -> object:
        """Published, Restored, or why not; None before it has come."""
        return self._pending.result

    @property
    def good(self) -> bool:
        return self.over and isinstance(self.answer, Published | Restored)

    def cancel(self) -> None:
        """Asks for an early end; the pages are free when `over` says so."""
        if not self._cancelled and self._pending.result is None:
            self._cancelled = True
            self._client.start_cancel(self._pending)

    def poll(self) -> bool:
        """Whether it is over and its pages are free. PagesStuck when that can no longer be hoped for."""
        if self.over:
            return True
        if self._pending.result is None:
            self._pending.wait(0)
        answer = self._pending.result
        if answer is not None:
            lost = isinstance(answer, Refused) and answer.code == Code.SESSION_LOST
            self.over = not lost or self._client.is_quiet(self._pending.session_id)
        if not self.over:
            now = time.monotonic()
            if now > self._stuck_at:
                raise PagesStuck(
                    f"the OrbitKV Manager has neither answered nor ended and may still touch {len(self.pages)} pages of "
                    "this engine, which therefore ends; restart the Manager, and the engine after it"
                )
            if now > self._cancel_at:
                self.cancel()
        return self.over

    def wait(self) -> None:
        """Until it is over. Bounded by the two timeouts, after which PagesStuck is raised."""
        while not self.poll():
            if self._pending.result is None:
                self._pending.wait(0.05)
            else:
                time.sleep(0.002)

    def wait_layers(self, count: int) -> bool:
        """Until so many layers of a restore are in place, or it is over; whether they are in place."""
        pending = self._pending
        if not isinstance(pending, PendingRestore):
            raise TypeError("only a restore counts layers")
        while self._pending.result is None and not pending.wait_layers(count, 0.05):
            self.poll()
        if isinstance(self._pending.result, Restored):
            return True
        return self._pending.result is None
