"""The contract suite of docs/protocol.md, section 7, against a real Manager; names and order are the text's.

Needs ORBITKV_LAUNCHER, the launcher that starts a Manager; is skipped without it.
"""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
import time
import unittest
from pathlib import Path

from orbitkv import (
    CancelAnswer,
    Cancelled,
    Category,
    Cleaned,
    Code,
    Discovered,
    Group,
    HostBuffer,
    Layer,
    Loading,
    Miss,
    OrbitClient,
    Pong,
    Prepared,
    Ready,
    Refused,
    RegistrationRefused,
    Registration,
    Released,
    Restored,
    RestoreGroup,
    Sessions,
    Unregistered,
)
from orbitkv.wire.frames import FrameType
from orbitkv.wire.rings import QUERY_DISCOVER, QUERY_WAIT, Op, Status
from tests import protocol_text
from tests.contract_support import (
    ATTENTION,
    BLOCK_COUNT,
    FORMAT,
    LAUNCHER,
    LAYER_BYTES,
    NO_LAUNCHER,
    PAGE_TOKENS,
    SLICE_BYTES,
    ContractCase,
    Daemon,
    Engine,
    expect,
    expect_not_refused,
    keys_of,
)

WINDOW = Group(1, "SWA", PAGE_TOKENS, "WINDOW", SLICE_BYTES, window_tokens=100)
CHECKPOINT = Group(1, "RECURRENT", PAGE_TOKENS, "CHECKPOINT", SLICE_BYTES)
REPLICATED = dataclasses.replace(ATTENTION, component="MLA", replicated=True)


def setUpModule() -> None:
    if LAUNCHER:
        ContractCase.daemon = Daemon()
        unittest.addModuleCleanup(ContractCase.daemon.stop)
        ContractCase.daemon.start()


