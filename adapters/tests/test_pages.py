"""Where pages lie, told from strides alone, and pages that are copied through a mirror."""

from __future__ import annotations

import math
import unittest

from orbitkv.buffers import HostBuffer
from orbitkv.cuda.api import CudaApi, CudaUnavailable
from orbitkv.geometry import GeometryError, Plane, planes_of
from orbitkv.pages import GroupTensors, HostPages, NamedTensor, UnsupportedPages, open_pages
from tests.tensors import FakeTensor, Memory

BLOCKS = 11


def page_of(planes: tuple[Plane, ...], block: int) -> set[int]:
    """Every address of a block's page."""
    return {
        address
        for plane in planes
        for segment in range(plane.segment_count)
        for address in range(
            plane.segment_address(block, segment), plane.segment_address(block, segment) + plane.segment_bytes
        )
    }


class GeometryTest(unittest.TestCase):
    def assert_pages(self, tensor: FakeTensor, block_dim: int, segments: tuple[int, ...]) -> None:
        """The planes hold the bytes that indexing finds, for every block, in so many segments."""
        planes = planes_of(tensor, BLOCKS).planes
        self.assertEqual(segments, tuple(plane.segment_count for plane in planes))
        item = tensor.element_size()
        for block in range(BLOCKS):
            expected = {tensor.data_ptr() + block * tensor.stride()[block_dim] * item}
            for dim, (size, stride) in enumerate(zip(tensor.shape, tensor.stride(), strict=True)):
                if dim != block_dim:
                    expected = {base + index * stride * item for base in expected for index in range(size)}
            expected = {base + byte for base in expected for byte in range(item)}
            self.assertEqual(expected, page_of(planes, block))

    def test_layouts_of_engines(self) -> None:
        memory = Memory(1 << 20, shared=False)
        cases: list[tuple[str, tuple[int, ...], tuple[int, ...] | None, int, tuple[int, ...]]] = [
            ("blocks, heads, tokens, 2D as HND", (BLOCKS, 2, 4, 8), None, 0, (1,)),
            ("the same as NHD", (BLOCKS, 2, 4, 8), (0, 2, 1, 3), 0, (1,)),
            ("K and V planes", (2, BLOCKS, 4, 3, 8), None, 1, (2,)),
            ("MLA", (BLOCKS, 4, 24), None, 0, (1,)),
            ("heads outside of blocks", (BLOCKS, 2, 4, 8), (1, 0, 2, 3), 0, (2,)),
            ("K, V and heads outside of blocks", (2, BLOCKS, 3, 4, 8), (0, 2, 1, 3, 4), 1, (6,)),
        ]
        for name, shape, order, block_dim, segments in cases:
            for item in (1, 2):
                with self.subTest(name, item=item):
                    self.assert_pages(memory.tensor(shape, order, item), block_dim, segments)

    def test_dimensions_that_do_not_merge_make_planes(self) -> None:
        # Two outer dimensions with a gap between their entries.
        tensor = FakeTensor(1 << 20, (3, BLOCKS, 2, 8), (10_000, 8, 1_000, 1))
        self.assert_pages(tensor, 1, (2, 2, 2))

    def test_padded_blocks(self) -> None:
        tensor = FakeTensor(1 << 20, (BLOCKS, 5, 8), (100, 8, 1))
        self.assert_pages(tensor, 0, (1,))
        self.assertEqual(40, planes_of(tensor, BLOCKS).planes[0].bytes_per_block)

    def test_a_block_of_several_kernel_blocks(self) -> None:
        memory = Memory(1 << 20, shared=False)
        tensor = memory.tensor((4 * BLOCKS, 3, 8))
        self.assertEqual((Plane(tensor.data_ptr(), BLOCKS, 96, 96),), planes_of(tensor, BLOCKS).planes)

    def test_layers_of_one_tensor(self) -> None:
        memory = Memory(1 << 20, shared=False)
        tensor = memory.tensor((3, BLOCKS, 4, 8), (1, 0, 2, 3))
        for layer in range(3):
            plane = planes_of(tensor, BLOCKS, layer_index=layer).planes[0]
            self.assertEqual(Plane(tensor.data_ptr() + layer * 32, BLOCKS, 96, 32), plane)

    def test_order_tells_layouts_of_equal_size_apart(self) -> None:
        memory = Memory(1 << 20, shared=False)
        shape = (BLOCKS, 4, 4, 8)
        orders = {planes_of(memory.tensor(shape, order), BLOCKS).order for order in ((0, 1, 2, 3), (0, 2, 1, 3))}
        self.assertEqual({"4x4x8:0,1,2", "4x4x8:1,0,2"}, orders)

    def test_what_cannot_be_told_is_refused(self) -> None:
        for shape in ((BLOCKS, BLOCKS, 8), (3, 4, 8)):
            strides = [math.prod(shape[dim + 1 :]) for dim in range(len(shape))]
            with self.subTest(shape), self.assertRaises(GeometryError):
                planes_of(FakeTensor(1 << 20, shape, strides), BLOCKS)
        with self.assertRaises(GeometryError):
            planes_of(FakeTensor(1 << 20, (BLOCKS, 4, 8), (8, 0, 1)), BLOCKS)


