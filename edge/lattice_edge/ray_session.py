"""Joining the cluster through Ray's client, with a deadline. Ray's own check of the versions stays the last word."""

from __future__ import annotations

import sys
from typing import Any

from .deadline import within
from .faults import SetupError
from .settings import Settings
from .versions import Versions, local_versions

JOIN_SECONDS = 30.0


def join(settings: Settings, cluster: Versions | None, seconds: float = JOIN_SECONDS) -> str:
    """Leaves `ray` initialised in the namespace, or raises `SetupError`. Repeating it is harmless."""

    def work() -> None:
        import ray  # only after the versions were compared

        if ray.is_initialized():
            return
        ray.init(settings.cluster, namespace=settings.namespace, log_to_driver=False)

    try:
        within(seconds, work)
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


def _compare(cluster: Versions | None) -> str:
    here = local_versions()
    if cluster is None:
        return f"compare its `ray --version` with this notebook's {here}"
    return f"compare its {cluster} with this notebook's {here}"


def _last_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1].rstrip(".") if lines else type(error).__name__