@unittest.skipUnless(LAUNCHER, NO_LAUNCHER)
class ContractTest(ContractCase):
    def test_helloTellsEpochAndLimits(self) -> None:
        control = self.control()
        self.assert_refused(Code.ALREADY_REGISTERED, control.hello())
        client = self.engine().client
        assert client.limits is not None
        self.assertGreaterEqual(client.epoch, 1)
        for limit, value in dataclasses.asdict(client.limits).items():
            self.assertGreater(value, 0, limit)

    def test_registerGivesAChannel(self) -> None:
        client = self.engine().client
        assert client.geometry is not None
        self.assertEqual(
            (16842752, 4096, 20480, 256, 65536, 16, 1048576), dataclasses.astuple(client.geometry)
        )
        self.assertGreater(client.session_id, 0)
        expect(Pong, client.ping())

    def test_pingAnswersInOrder(self) -> None:
        client = self.engine().client
        last = 0
        for request_id in range(1, 1001):
            ping = client.start_ping()
            value = expect(Pong, ping.wait(5)).monotonic_nanos
            self.assertEqual(request_id, ping.request_id)
            self.assertGreaterEqual(value, last)
            last = value

    def test_ringWrapsAround(self) -> None:
        client = self.engine().client
        assert client.geometry is not None
        count = 3 * client.geometry.entries + 7
        pings = [client.start_ping() for _ in range(count)]
        for ping in pings:
            expect(Pong, ping.wait(5))
        self.assertEqual(count, len({ping.request_id for ping in pings}))
        self.assertEqual(0, client.outstanding)

    def test_queryOfUnknownKeysMisses(self) -> None:
        client = self.engine().client
        miss = expect(Miss, client.query(128, {0: self.keys(8)}))
        self.assertEqual((128, ((0, 128, 128, 0),)), (miss.start_token, miss.groups))
        self.assertEqual(0, self._leases(client))

    def test_publishThenQueryIsReady(self) -> None:
        engine = self.engine()
        start, keys = 128, self.keys(8)
        engine.fill(range(8), self.name)
        published = engine.publish(keys, range(8))
        self.assertEqual((8, 0, 0, 0, bytes(8)), dataclasses.astuple(published)[:5])
        self.assertEqual(8 * SLICE_BYTES, published.stored_bytes)
        ready = expect(Ready, engine.client.query(start, {0: keys}))
        end = start + 8 * PAGE_TOKENS
        self.assertEqual((start, end), (ready.start_token, ready.boundary_token))
        self.assertEqual(((0, start, end, 8),), ready.groups)
        self.assertNotEqual(0, ready.lease.lease_id)
        self.assertEqual(tuple(range(start + PAGE_TOKENS, end + 1, PAGE_TOKENS)), ready.boundaries)
        self.assertEqual(1, self._leases(engine.client))

    def test_publishTwiceIsAlready(self) -> None:
        engine = self.engine()
        engine.publish(self.keys(8), range(8))
        again = engine.publish(self.keys(8), range(8))
        self.assertEqual((0, 8, bytes([1] * 8), 0), (again.stored, again.already, again.outcomes, again.stored_bytes))

    def test_restoreGivesTheSameBytes(self) -> None:
        engine = self.engine()
        written = engine.fill(range(8), self.name)
        engine.publish(self.keys(8), range(8))
        for block in range(8):
            engine.write(block, bytes(SLICE_BYTES))
        targets = [20, 9, 33, 10, 63, 11, 12, 40]
        restored = engine.restore(engine.ready(self.keys(8)).lease, targets)
        self.assertEqual(8 * SLICE_BYTES, restored.restored_bytes)
        self.assertEqual(written, [engine.read(block) for block in targets])
        self.assertEqual([bytes(SLICE_BYTES)] * 8, [engine.read(block) for block in range(8)])

    def test_sourceMayChangeAfterPublish(self) -> None:
        engine = self.engine()
        written = engine.fill(range(8), self.name)
        engine.publish(self.keys(8), range(8))
        engine.fill(range(8), "something else")
        engine.restore(engine.ready(self.keys(8)).lease, range(8))
        self.assertEqual(written, [engine.read(block) for block in range(8)])

    def test_partialPrefixGivesItsBoundary(self) -> None:
        engine = self.engine()
        keys = self.keys(8)
        engine.publish(keys[:5], range(5))
        self.assertEqual(5 * PAGE_TOKENS, engine.ready(keys).boundary_token)
        other = keys_of("with a hole", 8)
        engine.publish([key for index, key in enumerate(other) if index != 2], range(7))
        self.assertEqual(2 * PAGE_TOKENS, engine.ready(other).boundary_token)

    def test_limitTokenCapsTheBoundary(self) -> None:
        engine = self.engine()
        engine.publish(self.keys(8), range(8))
        self.assertEqual(256, engine.ready(self.keys(8), limit_token=256).boundary_token)
        self.assertEqual(256, engine.ready(self.keys(8), limit_token=319).boundary_token)

    def test_discoverTakesNoLease(self) -> None:
        engine = self.engine()
        engine.publish(self.keys(8), range(8))
        found = expect(Discovered, engine.client.discover(0, {0: self.keys(8)}))
        self.assertEqual(tuple(range(64, 513, 64)), found.boundaries)
        self.assertEqual(0, self._leases(engine.client))

    def test_windowAndPrefixRanges(self) -> None:
        engine = self.engine(groups=[ATTENTION, WINDOW])
        keys = self.keys(8)
        for group in (0, 1):
            engine.publish(keys, range(8), group)
        ready = expect(Ready, engine.client.query(128, {0: keys[2:], 1: keys[2:]}))
        ranges = [(group.group_id, group.from_token, group.to_token) for group in ready.groups]
        self.assertEqual([(0, 128, 512), (1, 384, 512)], ranges)

    def test_checkpointNeedsItsPage(self) -> None:
        engine = self.engine(groups=[ATTENTION, CHECKPOINT])
        keys = self.keys(8)
        engine.publish(keys, range(8), 0)
        engine.publish([keys[2], keys[5]], [2, 5], 1)
        found = expect(Discovered, engine.client.discover(0, {0: keys, 1: keys}))
        self.assertEqual((192, 384), found.boundaries)
        ready = expect(Ready, engine.client.query(0, {0: keys, 1: keys}))
        self.assertEqual(384, ready.boundary_token)
        self.assertEqual((320, 384), (ready.group(1).from_token, ready.group(1).to_token))

    def test_releaseIsIdempotent(self) -> None:
        engine = self.engine()
        engine.publish(self.keys(1), [0])
        lease = engine.ready(self.keys(1)).lease
        self.assertEqual(Released(was_open=True), engine.client.release(lease))
        self.assertEqual(Released(was_open=False), engine.client.release(lease))

    def test_restoreAfterReleaseIsStale(self) -> None:
        engine = self.engine()
        engine.publish(self.keys(1), [0])
        lease = engine.ready(self.keys(1)).lease
        engine.client.release(lease)
        self.assert_refused(Code.LEASE_GONE, engine.client.restore(lease, [RestoreGroup(0, 0, [1])]))

    def test_restoreWithReleaseFlagEndsTheLease(self) -> None:
        engine = self.engine()
        engine.publish(self.keys(1), [0])
        lease = engine.ready(self.keys(1)).lease
        engine.restore(lease, [1], release=True)
        self.assertEqual(Released(was_open=False), engine.client.release(lease))

    def test_restoreOutsideTheLeaseIsRefused(self) -> None:
        engine = self.engine()
        engine.publish(self.keys(8), range(8))
        lease = engine.ready(self.keys(8), limit_token=256).lease
        before = engine.fill(range(16, 24), self.name)
        for group in (RestoreGroup(0, 0, range(16, 21)), RestoreGroup(0, 256, [16])):
            self.assert_refused(Code.RANGE_NOT_LEASED, engine.client.restore(lease, [group]))
        self.assertEqual(before, [engine.read(block) for block in range(16, 24)])

    def test_badBlockIndexIsRefused(self) -> None:
        engine = self.engine()
        publish = engine.client.publish(0, self.keys(2), [0, BLOCK_COUNT])
        self.assert_refused(Code.BLOCK_OUT_OF_RANGE, publish)
        expect(Miss, engine.client.query(0, {0: self.keys(2)}))
        engine.publish(self.keys(2), [0, 1])
        restore = engine.client.restore(engine.ready(self.keys(2)).lease, [RestoreGroup(0, 0, [5, BLOCK_COUNT])])
        self.assert_refused(Code.BLOCK_OUT_OF_RANGE, restore)

    def test_duplicateDestinationIsRefused(self) -> None:
        engine = self.engine()
        engine.publish(self.keys(2), [0, 1])
        before = engine.fill([5], self.name)
        restore = engine.client.restore(engine.ready(self.keys(2)).lease, [RestoreGroup(0, 0, [5, 5])])
        self.assert_refused(Code.DUPLICATE_DESTINATION, restore)
        self.assertEqual(before, [engine.read(5)])

    def test_progressCountsLayers(self) -> None:
        engine = self.engine()
        source, target = range(32), range(32, 64)
        written = engine.fill(source, self.name)
        engine.publish(self.keys(32), source)
        lease = engine.ready(self.keys(32)).lease
        seen: list[tuple[int, int]] = []

        def on_layers(done: int, total: int) -> None:
            seen.append((done, total))
            for block, data in zip(target, written, strict=True):
                size = done * LAYER_BYTES
                self.assertEqual(data[:size], engine.read(block)[:size])

        group = RestoreGroup(0, 0, target)
        expect(Restored, engine.client.restore(lease, [group], on_layers=on_layers))
        self.assertEqual((2, 2), seen[-1])
        self.assertEqual(sorted(seen), seen)
        started = engine.client.start_restore(lease, [group], progress=True)
        expect(Restored, started.wait(5))
        self.assertEqual((2, 2), started.layers())

    def test_twoShardsSealTogether(self) -> None:
        shards = [self.engine(shard=shard, shard_count=2) for shard in (0, 1)]
        keys = self.keys(4)
        written = [shard.fill(range(4), f"shard {index}") for index, shard in enumerate(shards)]
        shards[0].publish(keys, range(4))
        for shard in shards:
            expect(Miss, shard.client.query(0, {0: keys}))
        shards[1].publish(keys, range(4))
        for shard, data in zip(shards, written, strict=True):
            shard.restore(shard.ready(keys).lease, range(10, 14))
            self.assertEqual(data, [shard.read(block) for block in range(10, 14)])

    def test_replicatedGroupIsStoredOnce(self) -> None:
        shards = [self.engine(groups=[REPLICATED], shard=shard, shard_count=2) for shard in (0, 1)]
        for first in (0, 1):
            with self.subTest(first=first):
                keys = keys_of(f"{self.name}/{first}", 4)
                written = [shard.fill(range(4), str(first)) for shard in shards][0]
                self.assertEqual(4, shards[first].publish(keys, range(4)).stored)
                self.assertEqual(4, shards[1 - first].publish(keys, range(4)).already)
                for shard in shards:
                    shard.restore(shard.ready(keys).lease, range(10, 14))
                    self.assertEqual(written, [shard.read(block) for block in range(10, 14)])

    def _half_published(self) -> tuple[Engine, Engine, list[bytes]]:
        zero, one = (self.engine(shard=shard, shard_count=2) for shard in (0, 1))
        zero.publish(self.keys(2), [0, 1])
        return zero, one, self.keys(2)

    def test_waitAnswersLoadingThenNotice(self) -> None:
        zero, one, keys = self._half_published()
        loading = expect(Loading, zero.client.query(0, {0: keys}, wait=True, request="waiting"))
        expect(Loading, zero.client.poll(loading.ticket))
        one.publish(keys, [0, 1])
        ready = expect(Ready, zero.client.wait(loading, 5))
        self.assertEqual(2 * PAGE_TOKENS, ready.boundary_token)
        self.assert_refused(Code.TICKET_GONE, zero.client.poll(loading.ticket))
        self.assertEqual(0, zero.client.outstanding)

    def test_ticketExpiresWithAnAnswer(self) -> None:
        zero, _, keys = self._half_published()
        began = time.monotonic()
        loading = expect(Loading, zero.client.query(0, {0: keys}, wait=True, ticket_millis=200))
        miss = expect(Miss, zero.client.wait(loading, 5))
        self.assertEqual("TICKET_EXPIRED", miss.name)
        self.assertGreaterEqual(time.monotonic() - began, 0.19)

    def test_cancelEndsATicket(self) -> None:
        zero, _, keys = self._half_published()
        loading = expect(Loading, zero.client.query(0, {0: keys}, wait=True))
        self.assertEqual(CancelAnswer(was_open=True), zero.client.cancel(loading.ticket))
        expect(Cancelled, zero.client.wait(loading, 5))
        self.assertEqual(CancelAnswer(was_open=False), zero.client.cancel(loading.ticket))
        self.assertEqual(0, zero.client.outstanding)

    def test_sameQueryFindsTheTicketAgain(self) -> None:
        zero, one, keys = self._half_published()
        first = expect(Loading, zero.client.query(0, {0: keys}, wait=True, request="q"))
        again = expect(Loading, zero.client.query(0, {0: keys}, wait=True, request="q"))
        self.assertEqual(first.ticket.ticket_id, again.ticket.ticket_id)
        one.publish(keys, [0, 1])
        ready = expect(Ready, zero.client.wait(first, 5))
        self.assertEqual(ready.lease.lease_id, expect(Ready, zero.client.wait(again, 5)).lease.lease_id)
        self.assert_refused(Code.TICKET_GONE, zero.client.poll(again.ticket))
        self.assertEqual(Released(was_open=True), zero.client.release(ready.lease))
        self.assertEqual(0, zero.client.outstanding)

    def test_otherQueryIsRefusedWhileOneIsPending(self) -> None:
        zero, _, keys = self._half_published()
        loading = expect(Loading, zero.client.query(0, {0: keys}, wait=True, request="q"))
        self.assert_refused(Code.TICKET_PENDING, zero.client.query(0, {0: keys[:1]}, wait=True, request="q"))
        expect(Miss, zero.client.query(0, {0: keys[:1]}, request="q"))
        expect(Loading, zero.client.poll(loading.ticket))
        self.assertEqual(CancelAnswer(was_open=True), zero.client.cancel(loading.ticket))
        expect(Cancelled, zero.client.wait(loading, 5))
        expect(Loading, zero.client.query(0, {0: keys[:1]}, wait=True, request="q"))

    def test_pendingTicketsAreBounded(self) -> None:
        zero, _, keys = self._half_published()
        waiting = [
            expect(Loading, zero.client.query(0, {0: keys}, wait=True, request=f"q{i}", ticket_millis=60_000))
            for i in range(128)
        ]
        refused = expect(Refused, zero.client.query(0, {0: keys}, wait=True, request="q128"))
        self.assertEqual((Category.RESOURCE, Code.TOO_MANY_TICKETS), (refused.category, refused.code))
        self.assertTrue(refused.remedy)
        for loading in waiting:
            self.assertEqual(CancelAnswer(was_open=True), zero.client.cancel(loading.ticket))
            expect(Cancelled, zero.client.wait(loading, 5))
        self.assertEqual(0, zero.client.outstanding)
        expect(Loading, zero.client.query(0, {0: keys}, wait=True, request="q128"))

    def test_prepareOfWhatIsThereAnswersAtOnce(self) -> None:
        engine = self.engine()
        engine.publish(self.keys(3), [0, 1, 2])
        self.assertEqual(Prepared(3 * PAGE_TOKENS, False), engine.client.prepare(0, {0: self.keys(4)}))
        self.assertEqual(Prepared(0, False), engine.client.prepare(0, {0: keys_of("unknown", 2)}))
        self.assertEqual(0, engine.client.outstanding)

    def test_prepareWaitsAndLeasesNothing(self) -> None:
        zero, one, keys = self._half_published()
        prepare = zero.client.start_prepare(0, {0: keys}, request="q")
        again = zero.client.start_prepare(0, {0: keys}, request="q")
        self.assert_refused(Code.DEADLINE, prepare.wait(0.02))
        loading = expect(Loading, zero.client.query(0, {0: keys}, wait=True, request="q"))
        one.publish(keys, [0, 1])
        self.assertEqual(Prepared(2 * PAGE_TOKENS, False), prepare.wait(5))
        self.assertEqual(Prepared(2 * PAGE_TOKENS, False), again.wait(5))
        self.assertEqual(Released(was_open=True), zero.client.release(expect(Ready, zero.client.wait(loading, 5)).lease))
        sessions = expect_not_refused(zero.client.sessions()).sessions
        self.assertEqual([(0, 0)], [(s.leases, s.tickets) for s in sessions if s.session_id == zero.client.session_id])

    def test_prepareEndsAtItsDeadline(self) -> None:
        zero, _, keys = self._half_published()
        self.assertEqual(Prepared(0, True), zero.client.prepare(0, {0: keys}, deadline_millis=100))
        self.assertEqual(0, zero.client.outstanding)

    def test_cancelStopsAPreparation(self) -> None:
        zero, _, keys = self._half_published()
        prepare = zero.client.start_prepare(0, {0: keys})
        self.assertEqual(CancelAnswer(was_open=True), zero.client.cancel(prepare))
        expect(Cancelled, prepare.wait(5))
        self.assertEqual(0, zero.client.outstanding)

    def test_newerQueryReplacesTicket(self) -> None:
        zero, one, keys = self._half_published()
        older = expect(Loading, zero.client.query(0, {0: keys}, wait=True, request="same"))
        newer = expect(Loading, zero.client.query(0, {0: keys[:1]}, wait=True, replace=True, request="same"))
        self.assertEqual("TICKET_REPLACED", expect(Cancelled, zero.client.wait(older, 5)).name)
        one.publish(keys, [0, 1])
        expect(Ready, zero.client.wait(newer, 5))

    def test_leaseOfAnotherSessionOfTheInstanceWorks(self) -> None:
        worker, scheduler = self.engine(), self.scheduler()
        written = worker.fill([0, 1], self.name)
        worker.publish(self.keys(2), [0, 1])
        lease = expect(Ready, scheduler.query(0, {0: self.keys(2)})).lease
        self.assertEqual(scheduler.session_id, lease.session_id)
        worker.restore(lease, [7, 8])
        self.assertEqual(written, [worker.read(7), worker.read(8)])
        self.assertEqual(Released(was_open=True), worker.client.release(lease))

    def test_saveSessionPublishes(self) -> None:
        engine = self.engine()
        save = engine.client.attach_save()
        self.addCleanup(save.close)
        written = engine.fill([0], self.name)
        expect_not_refused(save.publish(0, self.keys(1), [0]))
        engine.restore(engine.ready(self.keys(1)).lease, [5])
        self.assertEqual(written, [engine.read(5)])
        engine.client.close()
        ended = save.wait_ended(5)
        assert ended is not None
        self.assertEqual("PARENT_ENDED", ended.reason)

    def test_schedulerHasNoBuffers(self) -> None:
        self.assert_refused(Code.NO_BUFFERS, self.scheduler().publish(0, self.keys(1), [0]))

    def test_differingFormatIsRefusedWithTheField(self) -> None:
        bound = self.engine().registration

        def attempt(**changes: object) -> None:
            other = dataclasses.replace(bound, instance=self.name + "-other", **changes)
            OrbitClient.connect(other, self.path).close()

        uneven = [
            Layer(0, 0, 0, 0, BLOCK_COUNT, 1024, 1024),
            Layer(0, 1, 0, BLOCK_COUNT * 1024, BLOCK_COUNT, 3072, 3072),
        ]
        cases: dict[str, dict[str, object]] = {
            "dtype": {"format": dataclasses.replace(FORMAT, dtype="float16")},
            "layout": {"format": dataclasses.replace(FORMAT, layout="HND")},
            "shardCount": {"shard_count": 2},
            "groups[0].pageTokens": {"groups": [dataclasses.replace(ATTENTION, page_tokens=32)]},
            "layers": {"layers": uneven},
        }
        for field, changes in cases.items():
            with self.subTest(field), self.assertRaises(RegistrationRefused) as raised:
                attempt(**changes)
            refusal = self.assert_refused(Code.FORMAT_MISMATCH, raised.exception.refusal)
            self.assertEqual(field, refusal.field)
        attempt()

    def test_namespacesAreApart(self) -> None:
        one, two = self.engine(), self.engine(instance=self.name + "-2", namespace=self.name + "/v2")
        one.publish(self.keys(1), [0])
        expect(Miss, two.client.query(0, {0: self.keys(1)}))
        expect(Ready, one.client.query(0, {0: self.keys(1)}))

    def test_unsealedBufferIsRefused(self) -> None:
        engine = self.engine()
        fd = os.memfd_create("unsealed", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        self.addCleanup(os.close, fd)
        os.ftruncate(fd, engine.buffer.size_bytes)
        fields = {**engine.registration.to_json(), "instance": self.name + "-other"}
        refusal = self.assert_refused(Code.BUFFER_NOT_SEALED, self.control().register(fields, [fd]))
        self.assertIn("F_SEAL_SHRINK", refusal.remedy)

    def test_cudaBufferIsUnavailable(self) -> None:
        engine = self.engine()
        fields = {
            **engine.registration.to_json(),
            "instance": self.name + "-other",
            "buffers": [{"kind": "CUDA_IPC", "bytes": engine.buffer.size_bytes}],
        }
        self.assert_refused(Code.BUFFER_KIND, self.control().register(fields, []))

    def test_layerOutOfBufferIsRefused(self) -> None:
        largest = (1 << 53) - 1
        with HostBuffer(SLICE_BYTES * 2) as buffer:
            for layer in (
                Layer(0, 0, 0, 1, 2, SLICE_BYTES, SLICE_BYTES),
                Layer(0, 0, 0, 0, 3, SLICE_BYTES, SLICE_BYTES),
                Layer(0, 0, 0, largest, 1, SLICE_BYTES, SLICE_BYTES),
                Layer(0, 0, 0, 0, (1 << 31) - 1, largest, SLICE_BYTES),
                Layer(0, 0, 0, 0, 1, largest, 1, SLICE_BYTES // 1, largest),
            ):
                registration = Registration(self.name, self.namespace, FORMAT, [ATTENTION], [layer], [buffer])
                with self.subTest(layer=layer), self.assertRaises(RegistrationRefused) as raised:
                    OrbitClient.connect(registration, self.path).close()
                self.assert_refused(Code.LAYER_OUT_OF_RANGE, raised.exception.refusal)

    def test_newerSessionSupersedes(self) -> None:
        older = self.engine()
        old_id = older.client.session_id
        newer = self.engine()
        ended = older.client.wait_ended(5)
        assert ended is not None
        self.assertEqual("SUPERSEDED", ended.reason)
        self.assertGreater(newer.client.session_id, old_id)
        self.assert_refused(Code.SESSION_SUPERSEDED, older.client.cleanup())
        self.assert_refused(Code.SESSION_SUPERSEDED, self.control().cleanup(self.name, old_id))
        time.sleep(0.05)
        self.assertFalse(older.client.connected)
        expect(Pong, newer.client.ping())

    def test_unregisterGivesEverythingBack(self) -> None:
        control = self.control()
        before = self._others(expect_not_refused(control.sessions()))
        engine = self.engine()
        engine.publish(self.keys(1), [0])
        engine.ready(self.keys(1))
        session_id = engine.client.session_id
        during = expect_not_refused(control.sessions())
        self.assertEqual([1], [s.leases for s in during.sessions if s.session_id == session_id])
        self.assertEqual(Unregistered(session_id), engine.client.unregister())
        after = expect_not_refused(control.sessions())
        self.assertEqual(before, self._others(after))

    def test_cleanupEndsAllSessionsOfTheInstance(self) -> None:
        engine, scheduler = self.engine(), self.scheduler()
        engine.publish(self.keys(1), [0])
        expect(Ready, scheduler.query(0, {0: self.keys(1)}))
        self.assertEqual(Cleaned(self.name, 2, 1, 0), engine.client.cleanup())
        for client in (engine.client, scheduler):
            ended = client.wait_ended(5)
            assert ended is not None
            self.assertEqual("CLEANED", ended.reason)
        successor = self.engine(instance=self.name + "-2")
        successor.ready(self.keys(1))
        self.assertEqual(Cleaned("nobody", 0, 0, 0), self.control().cleanup("nobody"))

    def test_forgedDescriptorsAreRefused(self) -> None:
        session = self.raw(self.engine())
        generation = 0

        def slotted(op: int = Op.POLL, **changes: int) -> dict[str, int]:
            nonlocal generation
            generation += 1
            session.channel.stamp(0, generation)
            return {"op": op, "slot": 0, "slot_generation": generation, **changes}

        epoch, own = session.registered.epoch, session.registered.session_id
        cases: list[tuple[Code, dict[str, int]]] = [
            (Code.EPOCH, {"epoch": epoch + 1}),
            (Code.SESSION, {"session_id": own + 1}),
            (Code.REQUEST_ID, {"request_id": 0}),
            (Code.REQUEST_ID, {"request_id": 1 << 63}),
            (Code.UNKNOWN_OP, {"op": 0}),
            (Code.UNKNOWN_OP, {"op": 9}),
            (Code.UNKNOWN_FLAG, {"flags": 1}),
            (Code.UNKNOWN_FLAG, slotted(Op.QUERY, flags=QUERY_WAIT | QUERY_DISCOVER)),
            (Code.RESERVED_NOT_ZERO, {"reserved": 1}),
            (Code.RESERVED_NOT_ZERO, {"handle": 1}),
            (Code.RESERVED_NOT_ZERO, {"timeout_millis": 1}),
            (Code.RESERVED_NOT_ZERO, {"slot_generation": 1}),
            (Code.RESERVED_NOT_ZERO, {"payload_bytes": 8}),
            (Code.BAD_SLOT, slotted(Op.QUERY, slot=16)),
            (Code.BAD_SLOT, {"op": Op.QUERY}),
            (Code.BAD_SLOT, {"slot": 0}),
            (Code.BAD_LENGTH, slotted(Op.QUERY, payload_bytes=1048576 - 63)),
            (Code.BAD_LENGTH, slotted(Op.POLL, payload_bytes=8)),
            (Code.SLOT_GENERATION, slotted(Op.POLL, slot_generation=0)),
            (Code.SLOT_GENERATION, slotted(Op.POLL, slot_generation=999)),
        ]
        for code, changes in cases:
            with self.subTest(code=code.name, changes=changes):
                session.channel.stamp(0, generation)
                completion = session.exchange(session.submission(**changes))
                self.assertEqual(Status.REFUSED, completion.status)
                self.assertEqual((code, code // 100), (completion.code, completion.category))
                self.assertEqual(changes.get("slot", 0xFFFF), completion.slot)
                self.assertEqual(Status.OK, session.exchange(session.submission()).status)
        # The generation is used up by a descriptor that got past it, and not to be had again.
        session.channel.stamp(0, generation)
        for code in (Code.TICKET_GONE, Code.SLOT_GENERATION):
            poll = session.submission(Op.POLL, slot=0, slot_generation=generation, handle=1 << 40)
            self.assertEqual(code, session.exchange(poll).code)
        repeated = session.submission(request_id=1)
        self.assertEqual(Code.REQUEST_ID, session.exchange(repeated).code)
        self.assertEqual(Status.OK, session.exchange(session.submission()).status)

    def test_tornSequenceClosesTheSession(self) -> None:
        engine = self.engine()
        session = self.raw(engine)
        session.channel.submit_raw(session.submission(sequence=session.channel.next_sequence + 1))
        frame = session.control.receive(5)
        self.assertEqual(FrameType.CLOSING, frame.type)
        self.assertEqual("PROTOCOL_VIOLATION", frame.fields.text("reason"))
        expect(Pong, engine.client.ping())

    def test_unknownJsonFieldIsRefused(self) -> None:
        control = self.control()
        reply = control.request(FrameType.HEALTH, {"colour": 1})
        self.assertEqual("colour", self.assert_refused(Code.UNKNOWN_FIELD, reply).field)
        expect_not_refused(control.health())

    def test_reconnectsAfterARestart(self) -> None:
        engine = self.engine()
        client = engine.client
        engine.publish(self.keys(1), [0])
        lease = engine.ready(self.keys(1)).lease
        epoch, session_id = client.epoch, client.session_id
        self.daemon.kill()
        self.daemon.start()
        self.assertTrue(client.wait_connected(3, session_id))
        self.assertGreater(client.epoch, epoch)
        self.assert_refused(Code.EPOCH, client.release(lease))
        expect_not_refused(client.query(0, {0: self.keys(1)}))

    # What several tests look at.

    def _leases(self, client: OrbitClient) -> int:
        found = expect(Sessions, client.sessions())
        return sum(session.leases for session in found.sessions if session.session_id == client.session_id)

    def _others(self, sessions: Sessions) -> list[tuple[int, int]]:
        return [(session.session_id, session.leases) for session in sessions.sessions]


@unittest.skipUnless(LAUNCHER, NO_LAUNCHER)
class ExampleTest(ContractCase):
    def test_the_example_of_the_readme_runs(self) -> None:
        root = Path(__file__).resolve().parents[1]
        done = subprocess.run(
            [sys.executable, root / "examples" / "publish_restore.py", self.path],
            env={**os.environ, "PYTHONPATH": str(root / "src")},
            capture_output=True,
            text=True,
            timeout=30,
        )
        self.assertEqual("128 tokens, 16384 bytes restored, equal: True\n", done.stdout, done.stderr)


class ContractNamesTest(unittest.TestCase):
    def test_names_are_those_of_the_text(self) -> None:
        ours = [name.removeprefix("test_") for name in vars(ContractTest) if name.startswith("test_")]
        self.assertEqual(protocol_text.contract_names(), ours)


if __name__ == "__main__":
    unittest.main()
