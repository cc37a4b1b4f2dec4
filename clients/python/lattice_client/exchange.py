"""One call of the HTTP API: within its time, repeated after `Retry-After` and where the connection breaks."""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

import httpx

from .effects import Answer, Call, Flow, Pause, Send
from .errors import (
    CallTimeoutError,
    LatticeError,
    ServiceError,
    UnexpectedAnswerError,
    UnreachableError,
)
from .no_answer import why_no_answer

#: Clients that were refused together do not all return together.
_SPREAD = 0.2
_FIRST_PAUSE = 0.25


def exchange(
    base_url: str, call: Call, timeout: float, retries: int, *, in_lines: bool = False
) -> Flow[Answer]:
    """A 2xx answer; raises `LatticeError`. `timeout` bounds the call with all its repeats."""
    end = time.monotonic() + timeout
    broken = 0
    while True:
        failure: LatticeError | None
        try:
            answer: Answer = yield Send(call, end, in_lines)
        except (httpx.TransportError, TimeoutError) as error:
            failure = no_answer(base_url, call, timeout, error)
            if isinstance(failure, CallTimeoutError) or not call.repeatable or broken >= retries:
                raise failure from error
            pause = _FIRST_PAUSE * 2**broken * random.uniform(0.5, 1)
            broken += 1
        else:
            failure = _refusal(base_url, answer)
            if failure is None:
                return answer
            if failure.status not in (429, 503) or failure.retry_after is None:
                raise failure
            pause = failure.retry_after * random.uniform(1, 1 + _SPREAD)
        if time.monotonic() + pause >= end:
            raise failure
        yield Pause(pause)


def no_answer(base_url: str, call: Call, timeout: float, error: Exception) -> LatticeError:
    """The error of the client for one of `Send`."""
    late = isinstance(error, (TimeoutError, httpx.TimeoutException))
    if late and not isinstance(error, httpx.ConnectTimeout):
        return CallTimeoutError(
            f"The service at {base_url} gave no answer to {call.method} {call.path} within {timeout:g} s.",
            code="timeout",
        )
    parts = urlsplit(base_url)
    host = f"{parts.hostname}:{parts.port or (443 if parts.scheme == 'https' else 80)}"
    reason = why_no_answer(error, host)
    return UnreachableError(
        f"The service at {base_url} cannot be reached: {reason}.", code="unreachable"
    )


def _refusal(base_url: str, answer: Answer) -> LatticeError | None:
    if 200 <= answer.status < 300:
        return None
    document = answer.document() if answer.status >= 400 else None
    if isinstance(document, dict) and isinstance(document.get("code"), str):
        return ServiceError.of(document, answer.status, _retry_after(answer.headers))
    to = f" to {answer.headers['location']}" if "location" in answer.headers else ""
    by = f" by {answer.headers['server']}" if "server" in answer.headers else ""
    return UnexpectedAnswerError(
        f"{base_url} answers HTTP {answer.status}{to}{by}, which is not an answer of the service. Check the address.",
        code="unexpected_answer",
        status=answer.status,
        request_id=answer.headers.get("x-request-id"),
        retry_after=_retry_after(answer.headers),
    )


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds or, from some proxies, a date."""
    text = headers.get("retry-after", "")
    if text.isdecimal():
        return float(text)
    try:
        return max(0.0, parsedate_to_datetime(text).timestamp() - time.time())
    except ValueError:
        return None
