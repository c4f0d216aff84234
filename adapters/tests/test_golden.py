"""The bytes of the protocol text, section 6, against our encoders and decoders."""

from __future__ import annotations

import unittest

from orbitkv.codes import Code, name_of, remedy_of
from orbitkv.codes import Category
from orbitkv.wire.frames import FrameHeader, FrameType, decode_header, encode_frame, encode_header
from orbitkv.wire.jsons import encode_json
from orbitkv.wire.payloads import (
    Answer,
    AnswerGroup,
    PackedKeys,
    PublishReply,
    RestoreGroup,
    decode_answer,
    decode_publish_reply,
    decode_refusal_text,
    encode_publish,
    encode_query,
    encode_restore,
)
from orbitkv.wire.rings import (
    CANCEL_BY_REQUEST,
    COMPLETION,
    MORE,
    NO_SLOT,
    NOTICE,
    QUERY_WAIT,
    RESTORE_PROGRESS,
    RESTORE_RELEASE,
    SUBMISSION,
    TEXT,
    ChannelHeader,
    Completion,
    Geometry,
    Op,
    Status,
    Submission,
    decode_channel_header,
)
from tests import protocol_text

K0 = bytes(range(32))
K1 = bytes(range(32, 64))
EPOCH, SESSION = 7, 12


def _submission(
    op: Op,
    sequence: int,
    request_id: int,
    *,
    flags: int = 0,
    slot: int = NO_SLOT,
    length: int = 0,
    generation: int = 0,
    handle: int = 0,
    timeout: int = 0,
) -> Submission:
    return Submission(
        op, flags, slot, length, sequence, request_id, EPOCH, SESSION, generation, handle, timeout
    )


SUBMISSIONS = {
    "submission-ping": _submission(Op.PING, 0, 1),
    "submission-query": _submission(
        Op.QUERY, 1, 2, flags=QUERY_WAIT, slot=0, length=96, generation=1, timeout=2500
    ),
    "submission-poll": _submission(Op.POLL, 2, 3, slot=0, generation=2, handle=44),
    "submission-cancel": _submission(Op.CANCEL, 3, 4, flags=CANCEL_BY_REQUEST, handle=2),
    "submission-publish": _submission(Op.PUBLISH, 4, 5, slot=1, length=96, generation=1),
    "submission-restore": _submission(
        Op.RESTORE, 5, 6, flags=RESTORE_PROGRESS | RESTORE_RELEASE, slot=2, length=48, generation=1, handle=33
    ),
    "submission-release": _submission(Op.RELEASE, 6, 7, handle=33),
}

COMPLETIONS = {
    "completion-pong": Completion(
        Op.PING, 0, NO_SLOT, 0, 0, 1, EPOCH, Status.OK, 0, 0, 0, 0, 0, 123456789
    ),
    "completion-ready": Completion(Op.QUERY, 0, 0, 64, 1, 2, EPOCH, Status.READY, 0, 0, 0, 1, 33, 128),
    "completion-loading": Completion(Op.QUERY, MORE, 0, 0, 1, 2, EPOCH, Status.LOADING, 0, 0, 0, 1, 44, 0),
    "completion-notice": Completion(
        Op.QUERY, NOTICE, NO_SLOT, 0, 2, 2, EPOCH, Status.READY, 0, 0, 0, 0, 44, 0
    ),
    "completion-refused": Completion(
        Op.PUBLISH, TEXT, 1, 72, 3, 5, EPOCH, Status.REFUSED, 2, Code.POOL_FULL, 50, 1, 0, 0
    ),
    "completion-failed": Completion(
        Op.RESTORE, 0, 2, 0, 4, 6, EPOCH, Status.FAILED, 5, Code.VERIFY_FAILED, 0, 1, 0, 0
    ),
}


