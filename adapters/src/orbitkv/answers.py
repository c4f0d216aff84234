"""From completions to results. WireError for an answer that the operation cannot have."""

from __future__ import annotations

from collections.abc import Callable

from orbitkv.codes import Category, Code, name_of, remedy_of
from orbitkv.results import (
    CancelAnswer,
    Cancelled,
    Discovered,
    DiscoverResult,
    Failed,
    Lease,
    Loading,
    Miss,
    Pong,
    Published,
    Prepared,
    PrepareResult,
    PublishResult,
    QueryResult,
    Ready,
    Refused,
    Released,
    Restored,
    RestoreResult,
    Ticket,
)
from orbitkv.session import Session
from orbitkv.wire import WireError
from orbitkv.wire.payloads import decode_answer, decode_publish_reply, decode_refusal_text
from orbitkv.wire.rings import TEXT, Completion, Status


def _text(completion: Completion, payload: memoryview) -> tuple[Category, str, str]:
    category = Category.of(completion.category)
    if completion.flags & TEXT:
        message, remedy = decode_refusal_text(payload)
        return category, message, remedy
    return category, name_of(completion.code), remedy_of(category, completion.code)


def refused(completion: Completion, payload: memoryview) -> Refused:
    category, message, remedy = _text(completion, payload)
    return Refused(category, completion.code, message, remedy, completion.retry_after_millis)


def _unsuccessful(completion: Completion, payload: memoryview) -> Refused | Failed:
    """REFUSED, FAILED, or a status that this client does not know, which counts as FAILED."""
    status = completion.status
    if status == Status.REFUSED:
        return refused(completion, payload)
    if Status.OK <= status <= Status.CANCELLED:
        raise WireError(f"status {Status(status).name} cannot answer op {completion.op}")
    category, message, remedy = _text(completion, payload)
    return Failed(category, completion.code, message, remedy)


def _switch(value: int) -> bool:
    if value > 1:
        raise WireError(f"value {value} where 0 or 1 was expected")
    return value == 1


def pong(completion: Completion, payload: memoryview, session: Session) -> Pong | Failed | Refused:
    if completion.status == Status.OK:
        return Pong(completion.value)
    return _unsuccessful(completion, payload)


def cancel_answer(completion: Completion, payload: memoryview, session: Session) -> CancelAnswer | Failed | Refused:
    if completion.status == Status.OK:
        return CancelAnswer(_switch(completion.value))
    return _unsuccessful(completion, payload)


def released(completion: Completion, payload: memoryview, session: Session) -> Released | Failed | Refused:
    if completion.status == Status.OK:
        return Released(_switch(completion.value))
    return _unsuccessful(completion, payload)


def query_result(completion: Completion, payload: memoryview, session: Session) -> QueryResult:
    if completion.status == Status.LOADING:
        return session.open_ticket(completion)
    return _answered(completion, payload, session)


def poll_decoder(ticket: Ticket) -> Callable[[Completion, memoryview, Session], QueryResult]:
    def decode(completion: Completion, payload: memoryview, session: Session) -> QueryResult:
        if completion.status == Status.LOADING:
            return Loading(ticket)
        session.forget_ticket(ticket)
        return _answered(completion, payload, session)

    return decode


def _answered(completion: Completion, payload: memoryview, session: Session) -> QueryResult:
    match completion.status:
        case Status.READY:
            answer = decode_answer(payload)
            if answer.lease_id == 0 or answer.lease_id != completion.handle:
                raise WireError(f"READY with lease {answer.lease_id} in the answer, {completion.handle} as handle")
            lease = Lease(answer.lease_id, session.epoch, session.session_id, answer.lease_millis)
            return Ready(lease, answer.start_token, answer.boundary_token, answer.groups, answer.boundaries)
        case Status.MISS:
            return _miss(completion, payload)
        case Status.CANCELLED:
            return Cancelled(completion.code)
        case _:
            return _unsuccessful(completion, payload)


def _miss(completion: Completion, payload: memoryview) -> Miss:
    answer = decode_answer(payload)
    if answer.lease_id != 0 or answer.boundary_token != answer.start_token or answer.boundaries:
        raise WireError("a MISS with a lease or a boundary")
    return Miss(answer.start_token, answer.groups, completion.code)


def notice_result(notice: Completion) -> QueryResult:
    """The result of a NOTICE that has no answer to poll for."""
    if notice.status == Status.CANCELLED:
        return Cancelled(notice.code)
    return _unsuccessful(notice, memoryview(b""))


def prepare_result(completion: Completion, payload: memoryview, session: Session) -> PrepareResult:
    match completion.status:
        case Status.OK:
            return Prepared(completion.value, completion.code == Code.TICKET_EXPIRED)
        case Status.CANCELLED:
            return Cancelled(completion.code)
        case _:
            return _unsuccessful(completion, payload)


def discover_result(completion: Completion, payload: memoryview, session: Session) -> DiscoverResult:
    match completion.status:
        case Status.READY:
            answer = decode_answer(payload)
            if answer.lease_id != 0:
                raise WireError("an answer to DISCOVER with a lease")
            return Discovered(answer.start_token, answer.boundary_token, answer.groups, answer.boundaries)
        case Status.MISS:
            return _miss(completion, payload)
        case _:
            return _unsuccessful(completion, payload)


def publish_result(completion: Completion, payload: memoryview, session: Session) -> PublishResult:
    match completion.status:
        case Status.OK:
            reply = decode_publish_reply(payload)
            refusal = None
            if reply.refused:
                category = Category.of(completion.category)
                refusal = Refused(
                    category,
                    completion.code,
                    f"{reply.refused} blocks were refused: {name_of(completion.code)}",
                    remedy_of(category, completion.code),
                    completion.retry_after_millis,
                )
            return Published(
                reply.stored,
                reply.already,
                reply.elsewhere,
                reply.refused,
                reply.outcomes,
                completion.value,
                refusal,
            )
        case Status.CANCELLED:
            return Cancelled(completion.code)
        case _:
            return _unsuccessful(completion, payload)


def restore_result(completion: Completion, payload: memoryview, session: Session) -> RestoreResult:
    match completion.status:
        case Status.OK:
            return Restored(completion.value)
        case Status.CANCELLED:
            return Cancelled(completion.code)
        case _:
            return _unsuccessful(completion, payload)
