"""Staged pages without a GPU: a stand-in for the driver, a board that a test posts to."""

from __future__ import annotations

import ctypes
import random
import unittest
from collections.abc import Sequence

from orbitkv import Registration, StateFormat
from orbitkv.client import OrbitClient
from orbitkv.codes import Category
from orbitkv.cuda.moves import INLINE_ENTRIES
from orbitkv.cuda.pages import StagedPages
from orbitkv.cuda.ring import MIB, RingShape
from orbitkv.link import RegistrationRefused
from orbitkv.pages import GroupTensors, NamedTensor, PageBuffers, UnsupportedPages, open_pages
from orbitkv.registration import Group
from orbitkv.wire import WireError
from tests.board_manager import GATHER, SCATTER, BoardManager
from tests.checksum import finish, partial_sum
from tests.contract_support import LAUNCHER, NO_LAUNCHER, Daemon
from tests.fake_cuda import ENGINE_STREAM, UUID, FakeCuda
from tests.fake_manager import FakeManager
from tests.tensors import FakeTensor, Memory

BLOCKS = 11
LOADS, SAVES = 2, 2
SHAPE = RingShape(MIB, LOADS, SAVES)


def on_gpu(tensor: FakeTensor) -> FakeTensor:
    tensor.device = "cuda:0"
    return tensor


class ChecksumTest(unittest.TestCase):
    def test_the_reference_gives_the_vectors(self) -> None:
        pattern = bytes((167 * i + 13 * (i >> 8)) % 256 for i in range(65_536))
        self.assertEqual(0x058C4A94DBCDAA39, partial_sum(pattern))
        self.assertEqual(0xAFC4C5BCF7FD6386, finish(partial_sum(pattern), len(pattern)))
        self.assertEqual(0xA2575D37065DA05D, partial_sum(pattern[:10_000], 4088))


def engine_stream(ordinal: int) -> int:
    assert ordinal == 0
    return ENGINE_STREAM


class StagedCase(unittest.TestCase):
    def setUp(self) -> None:
        self.cuda = FakeCuda()
        self.memory = Memory(1 << 20, shared=False)
        self.random = random.Random(self.id())

    def pages(self, groups: Sequence[GroupTensors], shape: RingShape = SHAPE) -> StagedPages:
        pages = open_pages(groups, shape, lambda: self.cuda)
        assert isinstance(pages, StagedPages)
        self.addCleanup(pages.close)
        return pages

    def attention(self, layers: int = 3) -> tuple[list[FakeTensor], StagedPages]:
        """K and V planes of some layers, and one layer whose block is one run."""
        tensors = [on_gpu(self.memory.tensor((2, BLOCKS, 4, 24))) for _ in range(layers - 1)]
        tensors.append(on_gpu(self.memory.tensor((1, BLOCKS, 5, 24))))
        named = [NamedTensor(f"layers.{index}", tensor) for index, tensor in enumerate(tensors)]
        return tensors, self.pages([GroupTensors(0, BLOCKS, named)])

    def board(self, pages: StagedPages) -> BoardManager:
        board = BoardManager(SHAPE.slot_count, LOADS)
        self.addCleanup(board.close)
        server = pages.serve(board.handover())
        self.addCleanup(server.close)
        return board

    def ring_address(self, pages: StagedPages) -> int:
        return pages._ring.address  # pyright: ignore[reportPrivateUsage]


