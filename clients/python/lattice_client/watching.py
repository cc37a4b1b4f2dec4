"""Watching jobs until they end. The service keeps its jobs when it restarts: that it is away ends no wait."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

from .effects import Emit, Flow, Pause
from .errors import JobTimeoutError, LatticeError
from .progress import Tell
from .records import JobStatus

_SHORTEST_PAUSE = 0.1
_LONGEST_PAUSE = 2.0
#: Longest time of one status call: a service that hangs is asked again.
_CALL_SECONDS = 10.0

AskStatus = Callable[[str, float], Flow[JobStatus]]


def watch(ask: AskStatus, job_ids: Sequence[str], timeout: float, tell: Tell) -> Flow[JobStatus]:
    """Emits each status that differs from the one before, per job; returns the last one when all jobs have ended.

    `JobTimeoutError` after `timeout`, also where the service could not be asked. Other refusals are raised at once.
    """
    end = time.monotonic() + timeout
    seen: dict[str, JobStatus] = {}
    away: LatticeError | None = None
    pause = _SHORTEST_PAUSE
    while True:
        for job_id in [each for each in job_ids if each not in seen or not seen[each].ended]:
            left = end - time.monotonic()
            try:
                status = yield from ask(job_id, min(_CALL_SECONDS, max(left, 0.05)))
            except LatticeError as error:
                if not error.is_passing:
                    raise
                away = error
                break
            away = None
            if seen.get(job_id) == status:
                continue
            pause = _SHORTEST_PAUSE if job_id in seen and status.ended else pause
            seen[job_id] = status
            tell(status)
            yield Emit(status)
        if len(seen) == len(set(job_ids)) and all(status.ended for status in seen.values()):
            return status
        left = end - time.monotonic()
        if left <= 0:
            raise JobTimeoutError(_late(job_ids, seen, timeout, away), code="timeout")
        yield Pause(min(pause, left))
        pause = min(pause * 1.5, _LONGEST_PAUSE)


def _late(
    job_ids: Sequence[str],
    seen: dict[str, JobStatus],
    timeout: float,
    away: LatticeError | None,
) -> str:
    open_ids = [each for each in job_ids if each not in seen or not seen[each].ended]
    first = seen.get(open_ids[0])
    state = (
        "it was never reached"
        if first is None
        else f"it is {first.status} with {first.finished_images} of {first.image_count} images"
    )
    lost = "" if away is None else f" The last call failed: {away.detail}"
    return f"{open_ids[0]} had not ended after {timeout:g} s: {state}. The job continues.{lost}"
