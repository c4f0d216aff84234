"""Codecs with input that nobody should send: ValueError for callers, WireError for the Manager, nothing else."""

from __future__ import annotations

import os
import random
import unittest
from collections.abc import Callable
from dataclasses import replace

from orbitkv.control import closing_of, health_of, hello_of, refused_of, sessions_of
from orbitkv.codes import Category
from orbitkv.wire import WireError
from orbitkv.wire.frames import MAX_PAYLOAD_BYTES, decode_header, encode_frame
from orbitkv.wire.jsons import decode_json, encode_json
from orbitkv.wire.payloads import (
    NO_KEYS,
    PackedKeys,
    RestoreGroup,
    decode_answer,
    decode_publish_reply,
    decode_refusal_text,
    encode_publish,
    encode_query,
    encode_restore,
    request_name,
)
from orbitkv.wire.rings import COMPLETION, SUBMISSION, Geometry, decode_channel_header
from tests import protocol_text

GEOMETRY = Geometry(16842752, 4096, 20480, 256, 65536, 16, 1048576)

HELLO_OK = (
    b'{"version":1,"epoch":7,"server":"s","limits":{"maxControlBytes":1048576,"maxBuffers":64,"maxGroups":16,'
    b'"maxLayers":4096,"maxKeysPerRequest":32768,"maxOutstanding":256,"leaseMillis":30000,"ticketMillis":10000,'
    b'"maxTicketMillis":60000,"helloTimeoutMillis":5000,"new":{"a":[1]}},"later":true}'
)


class EncoderTest(unittest.TestCase):
    def setUp(self) -> None:
        self.buffer = memoryview(bytearray(256))

    def test_keys_have_one_length_from_1_to_64(self) -> None:
        self.assertEqual(2, len(PackedKeys.of([b"ab", b"cd"])))
        self.assertIs(NO_KEYS, PackedKeys.of([]))
        for keys in ([b"ab", b"c"], [b""], [bytes(65)]):
            with self.assertRaises(ValueError):
                PackedKeys.of(keys)
        with self.assertRaises(ValueError):
            PackedKeys(3, b"abcd")

    def test_request_names_are_visible_ascii(self) -> None:
        self.assertEqual(b"", request_name(""))
        self.assertEqual(64, len(request_name("x" * 64)))
        for name in ("x" * 65, "a b", "ä", "a\n", "\x7f"):
            with self.assertRaises(ValueError):
                request_name(name)

    def test_a_request_too_large_for_a_slot_is_refused(self) -> None:
        keys = PackedKeys(32, bytes(32 * 8))
        with self.assertRaisesRegex(ValueError, "split"):
            encode_query(self.buffer, 0, 0, b"", [(0, keys)])
        with self.assertRaisesRegex(ValueError, "split"):
            encode_publish(self.buffer, 0, b"", keys, range(8))
        with self.assertRaisesRegex(ValueError, "split"):
            encode_restore(self.buffer, b"", [RestoreGroup(0, 0, range(80))])

    def test_numbers_out_of_range_are_refused(self) -> None:
        key = PackedKeys(8, bytes(8))
        calls: list[Callable[[], int]] = [
            lambda: encode_query(self.buffer, -1, 0, b"", [(0, key)]),
            lambda: encode_query(self.buffer, 0, 1 << 32, b"", [(0, key)]),
            lambda: encode_query(self.buffer, 0, 0, b"", [(1 << 16, key)]),
            lambda: encode_publish(self.buffer, -1, b"", key, [0]),
            lambda: encode_publish(self.buffer, 0, b"", key, [1 << 32]),
            lambda: encode_publish(self.buffer, 0, b"", key, [-1]),
            lambda: encode_publish(self.buffer, 0, b"", key, [1, 2]),
            lambda: encode_publish(self.buffer, 0, b"", NO_KEYS, []),
            lambda: encode_restore(self.buffer, b"", [RestoreGroup(0, -64, [0])]),
            lambda: encode_restore(self.buffer, b"", [RestoreGroup(0, 0, [-1])]),
        ]
        for call in calls:
            with self.assertRaises(ValueError):
                call()

    def test_frames_out_of_range_are_refused(self) -> None:
        for payload, fds in ((b"{", 0), (bytes(MAX_PAYLOAD_BYTES + 1), 0), (b"{}", 65)):
            with self.assertRaises(ValueError):
                encode_frame(1, 1, payload, fds)


