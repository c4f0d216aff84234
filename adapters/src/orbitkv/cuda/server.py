"""Serves one session's board: a thread that launches what the Manager posts and tells it when it is done.

While kernels run, the thread waits in the driver, without the interpreter's lock. One that stands behind the engine's own
work may take long: for it the thread looks now and then, sleeping on the eventfd in between, so that others go on.
"""

from __future__ import annotations

import logging
import os
import select
import threading
import time
from collections import deque
from dataclasses import dataclass

from orbitkv.cuda.api import CudaApi, CudaError
from orbitkv.cuda.board import DONE, FAILED, REFUSED, Board, Work
from orbitkv.cuda.moves import BadWork, Kernels
from orbitkv.staging import BoardHandover

logger = logging.getLogger(__name__)

SHORTEST_SLEEP_SECONDS = 0.00005
LONGEST_SLEEP_SECONDS = 0.001


@dataclass(frozen=True, slots=True)
class _Launched:
    slot: int
    turn: int
    work: Work
    runs: bool
    """It waited for nothing of the engine's when it was launched."""


class BoardServer:
    def __init__(self, api: CudaApi, ordinal: int, kernels: Kernels, handover: BoardHandover, slots: int, loads: int) -> None:
        """Takes the board over and begins to serve it. WireError where the board is not as the protocol says."""
        self._api = api
        self._ordinal = ordinal
        self._kernels = kernels
        self._handover = handover
        try:
            self._board = Board(handover.board_fd, handover.size_bytes, slots, loads)
        except BaseException:
            handover.close()
            raise
        self._stop_fd = os.eventfd(0, os.EFD_CLOEXEC | os.EFD_NONBLOCK)
        self._stopping = False
        self._loads: deque[_Launched] = deque()
        self._saves: deque[_Launched] = deque()
        self._busy = [0] * slots
        """The turn of what is under way for each slot, else 0."""
        self.launched = 0
        self.refused = 0
        self._thread = threading.Thread(target=self._run, name="orbitkv-board", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Launches nothing more, waits for what is launched, and gives the board up: no page is touched afterwards.

        A kernel cannot be taken back, so one that never ends keeps this waiting, on the link's thread: the session's pages are
        then never quiet, and whoever waits for them has a deadline of its own.
        """
        if self._stop_fd < 0:
            return
        self._stopping = True
        os.eventfd_write(self._stop_fd, 1)
        self._thread.join()
        os.close(self._stop_fd)
        self._stop_fd = -1
        self._board.close()
        self._handover.close()

    def _run(self) -> None:
        self._api.bind(self._ordinal)
        waited = 0.0
        while True:
            self._take_rings()
            if not self._stopping:
                self._launch_posted()
            finished = [self._finish(queue) for queue in (self._loads, self._saves) if queue]
            if any(finished):
                waited = 0.0
            elif finished:
                began = time.monotonic()
                self._sleep(min(max(waited / 4, SHORTEST_SLEEP_SECONDS), LONGEST_SLEEP_SECONDS))
                waited += time.monotonic() - began
            elif self._stopping:
                return
            else:
                self._sleep(None)

    def _sleep(self, seconds: float | None) -> None:
        select.select([self._handover.to_engine_fd, self._stop_fd], [], [], seconds)

    def _take_rings(self) -> None:
        for fd in (self._handover.to_engine_fd, self._stop_fd):
            try:
                os.eventfd_read(fd)
            except BlockingIOError:
                pass  # Nobody rang.

    def _launch_posted(self) -> None:
        for slot in range(self._board.slot_count):
            turn = self._board.turn(slot)
            if turn % 2 and turn != self._busy[slot]:
                self._launch(slot, turn)

    def _launch(self, slot: int, turn: int) -> None:
        work = self._board.work(slot)
        try:
            runs = self._kernels.launch(self._board, slot, work)
        except BadWork as e:
            self.refused += 1
            logger.error("OrbitKV: the Manager posted what cannot be done: %s", e)
            self._answer(slot, turn, REFUSED, 0)
        except CudaError as e:
            logger.error("OrbitKV: a copy kernel could not be launched: %s", e)
            self._answer(slot, turn, REFUSED, e.code)
        else:
            self.launched += 1
            self._busy[slot] = turn
            queue = self._loads if slot < self._board.load_slots else self._saves
            queue.append(_Launched(slot, turn, work, runs))

    def _finish(self, queue: deque[_Launched]) -> bool:
        """Answers for the queue's first when it is done; whether it is."""
        first = queue[0]
        slot, status, detail = first.slot, DONE, 0
        try:
            if first.runs or self._stopping:
                self._kernels.wait(slot)
            elif not self._kernels.passed(slot):
                return False
            self._kernels.write_sums(self._board, slot, first.work)
        except CudaError as e:
            logger.error("OrbitKV: a copy kernel failed: %s", e)
            status, detail = FAILED, e.code
        queue.popleft()
        self._busy[slot] = 0
        self._answer(slot, first.turn, status, detail)
        return True

    def _answer(self, slot: int, turn: int, status: int, detail: int) -> None:
        self._board.finish(slot, turn, status, detail)
        try:
            os.eventfd_write(self._handover.to_manager_fd, 1)
        except BlockingIOError:
            pass  # It is ringing already.


