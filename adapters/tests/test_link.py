"""The client's own side: reconnecting, deadlines, threads, forks, and a Manager that breaks the protocol."""

from __future__ import annotations

import gc
import os
import socket
import threading
import time
import unittest
from collections.abc import Callable

from orbitkv import (
    CancelAnswer,
    Category,
    Code,
    ControlConnection,
    Discovered,
    Failed,
    Group,
    Health,
    HostBuffer,
    Lease,
    Loading,
    ManagerUnavailable,
    Miss,
    OrbitClient,
    Pong,
    Ready,
    Refused,
    RegistrationRefused,
    Registration,
    Released,
    RestoreGroup,
    Restored,
    StateFormat,
    Ticket,
    dense_layers,
)
from orbitkv.wire import WireError
from orbitkv.wire.frames import FrameType
from orbitkv.wire.rings import MORE, NO_SLOT, NOTICE, Completion, Op, Status, Submission
from tests import protocol_text
from tests.fake_manager import ENTRIES, SLOTS, FakeManager, FakeSession, answer_pings, done

REFUSAL: dict[str, object] = {
    "category": "USER",
    "code": 120,
    "name": "FORMAT_MISMATCH",
    "message": "bound to bfloat16",
    "remedy": "register the bound format",
    "field": "dtype",
    "retryAfterMillis": 0,
    "closing": False,
}


