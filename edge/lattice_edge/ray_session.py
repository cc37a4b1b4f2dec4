"""Joining the cluster through Ray's client, with a deadline. Ray's own check of the versions stays the last word."""

from __future__ import annotations

import logging
import sys
import time
from typing import Any

from .deadline import within
from .faults import SetupError
from .ray_token import give_token_to_ray
from .settings import Settings
from .versions import Versions, local_versions

# Ray itself gives up after 30 s and then says why: a shorter limit would hide the reason.
JOIN_SECONDS = 45.0
#: A session starts in 2 to 5 s: a shorter attempt is not made.
LEAST_SECONDS = 1.0


def join(settings: Settings, cluster: Versions | None, seconds: float = JOIN_SECONDS) -> str:
    """Leaves `ray` initialised in the namespace, or raises `SetupError`. Repeating it is harmless.

    `cluster` holds the versions that were compared, None when they could not be.
    """
    try:
        # Ray starts a server for each session. Sometimes this start fails; a second try succeeds.
        _repeated(settings, seconds, attempts=1 if cluster is None else 2)
    except TimeoutError:
        raise SetupError(
            f"Ray did not join the cluster at {settings.cluster} within {seconds:g} s: look at `ray status` on its "
            f"head node and {_compare(cluster)}, then restart the kernel."
        ) from None
    except Exception as error:  # Ray raises many kinds; all end here with their last line
        raise SetupError(
            f"Ray refused to join the cluster at {settings.cluster} ({_last_line(error)}): {_compare(cluster)}, "
            "then restart the kernel."
        ) from error
    return f"Joined the Ray cluster at {settings.cluster}, namespace {settings.namespace}."


def leave(seconds: float = 5.0) -> None:
    """Ends the session with the cluster, if there is one; never waits longer than `seconds`."""
    ray: Any = sys.modules.get("ray")
    if ray is None:
        return
    try:
        within(seconds, ray.shutdown)
    except TimeoutError:
        return


def _repeated(settings: Settings, seconds: float, attempts: int) -> None:
    """Within `seconds`, all attempts together. After a time-out there is none: the first one still runs."""
    deadline = time.monotonic() + seconds
    try:
        within(seconds, lambda: _initialise(settings))
    except TimeoutError:
        raise
    except Exception as error:
        left = deadline - time.monotonic()
        if attempts <= 1 or left < LEAST_SECONDS:
            raise
        print(f"Ray refused ({_last_line(error)}): trying once more.")
        _repeated(settings, left, attempts - 1)


def _initialise(settings: Settings) -> None:
    # Ray logs warnings of no use here: missing widgets, the thread it runs in.
    logging.getLogger("ray.widgets").setLevel(logging.WARNING)
    give_token_to_ray(settings)
    import ray  # only after the versions were compared

    if ray.is_initialized():
        return
    logging.getLogger("ray").setLevel(logging.ERROR)
    ray.init(
        settings.cluster,
        namespace=settings.namespace,
        log_to_driver=False,
        logging_level=logging.ERROR,
    )
    logging.getLogger("ray").setLevel(logging.WARNING)


def _compare(cluster: Versions | None) -> str:
    here = local_versions()
    if cluster is None:
        return f"compare its `ray --version` with this notebook's {here}"
    if cluster.python is None:
        return f"compare the Python of its nodes with this notebook's {here.python}"
    return f"its {cluster} fits this notebook's {here}, so read ray_client_server.err in its log folder"


def _last_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1].rstrip(".") if lines else type(error).__name__