class DecoderTest(unittest.TestCase):
    def test_headers_that_are_wrong(self) -> None:
        good = encode_frame(1, 1, b"{}")[:24]
        for offset, value in ((0, 0), (4, 2), (8, 1), (10, 0xFF), (12, 65), (23, 0x80)):
            bad = bytearray(good)
            bad[offset] = value
            with self.assertRaises(WireError, msg=f"byte {offset} = {value}"):
                decode_header(bytes(bad))
        with self.assertRaises(WireError):
            decode_header(good[:23])

    def test_json_that_is_wrong(self) -> None:
        for payload in (b"", b"[]", b"1", b"{", b'{"a":NaN}', b"\xff{}", b'{"a":' + b"[" * 100000):
            with self.assertRaises(WireError, msg=repr(payload[:20])):
                decode_json(payload)

    def test_reply_fields_are_checked_and_unknown_ones_ignored(self) -> None:
        hello = hello_of(decode_json(HELLO_OK))
        self.assertEqual((7, 30000), (hello.epoch, hello.limits.lease_millis))
        for good, bad in (
            (b'"epoch":7', b'"epoch":0'),
            (b'"epoch":7', b'"epoch":7.0'),
            (b'"epoch":7', b'"epoch":true'),
            (b'"epoch":7', b'"epoch":"7"'),
            (b'"epoch":7', b'"epoch":9007199254740992'),
            (b'"epoch":7,', b""),
            (b'"server":"s"', b'"server":1'),
            (b'"version":1', b'"version":2'),
            (b'"limits":{', b'"limits":7,"other":{'),
        ):
            self.assertIn(good, HELLO_OK)
            with self.assertRaises(WireError, msg=repr(bad)):
                hello_of(decode_json(HELLO_OK.replace(good, bad)))

    def test_refusals_of_an_unknown_category_go_by_the_code(self) -> None:
        fields = {"category": "NEW", "code": 299, "message": "m", "remedy": "r", "retryAfterMillis": 5}
        refusal = refused_of(decode_json(encode_json(fields)))
        self.assertEqual((Category.RESOURCE, "CODE_299"), (refusal.category, refusal.name))
        self.assertIsNone(refusal.field)

    def test_geometry_must_fit(self) -> None:
        for changed in (
            replace_geometry(entries=255),
            replace_geometry(entries=0),
            replace_geometry(completion_offset=4096),
            replace_geometry(submission_offset=0),
            replace_geometry(arena_offset=65540),
            replace_geometry(slot_count=17),
            replace_geometry(slot_count=0),
            replace_geometry(slot_bytes=64),
            replace_geometry(slot_bytes=1048580),
            replace_geometry(total_bytes=1 << 40),
            replace_geometry(arena_offset=1 << 60),
        ):
            with self.assertRaises(WireError):
                changed()

    def test_mutated_replies_raise_nothing_but_wire_errors(self) -> None:
        golden = protocol_text.golden()
        decoders: dict[str, Callable[[bytes], object]] = {
            "frame-registered-header": decode_header,
            "payload-answer": lambda data: decode_answer(memoryview(data)),
            "payload-miss": lambda data: decode_answer(memoryview(data)),
            "payload-publish-reply": lambda data: decode_publish_reply(memoryview(data)),
            "payload-refusal-text": lambda data: decode_refusal_text(memoryview(data)),
            "channel-header": decode_channel_header,
        }
        seed = int(os.environ.get("ORBITKV_SEED", "0")) or random.SystemRandom().getrandbits(32)
        rng = random.Random(seed)
        refused = 0
        for _ in range(20_000):
            name = rng.choice(list(decoders))
            data = bytearray(golden[name])
            for _ in range(rng.randint(1, 3)):
                data[rng.randrange(len(data))] = rng.choice((0, 1, 0x7F, 0xFF, rng.randrange(256)))
            if rng.random() < 0.3:
                data = data[: rng.randrange(len(data))]
            try:
                decoders[name](bytes(data))
            except WireError:
                refused += 1
            except Exception as e:
                self.fail(
                    f"{name}: {type(e).__name__}: {e} for {data.hex()}; repeat with: "
                    f"ORBITKV_SEED={seed} python3 -m unittest tests.test_codecs"
                )
        self.assertGreater(refused, 1000)

    def test_mutated_json_replies_raise_nothing_but_wire_errors(self) -> None:
        seed = int(os.environ.get("ORBITKV_SEED", "0")) or random.SystemRandom().getrandbits(32)
        rng = random.Random(seed)
        for _ in range(5_000):
            data = bytearray(HELLO_OK)
            for _ in range(rng.randint(1, 4)):
                data[rng.randrange(len(data))] = rng.choice(b'{}[]":,0-9eE\\nul\xff')
            for decode in (hello_of, health_of, sessions_of, refused_of, closing_of):
                try:
                    decode(decode_json(bytes(data)))
                except WireError:
                    continue
                except Exception as e:
                    self.fail(
                        f"{decode.__name__}: {type(e).__name__}: {e} for {bytes(data)!r}; repeat with: "
                        f"ORBITKV_SEED={seed} python3 -m unittest tests.test_codecs"
                    )

    def test_descriptors_have_64_bytes(self) -> None:
        self.assertEqual((64, 64), (SUBMISSION.size, COMPLETION.size))


def replace_geometry(**changes: int) -> Callable[[], Geometry]:
    return lambda: replace(GEOMETRY, **changes)


if __name__ == "__main__":
    unittest.main()