class LinkTest(unittest.TestCase):
    def setUp(self) -> None:
        self.manager = FakeManager()
        self.addCleanup(self.manager.stop)
        self.buffer = HostBuffer(4096)
        self.addCleanup(self.buffer.close)
        self.registration = Registration(
            instance="test",
            namespace="test/v1",
            format=StateFormat("m", "i", "bfloat16", "NHD"),
            groups=[Group(0, "ATTENTION_KV", 64, "PREFIX", 128)],
            layers=dense_layers(2, 16, 64),
            buffers=[self.buffer],
        )

    def connect(self) -> OrbitClient:
        client = OrbitClient.connect(self.registration, self.manager.path)
        self.addCleanup(client.close)
        return client

    def assert_refused(self, code: Code, answer: object) -> None:
        if not isinstance(answer, Refused):
            self.fail(f"{answer} where {code.name} was expected")
        self.assertEqual(code.name, answer.name, str(answer))

    # Connecting.

    def test_a_missing_socket_is_said_at_once(self) -> None:
        began = time.monotonic()
        with self.assertRaisesRegex(ManagerUnavailable, "no Manager socket at .*gone.*orbitkv manager --socket"):
            OrbitClient.connect(self.registration, self.manager.path + "-gone")
        self.assertLess(time.monotonic() - began, 1)

    def test_a_socket_without_listener_is_said_at_once(self) -> None:
        path = self.manager.path + "-dead"
        with socket.socket(socket.AF_UNIX) as dead:
            dead.bind(path)
        with self.assertRaisesRegex(ManagerUnavailable, "nobody listens"):
            OrbitClient.connect(self.registration, path)
        os.unlink(path)

    def test_a_path_is_needed(self) -> None:
        saved = os.environ.pop("ORBITKV_SOCKET", None)
        try:
            with self.assertRaisesRegex(ManagerUnavailable, "ORBITKV_SOCKET"):
                OrbitClient.connect(self.registration)
        finally:
            if saved is not None:
                os.environ["ORBITKV_SOCKET"] = saved

    def test_a_refused_registration_is_raised_with_its_field(self) -> None:
        self.manager.refuse_registration = REFUSAL
        with self.assertRaises(RegistrationRefused) as raised:
            OrbitClient.connect(self.registration, self.manager.path)
        self.assertEqual("dtype", raised.exception.refusal.field)
        self.assertEqual(Category.USER, raised.exception.refusal.category)

    def test_closing_gives_descriptors_and_threads_back(self) -> None:
        OrbitClient.connect(self.registration, self.manager.path).close()
        self._settle()
        fds, threads = _open_fds(), threading.active_count()
        for _ in range(5):
            client = OrbitClient.connect(self.registration, self.manager.path)
            self.assertIsInstance(client.ping(), Pong)
            client.close()
            client.close()
            self.assert_refused(Code.DISCONNECTED, client.ping())
        self._settle()
        self.assertEqual((fds, threads), (_open_fds(), threading.active_count()))

    def _settle(self) -> None:
        """Until the fake's threads have seen the end of their connections."""
        for thread in threading.enumerate():
            if thread.name.startswith("Thread") and "serve" in thread.name:
                thread.join(5)
        gc.collect()

    # Waiting.

    def test_a_deadline_keeps_slot_and_answer_apart(self) -> None:
        self.manager.on_submission = _silent
        client = self.connect()
        pending = client.start_query(0, {0: [b"k"]})
        self.assert_refused(Code.DEADLINE, pending.wait(0.01))
        self.assertEqual(1, client.outstanding)
        session = self.manager.session(0)
        _await(lambda: len(session.received) == 1)
        session.put(_miss(session.received[0]), protocol_text.golden()["payload-miss"])
        self.assertIsInstance(pending.wait(5), Miss)
        self.assertEqual(0, client.outstanding)

    def test_what_an_abandoned_query_still_gets_is_released(self) -> None:
        self.manager.on_submission = _silent
        client = self.connect()
        self.assert_refused(Code.DEADLINE, client.query(0, {0: [b"k"]}, timeout_seconds=0.01))
        session = self.manager.session(0)
        _await(lambda: len(session.received) == 2)
        query, cancel = session.received
        self.assertEqual((Op.CANCEL, 1, query.request_id), (cancel.op, cancel.flags, cancel.handle))
        session.put(done(cancel))
        session.put(_ready(query), protocol_text.golden()["payload-answer"])
        self.manager.on_submission = answer_pings
        self.assertIsInstance(client.ping(), Pong)
        self.assertTrue(client.drain(5))
        self.assertEqual((Op.RELEASE, 33), (session.received[-1].op, session.received[-1].handle))

    def test_all_slots_taken_is_a_deadline_too(self) -> None:
        self.manager.on_submission = _silent
        client = self.connect()
        for _ in range(SLOTS):
            self.assertFalse(client.start_query(0, {0: [b"k"]}).done)
        self.assert_refused(Code.DEADLINE, client.start_query(0, {0: [b"k"]}, timeout_seconds=0.01).wait(0))

    def test_a_slot_survives_a_request_that_cannot_be_encoded(self) -> None:
        client = self.connect()
        for _ in range(2 * SLOTS):
            with self.assertRaises(ValueError):
                client.query(-1, {0: [b"k"]})
        self.assertEqual(0, client.outstanding)
        self.assertIsInstance(client.ping(), Pong)

    def test_many_threads_share_a_client(self) -> None:
        client = self.connect()
        failures: list[object] = []

        def work() -> None:
            for _ in range(200):
                answer = client.ping()
                if not isinstance(answer, Pong):
                    failures.append(answer)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        self.assertEqual([], failures)
        # The fake answers a ping with its request id.
        self.assertEqual(Pong(801), client.ping())

    def test_more_requests_than_the_ring_holds(self) -> None:
        client = self.connect()
        pings = [client.start_ping() for _ in range(5 * ENTRIES)]
        self.assertEqual([Pong(n + 1) for n in range(5 * ENTRIES)], [ping.wait(5) for ping in pings])

    def test_progress_is_seen_as_it_comes(self) -> None:
        self.manager.on_submission = _silent
        client = self.connect()
        session = self.manager.session(0)
        lease = Lease(33, 7, session.session_id, 30000)
        pending = client.start_restore(lease, [RestoreGroup(0, 0, [1])], progress=True)
        self.assertFalse(pending.wait_layers(1, 0.01))
        _await(lambda: len(session.received) == 1)
        restore = session.received[0]
        session.set_progress(restore.slot, 1, 2)
        self.assertTrue(pending.wait_layers(1, 5))
        self.assertEqual((1, 2), pending.layers())
        threading.Timer(0.02, session.set_progress, (restore.slot, 2, 2)).start()
        self.assertTrue(pending.wait_layers(2, 5))
        session.put(done(restore, 128))
        self.assertEqual(Restored(128), pending.wait(5))
        self.assertEqual((2, 2), pending.layers())

    def test_a_notice_is_waited_for_and_polled_once(self) -> None:
        golden = protocol_text.golden()

        def serve(session: FakeSession, submission: Submission) -> None:
            if submission.op == Op.QUERY:
                session.put(done(submission, 0, Status.LOADING)._replace(flags=MORE, handle=44))
                notice = done(submission, 0, Status.READY)._replace(
                    flags=NOTICE, handle=44, slot=NO_SLOT, slot_generation=0
                )
                threading.Timer(0.02, session.put, (notice,)).start()
            elif submission.op == Op.POLL:
                session.put(_ready(submission), golden["payload-answer"])

        self.manager.on_submission = serve
        client = self.connect()
        loading = client.query(0, {0: [b"k"]}, wait=True)
        assert isinstance(loading, Loading)
        ready = client.wait(loading, 5)
        assert isinstance(ready, Ready)
        self.assertEqual((33, 128, (64, 128)), (ready.lease.lease_id, ready.boundary_token, ready.boundaries))
        self.assertEqual([Op.QUERY, Op.POLL], [s.op for s in self.manager.session(0).received])
        self.assert_refused(Code.TICKET_GONE, client.wait(loading, 5))

    # Control requests.

    def test_a_control_reply_that_does_not_come_is_a_deadline(self) -> None:
        client = self.connect()
        self.assertIsInstance(client.health(), Health)
        self.manager.answers_health = False
        reply = client._link.control_request(FrameType.HEALTH, {}, 0.05)  # pyright: ignore[reportPrivateUsage]
        self.assert_refused(Code.DEADLINE, reply)
        self.manager.answers_health = True
        self.assertIsInstance(client.health(), Health)

    # Losing the connection.

    def test_reconnects_with_the_same_content_and_honours_nothing_old(self) -> None:
        self.manager.on_submission = _silent
        client = self.connect()
        first = self.manager.session(0)
        pending = client.start_query(0, {0: [b"k"]})
        lease = Lease(33, 7, first.session_id, 30000)
        first.close()
        self.assert_refused(Code.SESSION_LOST, pending.wait(5))
        self.assertTrue(client.wait_connected(5, first.session_id))
        self.manager.on_submission = answer_pings
        self.assert_refused(Code.SESSION_LOST, client.release(lease))
        self.assert_refused(Code.SESSION_LOST, client.poll(Ticket(1, 7, first.session_id, 1)))
        self.assertEqual(CancelAnswer(was_open=False), client.cancel(pending))
        self.assertEqual(Pong(1), client.ping())
        self.assertEqual(1, len(self.manager.session(1).received))
        one, two = self.manager.registrations
        self.assertEqual(one.objects("layers")[1].integer("baseOffset"), two.objects("layers")[1].integer("baseOffset"))

        self.manager.epoch = 8
        self.manager.session(1).close()
        self.assertTrue(client.wait_connected(5, client.session_id))
        self.assertEqual(8, client.epoch)
        self.assert_refused(Code.EPOCH, client.release(lease))
        # A lease of another session of the instance is the Manager's to judge.
        self.assertEqual(Released(was_open=False), client.release(Lease(34, 8, 9999, 30000)))

    def test_while_disconnected_requests_fail_at_once(self) -> None:
        client = self.connect()
        session = self.manager.session(0)
        self.manager.stop_listening()
        session.close("SHUTDOWN")
        _await(lambda: not client.connected)
        began = time.monotonic()
        self.assert_refused(Code.DISCONNECTED, client.ping())
        self.assert_refused(Code.DISCONNECTED, client.health())
        self.assertLess(time.monotonic() - began, 1)
        self.manager.listen()
        self.assertTrue(client.wait_connected(3))
        self.assertIsInstance(client.ping(), Pong)

    def test_superseded_and_cleaned_end_the_client(self) -> None:
        for index, (reason, code) in enumerate(
            (("SUPERSEDED", Code.SESSION_SUPERSEDED), ("CLEANED", Code.DISCONNECTED))
        ):
            client = self.connect()
            self.manager.session(index).close(reason)
            ended = client.wait_ended(5)
            assert ended is not None
            self.assertEqual(reason, ended.reason)
            self.assert_refused(code, client.ping())
            self.assert_refused(code, client.cleanup())
            time.sleep(0.05)
            self.assertEqual(index + 1, self.manager.session_count)

    def test_an_unknown_reason_is_like_shutdown(self) -> None:
        client = self.connect()
        self.manager.session(0).close("SOMETHING_NEW")
        self.assertTrue(client.wait_connected(5, self.manager.session(0).session_id))

    def test_a_registration_refused_for_good_ends_the_attempts(self) -> None:
        client = self.connect()
        self.manager.refuse_registration = {**REFUSAL, "category": "RESOURCE", "code": 205}
        self.manager.session(0).close()
        _await(lambda: len(self.manager.registrations) >= 3)
        self.assertIsNone(client.ended)
        self.manager.refuse_registration = REFUSAL
        ended = client.wait_ended(5)
        assert ended is not None
        self.assertEqual("REFUSED", ended.reason)

    def session_of(self, client: OrbitClient) -> FakeSession | None:
        sessions = [self.manager.session(index) for index in range(self.manager.session_count)]
        return next((session for session in sessions if session.session_id == client.session_id), None)

    def test_a_save_session_attaches_anew_and_ends_with_its_parent(self) -> None:
        client = self.connect()
        save = client.attach_save()
        self.addCleanup(save.close)
        self.assertEqual("SAVE", self.manager.registrations[1].text("role"))
        self.assertFalse(self.manager.registrations[1].has("format"))
        first, attached = self.manager.session(0), self.manager.session(1)
        first.close()
        attached.close("PARENT_ENDED")
        self.assertTrue(client.wait_connected(5, first.session_id))
        self.assertTrue(save.wait_connected(5, attached.session_id))
        attach_to = [r.integer("attachTo") for r in self.manager.registrations if r.has("attachTo")]
        self.assertEqual(client.session_id, attach_to[-1])
        # The client may know of its session before the Manager's thread has noted that it opened it.
        _await(lambda: self.session_of(save) is not None)
        again = self.session_of(save)
        assert again is not None
        client.close()
        again.close("PARENT_ENDED")
        ended = save.wait_ended(5)
        assert ended is not None
        self.assertEqual("PARENT_ENDED", ended.reason)

    # A Manager that breaks the protocol.

    def test_a_completion_that_makes_no_sense_breaks_the_channel(self) -> None:
        def wrong_epoch(completion: Completion) -> Completion:
            return completion._replace(epoch=6)

        def wrong_request(completion: Completion) -> Completion:
            return completion._replace(request_id=99)

        def wrong_op(completion: Completion) -> Completion:
            return completion._replace(op=Op.QUERY)

        def wrong_slot(completion: Completion) -> Completion:
            return completion._replace(slot=3)

        def too_long(completion: Completion) -> Completion:
            return completion._replace(payload_bytes=1 << 20)

        def wrong_status(completion: Completion) -> Completion:
            return completion._replace(status=Status.MISS)

        def stray_notice(completion: Completion) -> Completion:
            return completion._replace(flags=NOTICE)

        def wrong_sequence(completion: Completion) -> Completion:
            return completion._replace(sequence=77)

        client = self.connect()
        cases = (
            wrong_epoch,
            wrong_request,
            wrong_op,
            wrong_slot,
            too_long,
            wrong_status,
            stray_notice,
            wrong_sequence,
        )
        for index, spoil in enumerate(cases):

            def serve(session: FakeSession, submission: Submission, spoil: Spoil = spoil) -> None:
                session.put_raw(spoil(done(submission, 1)))

            self.manager.on_submission = serve
            session_id = self.manager.session(index).session_id
            self.assert_refused(Code.SESSION_LOST, client.ping())
            self.assertTrue(client.wait_connected(5, session_id), spoil.__name__)

    def test_a_late_sequence_is_waited_for(self) -> None:
        def serve(session: FakeSession, submission: Submission) -> None:
            session.put_raw(done(submission, 5)._replace(sequence=77))
            time.sleep(0.02)
            session.memory[20480 + 8 : 20480 + 16] = bytes(8)

        self.manager.on_submission = serve
        client = self.connect()
        self.assertEqual(Pong(5), client.ping())

    def test_an_unknown_status_is_a_failure(self) -> None:
        self.manager.on_submission = lambda session, submission: session.put(
            done(submission, 0, 9)._replace(category=2, code=299)
        )
        answer = self.connect().ping()
        assert isinstance(answer, Failed)
        self.assertEqual((Category.RESOURCE, "CODE_299"), (answer.category, answer.name))

    def test_a_refusal_carries_its_text(self) -> None:
        text = protocol_text.golden()["payload-refusal-text"]
        self.manager.on_submission = lambda session, submission: session.put(
            done(submission, 0, Status.REFUSED)._replace(flags=4, category=2, code=200, retry_after_millis=50), text
        )
        answer = self.connect().publish(0, [b"k"], [0])
        assert isinstance(answer, Refused)
        self.assertEqual(("no evictable block in the pool", 50), (answer.message, answer.retry_after_millis))

    def test_discover_has_no_lease(self) -> None:
        golden = protocol_text.golden()["payload-answer"]
        without_lease = bytes(8) + golden[8:]
        self.manager.on_submission = lambda session, submission: session.put(
            _ready(submission)._replace(handle=0), without_lease
        )
        client = self.connect()
        found = client.discover(0, {0: [b"k"]})
        assert isinstance(found, Discovered)
        self.assertEqual((64, 128), found.boundaries)
        # A query that is READY without a lease is no answer.
        self.assert_refused(Code.SESSION_LOST, client.query(0, {0: [b"k"]}))

    def test_another_program_behind_the_socket(self) -> None:
        path = self.manager.path + "-other"
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path)
            listener.listen()

            def serve() -> None:
                connection, _ = listener.accept()
                with connection:
                    connection.sendall(b"220 mail.example.org ESMTP ready\r\n")
                    connection.recv(100)

            thread = threading.Thread(target=serve)
            thread.start()
            with self.assertRaisesRegex(WireError, "not an OrbitKV Manager"):
                OrbitClient.connect(self.registration, path)
            thread.join(5)
        os.unlink(path)

    # Processes.

    def test_a_forked_child_may_not_use_the_client(self) -> None:
        client = self.connect()
        child = os.fork()
        if child == 0:
            status = 1
            try:
                client.ping()
            except RuntimeError:
                client.close()
                status = 0
            finally:
                os._exit(status)
        self.assertEqual(0, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
        self.assertIsInstance(client.ping(), Pong)

    def test_a_control_connection_stands_alone(self) -> None:
        with ControlConnection(self.manager.path) as control:
            hello = control.hello()
            assert not isinstance(hello, Refused)
            self.assertEqual(7, hello.epoch)


Spoil = Callable[[Completion], Completion]


def _silent(session: FakeSession, submission: Submission) -> None:
    del session, submission


def _miss(submission: Submission) -> Completion:
    return done(submission, 0, Status.MISS)


def _ready(submission: Submission) -> Completion:
    return done(submission, 128, Status.READY)._replace(handle=33)


def _open_fds() -> int:
    return len(os.listdir("/proc/self/fd"))


def _await(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 5
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError("the condition did not come true within 5 s")
        time.sleep(0.001)


if __name__ == "__main__":
    unittest.main()
