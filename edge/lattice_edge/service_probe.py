"""What the service says of itself: is it ours, does it know our key, which cluster does it run on."""

from __future__ import annotations

import socket
from dataclasses import dataclass

import httpx

from lattice_client.no_answer import cause_of, why_no_answer

from .faults import SetupError
from .http_call import ask, document_of
from .port_probe import speaks_tls
from .settings import SERVICE_PORT, Address, Settings
from .versions import Versions

# 0.5 s less than the limit of a check: the steps after a time-out must fit too.
SECONDS = 2.5


@dataclass(frozen=True)
class ServiceCluster:
    """What the service knows of its cluster. `versions` is None where it runs without Ray or cannot tell."""

    has_ray: bool
    versions: Versions | None
    note: str
    #: Of its workers; None where it does not say.
    namespace: str | None = None


def probe_health(address: Address) -> None:
    """Returns when a lattice-core service answers there; raises `SetupError` otherwise."""
    answer = _ask(address, "/healthz", {})
    document = document_of(answer)
    if answer.status_code == 200 and isinstance(document, dict) and "cluster_connected" in document:
        return
    maker = answer.headers.get("server", "an unnamed server")[:40]
    raise SetupError(
        f"{address} answers, but it is not the detection service (HTTP {answer.status_code} from {maker} to /healthz): "
        f"set LATTICE_CORE_API_URL to the service's own address, port {SERVICE_PORT} unless it was changed."
    )


def probe_cluster(address: Address, settings: Settings) -> ServiceCluster:
    """Raises `SetupError` for a missing or wrong API key and for an answer that makes no sense."""
    answer = _ask(address, "/v1/cluster/status", authorization(settings))
    document = document_of(answer)
    if answer.status_code == 401:
        wrong = (
            "needs an API key"
            if settings.api_key is None
            else "does not know the API key in LATTICE_API_KEY"
        )
        raise SetupError(
            f"The service at {address} {wrong}: set LATTICE_API_KEY to one of its keys."
        )
    if answer.status_code == 503:
        detail = (
            document.get("detail", "no reason given")
            if isinstance(document, dict)
            else "no reason given"
        )
        return ServiceCluster(True, None, f"The service itself cannot reach its cluster: {detail}")
    if (
        answer.status_code != 200
        or not isinstance(document, dict)
        or "cluster_version" not in document
    ):
        raise SetupError(
            f"The service at {address} answered HTTP {answer.status_code} to /v1/cluster/status: see its log, "
            f"request {answer.headers.get('x-request-id', 'unknown')}."
        )
    return _understand(address, str(document["cluster_version"]), answer)


def authorization(settings: Settings) -> dict[str, str]:
    return {} if settings.api_key is None else {"authorization": f"Bearer {settings.api_key}"}


def _understand(address: Address, version: str, answer: httpx.Response) -> ServiceCluster:
    """On Ray the version is the cluster's; without, it is the service's own, as its OpenAPI document gives it."""
    python = answer.headers.get("x-lattice-cluster-python")
    if python is None and version == _own_version(address):
        return ServiceCluster(False, None, f"The service ({version}) runs without a Ray cluster.")
    namespace = answer.headers.get("x-lattice-cluster-namespace")
    note = f"The service runs on Ray {version}."
    return ServiceCluster(True, Versions(version, python), note, namespace)


def _own_version(address: Address) -> str | None:
    document = document_of(_ask(address, "/openapi.json", {}))
    info = document.get("info") if isinstance(document, dict) else None
    return str(info.get("version")) if isinstance(info, dict) else None


def _ask(address: Address, path: str, headers: dict[str, str]) -> httpx.Response:
    """An answer within `SECONDS`, name look-up included."""
    try:
        return ask(address, path, SECONDS, headers)
    except (httpx.HTTPError, TimeoutError) as error:
        raise SetupError(_unreachable(error, address)) from None


def _unreachable(error: BaseException, address: Address) -> str:
    reason = why_no_answer(error, f"{address.host}:{address.port}")
    remedy = "start the service, or set LATTICE_CORE_API_URL to its address"
    cause = cause_of(error)
    if isinstance(cause, socket.gaierror):
        remedy = "set LATTICE_CORE_API_URL to the address of the service"
    elif isinstance(cause, ConnectionRefusedError):
        remedy += " (a service on 127.0.0.1 cannot be reached from a container or another machine: see LATTICE_HOST)"
    elif "not trusted" in reason:
        remedy = "set SSL_CERT_FILE to the file with the certificate of its issuer"
    elif "not speak TLS" in reason:
        remedy = f"set LATTICE_CORE_API_URL to http://{address.host}:{address.port} if that is what it speaks"
    elif "not speak HTTP" in reason or "broke the connection off" in reason:
        remedy = f"set LATTICE_CORE_API_URL to the service's address, port {SERVICE_PORT} unless it was changed"
        if speaks_tls(address, SECONDS / 3):
            reason = f"{address.host}:{address.port} speaks TLS"
            remedy = f"set LATTICE_CORE_API_URL to https://{address.host}:{address.port}"
    return f"The service at {address} cannot be reached, because {reason}: {remedy}."