class MovesTest(StagedCase):
    def fill(self, tensors: Sequence[FakeTensor], block: int) -> list[bytes]:
        written = [self.random.randbytes(tensor.page_bytes(1)) for tensor in tensors]
        for tensor, data in zip(tensors, written, strict=True):
            tensor.write(1, block, data)
        return written

    def test_gathered_pages_come_back_in_other_pages_with_the_sums_of_the_checksum(self) -> None:
        tensors, pages = self.attention()
        board = self.board(pages)
        written = {block: self.fill(tensors, block) for block in (3, 7)}
        board.post(LOADS, GATHER, [(3, 0), (7, 4096)], layers=3)
        gathered = board.outcome(LOADS)
        self.assertEqual((0, 0), (gathered.status, gathered.detail))
        # Layers of 192, 192 and 120 bytes, each from a multiple of 64 on.
        expected = [partial_sum(data, extent) for block in (3, 7) for data, extent in zip(written[block], (0, 192, 384))]
        self.assertEqual(expected, list(gathered.sums))
        slot_bytes = SHAPE.slot_bytes
        ring = self.ring_address(pages)
        for offset, block in ((0, 3), (4096, 7)):
            self.assertEqual(b"".join(written[block]), ctypes.string_at(ring + LOADS * slot_bytes + offset, 504))
        # As the Manager copies it: to its memory and back to a slot for restores.
        ctypes.memmove(ring + slot_bytes + 64, ring + LOADS * slot_bytes, 4600)
        board.post(1, SCATTER, [(5, 64), (10, 64 + 4096)], layers=3)
        scattered = board.outcome(1)
        self.assertEqual((0, expected), (scattered.status, list(scattered.sums)))
        self.assertEqual(written[3], [tensor.read(1, 5) for tensor in tensors])
        self.assertEqual(written[7], [tensor.read(1, 10) for tensor in tensors])

    def test_a_range_of_layers_lies_at_the_slot_s_offset_and_keeps_its_position_in_the_extent(self) -> None:
        tensors, pages = self.attention()
        board = self.board(pages)
        written = self.fill(tensors, 2)
        board.post(LOADS + 1, GATHER, [(2, 128)], first=1, layers=2)
        outcome = board.outcome(LOADS + 1)
        self.assertEqual([partial_sum(written[1], 192), partial_sum(written[2], 384)], list(outcome.sums))
        address = self.ring_address(pages) + (LOADS + 1) * SHAPE.slot_bytes + 128
        self.assertEqual(written[1] + written[2], ctypes.string_at(address, 312))

    def test_without_sums_none_are_made(self) -> None:
        tensors, pages = self.attention()
        board = self.board(pages)
        self.fill(tensors, 2)
        board.post(LOADS, GATHER, [(2, 0)], layers=3, sums=False)
        self.assertEqual(0, board.outcome(LOADS).status)
        self.assertEqual([0, 0, 0], list(self.cuda.launches[0][1][6:]))

    def test_more_entries_than_travel_with_a_launch_are_brought_before_it(self) -> None:
        tensors, pages = self.attention(layers=1)
        board = self.board(pages)
        written = self.fill(tensors, 5)
        for count in (INLINE_ENTRIES, INLINE_ENTRIES + 1):
            board.post(LOADS, GATHER, [(5 if index == count - 1 else 0, 128 * index) for index in range(count)], layers=1)
            outcome = board.outcome(LOADS)
            self.assertEqual((0, partial_sum(written[0])), (outcome.status, outcome.sums[count - 1]))
        self.assertEqual([True, False], [values[3] == 0 for _, values in self.cuda.launches])

    def test_slots_are_served_again_and_again(self) -> None:
        tensors, pages = self.attention()
        board = self.board(pages)
        for turn in range(5):
            written = self.fill(tensors, turn)
            for slot in range(LOADS, LOADS + SAVES):
                board.post(slot, GATHER, [(turn, 0)], layers=3)
            for slot in range(LOADS, LOADS + SAVES):
                self.assertEqual(partial_sum(written[0]), board.outcome(slot).sums[0])

    def test_what_does_not_fit_the_registration_is_refused_and_not_launched(self) -> None:
        _, pages = self.attention()
        board = self.board(pages)
        end = SHAPE.slot_bytes
        bad: list[tuple[str, int, int, list[tuple[int, int]], int, int, int, int]] = [
            ("kind", 0, GATHER, [(0, 0)], 0, 0, 3, 0),
            ("kind of a save slot", LOADS, SCATTER, [(0, 0)], 0, 0, 3, 0),
            ("group", 0, SCATTER, [(0, 0)], 9, 0, 3, 0),
            ("layers", 0, SCATTER, [(0, 0)], 0, 1, 3, 0),
            ("first layer", 0, SCATTER, [(0, 0)], 0, 2**32 - 1, 1, 0),
            ("no layers", 0, SCATTER, [(0, 0)], 0, 0, 0, 0),
            ("no entries", 0, SCATTER, [], 0, 0, 3, 0),
            ("page", 0, SCATTER, [(0, 0), (BLOCKS, 64)], 0, 0, 3, 0),
            ("offset", 0, SCATTER, [(0, end - 448)], 0, 0, 3, 0),
            ("offset beyond 2^63", 0, SCATTER, [(0, 2**64 - 64)], 0, 0, 3, 0),
            ("alignment", 0, SCATTER, [(0, 0), (1, 32)], 0, 0, 3, 0),
            ("reserved", 0, SCATTER, [(0, 0)], 0, 0, 3, 1),
        ]
        with self.assertLogs("orbitkv.cuda.server", "ERROR") as logged:
            for name, slot, kind, entries, group, first, layers, reserved in bad:
                with self.subTest(name):
                    board.post(slot, kind, entries, group=group, first=first, layers=layers, reserved=reserved)
                    self.assertEqual((1, 0), (board.outcome(slot).status, board.outcome(slot).detail))
        self.assertEqual([], self.cuda.launches)
        self.assertEqual(len(bad), len(logged.output))
        board.post(0, SCATTER, [(0, end - 512)], layers=3)
        self.assertEqual(0, board.outcome(0).status)

    def test_failures_of_the_driver_are_told_with_their_number(self) -> None:
        _, pages = self.attention()
        board = self.board(pages)
        with self.assertLogs("orbitkv.cuda.server", "ERROR"):
            self.cuda.failing_launch = 701
            board.post(0, SCATTER, [(0, 0)], layers=3)
            outcome = board.outcome(0)
            self.assertEqual((1, 701), (outcome.status, outcome.detail))
            self.cuda.failing_launch, self.cuda.failing_kernel = 0, 700
            for slot, kind in ((0, SCATTER), (LOADS, GATHER)):
                board.post(slot, kind, [(0, 0)], layers=3)
                outcome = board.outcome(slot)
                self.assertEqual((2, 700), (outcome.status, outcome.detail))

    def test_groups_have_tables_of_their_own(self) -> None:
        attention = on_gpu(self.memory.tensor((BLOCKS, 4, 24)))
        state = on_gpu(self.memory.tensor((5, BLOCKS, 7, 8), (1, 0, 2, 3)))
        named = [NamedTensor("layers.0", state, layer) for layer in range(5)]
        groups = [GroupTensors(0, BLOCKS, [NamedTensor("layers.0", attention)]), GroupTensors(4, BLOCKS, named)]
        board = self.board(self.pages(groups))
        data = self.random.randbytes(5 * 56)
        for layer in range(5):
            ctypes.memmove(state.data_ptr() + layer * 56 + 6 * 5 * 56, data[layer * 56 :], 56)
        board.post(LOADS, GATHER, [(6, 0)], group=4, layers=5)
        expected = [partial_sum(data[layer * 56 : layer * 56 + 56], layer * 64) for layer in range(5)]
        self.assertEqual(expected, list(board.outcome(LOADS).sums))


