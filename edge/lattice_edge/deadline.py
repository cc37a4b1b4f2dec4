"""Work that may hang, with a deadline that holds."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def within(seconds: float, work: Callable[[], T]) -> T:
    """What `work` gives, or its exception; `TimeoutError` after `seconds`.

    It runs in a daemon thread, because neither a name look-up nor `ray.init` can be interrupted: after the deadline the
    thread is left behind.
    """
    outcome: list[T] = []
    failure: list[BaseException] = []

    def run() -> None:
        try:
            outcome.append(work())
        except BaseException as error:  # noqa: BLE001  carried to the caller's thread
            failure.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    thread.join(seconds)
    if failure:
        raise failure[0]
    if not outcome:
        raise TimeoutError(f"no result within {seconds:g} s")
    return outcome[0]