class PagesTest(unittest.TestCase):
    def test_pages_that_cannot_be_served_are_refused_with_the_reason(self) -> None:
        def no_driver() -> CudaApi:
            raise CudaUnavailable("NVIDIA's driver is not installed here")

        for devices, reason in (
            (("xpu",), "on xpu: OrbitKV serves"),
            (("cuda:0", "cpu"), "on cpu and cuda: OrbitKV serves"),
            (("cuda:1",), "cannot use: NVIDIA's driver is not installed"),
        ):
            tensors = [FakeTensor(1 << 20, (BLOCKS, 4, 8), (32, 8, 1), device) for device in devices]
            named = [NamedTensor("model.layers.0", tensor) for tensor in tensors]
            with self.assertRaisesRegex(UnsupportedPages, reason):
                open_pages([GroupTensors(0, BLOCKS, named)], cuda=no_driver)

    def test_memory_of_a_buffer_is_shared_and_other_memory_is_mirrored(self) -> None:
        for shared in (True, False):
            memory = Memory(1 << 16, shared)
            self.addCleanup(memory.close)
            tensors = [memory.tensor((2, BLOCKS, 4, 8)) for _ in range(2)]
            named = [NamedTensor(f"model.layers.{index}", tensor) for index, tensor in enumerate(tensors)]
            pages = open_pages([GroupTensors(0, BLOCKS, named)])
            self.addCleanup(pages.close)
            assert isinstance(pages, HostPages)
            self.assertEqual((not shared, 128), (not pages.direct, pages.bytes_per_block(0)))
            data = [bytes([index]) * 64 for index in (1, 2)]
            for tensor, content in zip(tensors, data, strict=True):
                tensor.write(1, 5, content)
            pages.before_publish(0, [5])
            buffer = pages.buffers[0]
            assert isinstance(buffer, HostBuffer)
            for layer, content in zip(pages.layers, data, strict=True):
                got = b"".join(buffer.segment(layer, 5, segment) for segment in range(layer.segment_count))
                self.assertEqual(content, got)
                for segment in range(layer.segment_count):
                    buffer.segment(layer, 6, segment)[:] = content[: layer.segment_bytes]
            pages.after_restore(0, [6])
            self.assertEqual(data, [tensor.read(1, 6) for tensor in tensors])

    def test_layers_are_counted_in_the_order_of_the_model(self) -> None:
        memory = Memory(1 << 16, shared=True)
        self.addCleanup(memory.close)

        def named(*layers: int) -> list[NamedTensor]:
            return [NamedTensor(f"model.layers.{layer}.attn", memory.tensor((BLOCKS, 4, 8))) for layer in layers]

        pages = open_pages([GroupTensors(0, BLOCKS, named(0, 2, 10)), GroupTensors(1, BLOCKS, named(1, 3))])
        counts = [pages.layers_until(f"model.layers.{layer}.attn", [0, 1]) for layer in (0, 1, 2, 3, 10)]
        self.assertEqual([1, 2, 3, 4, 5], counts)
        self.assertEqual([1, 0, 2], [pages.layers_until(f"model.layers.{layer}.attn", [0]) for layer in (0, 1, 2)])


if __name__ == "__main__":
    unittest.main()
