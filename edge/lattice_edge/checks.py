"""All checks in order, none of which imports Ray or takes longer than three seconds."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from .cluster_probe import ask_dashboard, probe_client_port
from .faults import SetupError
from .ray_token import authorization
from .service_probe import ServiceCluster, probe_cluster, probe_health
from .settings import Settings, cluster_address, service_address
from .versions import Versions, local_versions, mismatch

State = Literal["ok", "note", "fault"]


@dataclass(frozen=True)
class Check:
    name: str
    state: State
    #: One sentence: what was found, or what is wrong and what to do.
    sentence: str
    seconds: float


class Examination:
    """Runs the checks during the iteration: a caller that stops at the first fault runs no later check.

    `cluster`: True = it must be there, False = it is not looked at, None = it is looked at where the service runs on
    one or LATTICE_RAY_ADDRESS differs from its default. Afterwards `needs_ray` says whether it was looked at.
    """

    def __init__(self, settings: Settings, cluster: bool | None = None) -> None:
        self.needs_ray = False
        self.versions: Versions | None = None
        self._settings = settings
        self._wanted = cluster
        self._of_service: ServiceCluster | None = None

    def __iter__(self) -> Iterator[Check]:
        health = _timed("service", self._check_health)
        yield health
        if health.state != "fault":
            yield _timed("account", self._check_account)
        self.needs_ray = self._is_ray_needed()
        if not self.needs_ray:
            return
        port = _timed("cluster", self._check_client_port)
        yield port
        if port.state != "fault":
            yield _timed("versions", self._check_versions)
        if self._of_service is not None and self._of_service.namespace is not None:
            yield _timed("namespace", self._check_namespace)

    def _check_health(self) -> tuple[State, str]:
        address = service_address(self._settings)
        probe_health(address)
        return "ok", f"The service answers at {address}."

    def _check_account(self) -> tuple[State, str]:
        found = probe_cluster(service_address(self._settings), self._settings)
        self._of_service = found
        return ("note" if found.has_ray and found.versions is None else "ok"), found.note

    def _is_ray_needed(self) -> bool:
        if self._wanted is not None:
            return self._wanted
        if self._settings.cluster_named:
            return True
        return self._of_service is not None and self._of_service.has_ray

    def _check_client_port(self) -> tuple[State, str]:
        address = cluster_address(self._settings)
        probe_client_port(address, authorization(self._settings))
        return "ok", f"A Ray client port answers at {address}."

    def _check_versions(self) -> tuple[State, str]:
        local = local_versions()
        told = None if self._of_service is None else self._of_service.versions
        cluster = told or ask_dashboard(
            cluster_address(self._settings), authorization(self._settings)
        )
        self.versions = cluster
        wrong = mismatch(local, cluster or Versions(None, None))
        if wrong is not None:
            raise SetupError(wrong)
        if cluster is None:
            return "note", (
                f"The cluster's version could not be asked, so it was not compared with this notebook's {local}: "
                "see `ray --version` on its head node if joining fails."
            )
        return "ok", f"The cluster runs {cluster}, this notebook has {local}."

    def _check_namespace(self) -> tuple[State, str]:
        here = self._settings.namespace
        there = None if self._of_service is None else self._of_service.namespace
        if there == here:
            return "ok", f"The service's workers are in the namespace {here}."
        raise SetupError(
            f"The service's workers are in the namespace {there} and LATTICE_RAY_NAMESPACE is {here}: "
            f"set it to {there}."
        )


def _timed(name: str, check: Callable[[], tuple[State, str]]) -> Check:
    start = time.monotonic()
    try:
        state, sentence = check()
    except SetupError as fault:
        state, sentence = "fault", str(fault)
    return Check(name, state, sentence, time.monotonic() - start)
