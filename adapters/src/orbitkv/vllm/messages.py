"""What the scheduler's side and the workers' sides of the connector tell each other, without vLLM's base classes.

The engine pickles these between processes. Ids of blocks are the engine's and the same on every rank.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from orbitkv.registration import Group, StateFormat


@dataclass(frozen=True)
class StageFacts:
    """What one pipeline stage has registered; every tensor-parallel rank of a stage registers the same.

    A stage is an instance and a namespace of its own, because stages differ in their layers.
    """

    stage: int
    stage_count: int
    shard_count: int
    instance: str
    namespace: str
    format: StateFormat
    groups: tuple[Group, ...]


@dataclass(frozen=True)
class StageLease:
    """A lease and what must be restored of each group under it, as the Manager computed it."""

    lease_id: int
    epoch: int
    session_id: int
    life_millis: int
    ranges: tuple[tuple[int, int, tuple[int, ...]], ...]
    """Group id, first token, and a destination block per page."""


@dataclass(frozen=True)
class LoadPlan:
    """A restore that every rank is to make."""

    req_id: str
    leases: dict[int, StageLease]
    """By stage."""
    invalid_if_failed: frozenset[int]
    """Blocks whose contents the engine must not use when the restore fails on any rank."""
    asynchronous: bool


@dataclass(frozen=True)
class SavePlan:
    """Blocks of one group of one request that will be whole after this step."""

    save_id: int
    req_id: str
    group_id: int
    keys: tuple[bytes, ...]
    blocks: tuple[int, ...]


@dataclass
class Step:
    """The scheduler's word to the workers for one step of the engine."""

    loads: list[LoadPlan] = field(default_factory=list[LoadPlan])
    saves: list[SavePlan] = field(default_factory=list[SavePlan])
    overwritten: frozenset[int] = frozenset()
    """Blocks handed out in this step: whoever reads them must be done before they are written."""


@dataclass
class Report:
    """The workers' word to the scheduler after a step; reports of several ranks are summed."""

    facts: dict[int, StageFacts] = field(default_factory=dict[int, StageFacts])
    restored: dict[str, int] = field(default_factory=dict[str, int])
    """Ranks that have a request's restore in place."""
    failed: dict[str, int] = field(default_factory=dict[str, int])
    stored: dict[int, int] = field(default_factory=dict[int, int])
    """Ranks whose slices of a save are all in the cache, by save id."""

    def add(self, other: Report) -> Report:
        for stage, facts in other.facts.items():
            if self.facts.setdefault(stage, facts) != facts:
                raise ValueError(f"ranks of pipeline stage {stage} have registered different things")
        for mine, theirs in ((self.restored, other.restored), (self.failed, other.failed)):
            for req_id, count in theirs.items():
                mine[req_id] = mine.get(req_id, 0) + count
        for save_id, count in other.stored.items():
            self.stored[save_id] = self.stored.get(save_id, 0) + count
        return self

    @property
    def empty(self) -> bool:
        return not (self.facts or self.restored or self.failed or self.stored)