class OrderTest(StagedCase):
    def test_a_gather_waits_for_what_the_engine_put_on_its_stream_and_restores_pass_it(self) -> None:
        tensors, pages = self.attention()
        pages._stream_of = engine_stream  # pyright: ignore[reportPrivateUsage]
        board = self.board(pages)
        self.cuda.held.add(ENGINE_STREAM)
        pages.before_publish(0, [3])
        board.post(LOADS, GATHER, [(3, 0)], layers=3)
        board.post(0, SCATTER, [(1, 0)], layers=3)
        self.assertEqual(0, board.outcome(0).status)
        self.assertFalse(board.is_done(LOADS))
        data = self.random.randbytes(tensors[0].page_bytes(1))
        tensors[0].write(1, 3, data)
        self.cuda.held.clear()
        self.assertEqual(partial_sum(data), board.outcome(LOADS).sums[0])

    def test_a_scatter_waits_for_what_the_engine_had_on_its_stream(self) -> None:
        tensors, pages = self.attention()
        pages._stream_of = engine_stream  # pyright: ignore[reportPrivateUsage]
        board = self.board(pages)
        self.cuda.held.add(ENGINE_STREAM)
        pages.before_restore(0, [1])
        ctypes.memset(self.ring_address(pages), 9, 512)
        tensors[0].write(1, 1, bytes(192))
        board.post(0, SCATTER, [(1, 0)], layers=3)
        board.post(LOADS, GATHER, [(3, 0)], layers=3)
        self.cuda.run()
        self.assertFalse(board.is_done(0))
        self.assertEqual(bytes(192), tensors[0].read(1, 1))
        self.cuda.held.clear()
        self.assertEqual(0, board.outcome(0).status)
        self.assertEqual(bytes([9]) * 192, tensors[0].read(1, 1))

    def test_a_server_that_ends_finishes_what_it_launched_and_launches_no_more(self) -> None:
        _, pages = self.attention()
        board = BoardManager(SHAPE.slot_count, LOADS)
        self.addCleanup(board.close)
        server = pages.serve(board.handover())
        board.post(0, SCATTER, [(1, 0)], layers=3)
        self.assertEqual(0, board.outcome(0).status)
        server.close()
        board.post(0, SCATTER, [(1, 0)], layers=3)
        self.cuda.run()
        self.assertEqual((1, False), (len(self.cuda.launches), board.is_done(0)))
        server.close()