class GoldenTest(unittest.TestCase):
    golden: dict[str, bytes]

    @classmethod
    def setUpClass(cls) -> None:
        cls.golden = protocol_text.golden()

    def _encoded(self, name: str, data: bytes) -> None:
        self.assertEqual(data.hex(" "), self.golden[name].hex(" "), name)

    def test_every_example_is_compared(self) -> None:
        compared = {
            *SUBMISSIONS,
            *COMPLETIONS,
            "frame-hello",
            "frame-registered-header",
            "payload-query",
            "payload-answer",
            "payload-miss",
            "payload-publish",
            "payload-publish-reply",
            "payload-restore",
            "payload-refusal-text",
            "channel-header",
        }
        self.assertEqual(compared, set(self.golden))

    def test_frames(self) -> None:
        hello = encode_json({"client": "demo/1", "protocolVersions": [1]})
        self._encoded("frame-hello", encode_frame(FrameType.HELLO, 1, hello))
        header = FrameHeader(FrameType.REGISTERED, 300, 3, 2)
        self._encoded("frame-registered-header", encode_header(header))
        self.assertEqual(header, decode_header(self.golden["frame-registered-header"]))

    def test_submissions(self) -> None:
        for name, submission in SUBMISSIONS.items():
            self._encoded(name, SUBMISSION.pack(*submission))

    def test_completions(self) -> None:
        for name, completion in COMPLETIONS.items():
            self.assertEqual(completion, Completion._make(COMPLETION.unpack(self.golden[name])), name)

    def test_request_payloads(self) -> None:
        # What an earlier request left in the slot must not show through the padding.
        buffer = memoryview(bytearray(b"\xff" * 4096))
        keys = PackedKeys.of([K0, K1])
        length = encode_query(buffer, 0, 0, b"req-1", [(0, keys)])
        self._encoded("payload-query", bytes(buffer[:length]))
        length = encode_publish(buffer, 0, b"req-1", keys, [3, 9])
        self._encoded("payload-publish", bytes(buffer[:length]))
        length = encode_restore(buffer, b"req-1", [RestoreGroup(0, 0, [5, 4, 8])])
        self._encoded("payload-restore", bytes(buffer[:length]))

    def test_reply_payloads(self) -> None:
        self.assertEqual(
            Answer(33, 30000, 0, 128, (AnswerGroup(0, 0, 128, 2),), (64, 128)),
            decode_answer(memoryview(self.golden["payload-answer"])),
        )
        self.assertEqual(
            Answer(0, 0, 0, 0, (AnswerGroup(0, 0, 0, 0),), ()),
            decode_answer(memoryview(self.golden["payload-miss"])),
        )
        self.assertEqual(
            PublishReply(1, 1, 0, 1, bytes([0, 1, 3])),
            decode_publish_reply(memoryview(self.golden["payload-publish-reply"])),
        )
        self.assertEqual(
            ("no evictable block in the pool", "retry later, or enlarge the pool"),
            decode_refusal_text(memoryview(self.golden["payload-refusal-text"])),
        )

    def test_channel_header(self) -> None:
        self.assertEqual(
            ChannelHeader(7, 12, Geometry(16842752, 4096, 20480, 256, 65536, 16, 1048576)),
            decode_channel_header(self.golden["channel-header"]),
        )


class CodesTest(unittest.TestCase):
    def test_codes_are_those_of_the_text(self) -> None:
        text = protocol_text.codes()
        self.assertEqual({code for code in text}, {int(code) for code in Code if code})
        for code, (name, remedy) in text.items():
            self.assertEqual(name, name_of(code))
            self.assertEqual(remedy, remedy_of(Category.of(code // 100), code), name)

    def test_unknown_codes_act_on_the_category(self) -> None:
        self.assertEqual("CODE_299", name_of(299))
        self.assertIn("retry later", remedy_of(Category.RESOURCE, 299))
        self.assertEqual(Category.INTERNAL, Category.of(9))


if __name__ == "__main__":
    unittest.main()
