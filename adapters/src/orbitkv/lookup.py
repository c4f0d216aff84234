"""One request's lookup: how far its state can be restored on every pipeline stage that this process asks for.

Each stage answers with the longest boundary that it holds under a lease. Where they differ, the stages that hold more
are asked again with the shortest as their limit; the common boundary can only be below it, so this ends at the longest
one that all have. What must be restored for it is in the answers: it is never computed here.

Nothing here waits: `advance` looks at what has come and says whether there is a result.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

from orbitkv.client import OrbitClient
from orbitkv.codes import Code
from orbitkv.pending import Pending
from orbitkv.results import Loading, QueryResult, Ready, Refused

SUBMIT_SECONDS = 0.002
"""How long a lookup may wait for a free slot of the channel before it counts as a miss."""
LEASE_MARGIN_MILLIS = 2000
"""A lease with less life left, or less than a quarter, is not used any more: the restore must begin within it."""

Keys = Mapping[int, Sequence[bytes]]


class Lookup:
    def __init__(
        self,
        clients: Mapping[int, OrbitClient],
        name: str,
        start_token: int,
        limit_token: int,
        keys: Callable[[int], Keys],
        timeout_millis: int,
    ) -> None:
        """`keys` gives, for a limit, each group's keys from `start_token` on."""
        self._clients = clients
        self._name = name
        self.start_token = start_token
        self.limit_token = limit_token
        self._keys = keys
        self._deadline = time.monotonic() + timeout_millis / 1000
        self._pending: dict[int, Pending[QueryResult]] = {}
        self._loading: dict[int, Loading] = {}
        self.ready: dict[int, Ready] = {}
        self._leased_at: dict[int, float] = {}
        self.boundary: int | None = None
        """The common boundary; `start_token` for none; None while it is not known."""
        self.timed_out = False
        for stage in clients:
            self._ask(stage, limit_token)

    def _ask(self, stage: int, limit_token: int) -> None:
        remaining = max(1, int((self._deadline - time.monotonic()) * 1000))
        limits = self._clients[stage].limits
        self._pending[stage] = self._clients[stage].start_query(
            self.start_token,
            self._keys(limit_token),
            limit_token=limit_token,
            request=self._name,
            wait=True,
            replace=True,
            ticket_millis=min(remaining, limits.max_ticket_millis) if limits is not None else remaining,
            timeout_seconds=SUBMIT_SECONDS,
        )

    def advance(self, inline_seconds: float = 0.0) -> int | None:
        """The common boundary when it is known; waits for answers at most that long."""
        until = time.monotonic() + inline_seconds
        while self.boundary is None:
            if not self._take_answers(until):
                if time.monotonic() > self._deadline:
                    self.timed_out = True
                    self._end(self.start_token)
                    break
                if time.monotonic() >= until:
                    return None
                continue
            self._agree()
        return self.boundary

    def _take_answers(self, until: float) -> bool:
        """Whether every stage has answered."""
        for stage, pending in list(self._pending.items()):
            answer: QueryResult = pending.wait(max(0.0, until - time.monotonic()))
            if pending.done:
                del self._pending[stage]
                self._take(stage, answer)
        for stage, loading in list(self._loading.items()):
            answer = self._clients[stage].wait(loading, max(0.0, until - time.monotonic()))
            if not (isinstance(answer, Loading) or (isinstance(answer, Refused) and answer.code == Code.DEADLINE)):
                del self._loading[stage]
                self._take(stage, answer)
        return not self._pending and not self._loading

    def _take(self, stage: int, answer: QueryResult) -> None:
        match answer:
            case Ready():
                self.ready[stage] = answer
                self._leased_at[stage] = time.monotonic()
            case Loading():
                self._loading[stage] = answer
            case _:
                # A miss, or a Manager that cannot answer now: this stage restores nothing.
                self.ready.pop(stage, None)

    def _agree(self) -> None:
        if len(self.ready) < len(self._clients):
            self._end(self.start_token)
            return
        low = min(ready.boundary_token for ready in self.ready.values())
        higher = [stage for stage, ready in self.ready.items() if ready.boundary_token > low]
        if not higher:
            self.boundary = low
            return
        for stage in higher:
            self._clients[stage].release(self.ready.pop(stage).lease, SUBMIT_SECONDS)
            self._ask(stage, low)

    def lower(self, limit_token: int) -> None:
        """Asks again, for no more than that: others have less."""
        for stage, ready in list(self.ready.items()):
            self._clients[stage].release(ready.lease, SUBMIT_SECONDS)
            self.ready.pop(stage)
            self._ask(stage, limit_token)
        self.boundary = None

    def _end(self, boundary: int) -> None:
        self.drop()
        self.boundary = boundary

    @property
    def fresh(self) -> bool:
        """Whether its leases can still be restored from."""
        now = time.monotonic()
        return all(
            self._clients[stage].session_id == ready.lease.session_id
            and 1000 * (now - self._leased_at[stage]) < _usable_millis(ready.lease.life_millis)
            for stage, ready in self.ready.items()
        )

    def drop(self) -> None:
        """Gives up what it holds and what it still waits for. Again does nothing."""
        for stage, pending in self._pending.items():
            self._clients[stage].start_cancel(pending)
        for stage, loading in self._loading.items():
            self._clients[stage].start_cancel(loading.ticket)
        for stage, ready in self.ready.items():
            self._clients[stage].release(ready.lease, SUBMIT_SECONDS)
        self._pending.clear()
        self._loading.clear()
        self.ready.clear()


def _usable_millis(life_millis: int) -> float:
    return life_millis - min(LEASE_MARGIN_MILLIS, life_millis / 4)