class RegistrationTest(StagedCase):
    def registration(self, pages: PageBuffers) -> Registration:
        state_format = StateFormat("sha256:1", "test/1", "int8", pages.layout)
        group = Group(0, "ATTENTION_KV", 16, "PREFIX", pages.bytes_per_block(0))
        return Registration(
            "gpu", "gpu/v1", state_format, [group], pages.layers, pages.buffers, staging=pages.staging
        )

    def test_offsets_count_from_the_lowest_page_and_the_ring_is_described(self) -> None:
        tensors, pages = self.attention()
        fields = self.registration(pages).to_json()
        base = min(tensor.data_ptr() for tensor in tensors)
        size = tensors[2].data_ptr() + BLOCKS * 120 - base
        self.assertEqual([{"kind": "CUDA_STAGED", "bytes": size}], fields["buffers"])
        self.assertEqual([tensor.data_ptr() - base for tensor in tensors], [layer.base_offset for layer in pages.layers])
        staging = {
            "deviceUuid": UUID,
            "handle": bytes(range(64)).hex(),
            "offset": 0,
            "slotBytes": MIB,
            "loadSlots": LOADS,
            "saveSlots": SAVES,
        }
        self.assertEqual(staging, fields["staging"])
        self.assertEqual([], self.registration(pages).fds)

    def test_a_client_serves_the_board_that_registration_brings_until_it_ends(self) -> None:
        tensors, pages = self.attention()
        manager = FakeManager()
        self.addCleanup(manager.stop)
        board = BoardManager(SHAPE.slot_count, LOADS)
        self.addCleanup(board.close)
        manager.board = board
        client = OrbitClient.connect(self.registration(pages), manager.path)
        self.addCleanup(client.close)
        data = self.random.randbytes(192)
        tensors[0].write(1, 4, data)
        board.post(LOADS, GATHER, [(4, 0)], layers=3)
        self.assertEqual(partial_sum(data), board.outcome(LOADS).sums[0])
        # The connection is lost: nothing touches the pages any more, whatever the Manager does.
        first = client.session_id
        manager.session(0).close()
        self.assertTrue(client.wait_connected(5, first))
        self.assertTrue(client.is_quiet(first))
        board.post(LOADS, GATHER, [(4, 0)], layers=3)
        self.assertEqual(0, board.outcome(LOADS).status)
        client.close()
        board.post(LOADS, GATHER, [(4, 0)], layers=3)
        self.cuda.run()
        self.assertFalse(board.is_done(LOADS))

    def test_a_manager_without_a_board_or_with_another_one_is_not_understood(self) -> None:
        _, pages = self.attention()
        manager = FakeManager()
        self.addCleanup(manager.stop)
        with self.assertRaisesRegex(WireError, "board"):
            OrbitClient.connect(self.registration(pages), manager.path)
        board = BoardManager(SHAPE.slot_count, LOADS + 1)
        self.addCleanup(board.close)
        manager.board = board
        with self.assertRaisesRegex(WireError, "board"):
            OrbitClient.connect(self.registration(pages), manager.path)

    def test_everything_is_given_back(self) -> None:
        _, pages = self.attention()
        pages.close()
        self.assertEqual(0, self.cuda.open_things)

    def test_what_the_gpu_cannot_give_is_refused_with_what_to_do_and_given_back(self) -> None:
        named = [NamedTensor("layers.0", on_gpu(self.memory.tensor((BLOCKS, 4, 24))))]
        groups = [GroupTensors(0, BLOCKS, named)]

        def refused(pattern: str) -> None:
            with self.assertRaisesRegex(UnsupportedPages, pattern):
                open_pages(groups, SHAPE, lambda: self.cuda)
            self.assertEqual(0, self.cuda.open_things)

        self.cuda.exportable = False
        refused("cannot open")
        self.cuda.exportable, self.cuda.room = True, MIB
        refused("no 4 MiB left.*staging_slot_mb")
        self.cuda.room = 1 << 30
        far = on_gpu(FakeTensor(1 << 62, (BLOCKS, 4, 24), (96, 24, 1)))
        groups = [GroupTensors(0, BLOCKS, [*named, NamedTensor("layers.1", far)])]
        refused("several GPUs")

    def test_a_slot_grows_with_the_block_that_it_must_hold(self) -> None:
        self.assertEqual(3 * MIB, SHAPE.fitting(2 * MIB + 1).slot_bytes)
        self.assertEqual(SHAPE, SHAPE.fitting(MIB))
        with self.assertRaises(ValueError):
            SHAPE.fitting(256 * MIB + 1)


@unittest.skipUnless(LAUNCHER, NO_LAUNCHER)
class RealManagerTest(StagedCase):
    """What a Manager says that cannot reach the GPU: there is none, or none of that UUID."""

    def test_a_gpu_that_the_manager_does_not_see_is_refused_with_the_reason(self) -> None:
        daemon = Daemon()
        self.addCleanup(daemon.stop)
        daemon.start()
        _, pages = self.attention()
        state_format = StateFormat("sha256:1", "test/1", "int8", pages.layout)
        group = Group(0, "ATTENTION_KV", 16, "PREFIX", pages.bytes_per_block(0))
        registration = Registration(
            "gpu", "gpu/v1", state_format, [group], pages.layers, pages.buffers, staging=pages.staging
        )
        with self.assertRaises(RegistrationRefused) as refused:
            OrbitClient.connect(registration, daemon.socket_path)
        refusal = refused.exception.refusal
        self.assertIn(refusal.category, (Category.UNAVAILABLE, Category.USER), str(refusal))
        self.assertRegex(str(refusal.field), "buffers|staging")
        self.assertIn("GPU", refusal.message)
        self.assertNotEqual("", refusal.remedy)


if __name__ == "__main__":
    unittest.main()
