"""What the cluster says of itself, asked without Ray: is its client port there, which version does it run."""

from __future__ import annotations

import socket
from collections.abc import Mapping

import httpx

from lattice_client.no_answer import why_no_answer

from .deadline import within
from .faults import SetupError
from .http_call import ask, document_of
from .port_probe import Speech, speech_of
from .settings import CLIENT_PORT, DASHBOARD_PORT, Address
from .versions import Versions

# 0.5 s less than the limit of a check: the steps after a time-out must fit too.
SECONDS = 2.5
# The versions have two sources at most; both together stay within the limit of one check.
_DASHBOARD_SECONDS = 1.0

_HEARD: dict[Speech, str] = {
    "grpc": "it does not know Ray's client (another port of the cluster)",
    "http1": "a web server answers there",
    "tls": "it speaks TLS and Ray was not told so (RAY_USE_TLS=1 with RAY_TLS_CA_CERT)",
    "silent": f"it accepts the connection and then says nothing for {SECONDS:g} s",
    "closed": "it accepts the connection and closes it",
    "other": "something else than Ray answers there",
}


def probe_client_port(address: Address, headers: Mapping[str, str]) -> None:
    """Returns when Ray's client server answers at the port; raises `SetupError` otherwise.

    `headers` carry the cluster's token.
    """
    try:
        speech = within(SECONDS, lambda: speech_of(address, SECONDS * 0.9, headers))
    except OSError as error:
        reason = why_no_answer(error, f"{address.host}:{address.port}")
        start = f"start it with `ray start --head --ray-client-server-port={CLIENT_PORT}`, or "
        start = "" if isinstance(error, socket.gaierror) else start
        raise SetupError(
            f"The Ray cluster at {address} cannot be reached, because {reason}: "
            f"{start}set LATTICE_RAY_ADDRESS to the address of its head node."
        ) from None
    if speech == "locked":
        what = "does not accept the token of this notebook" if headers else "needs a token"
        raise SetupError(
            f"The Ray cluster at {address} {what}: set LATTICE_RAY_TOKEN_FILE to a file with the cluster's token."
        )
    if speech != "ray":
        raise SetupError(
            f"{address} is not the client port of a Ray cluster, because {_HEARD[speech]}: "
            f"set LATTICE_RAY_ADDRESS to ray://{address.host}:{CLIENT_PORT}, or to the port given as "
            "--ray-client-server-port."
        )


def ask_dashboard(address: Address, headers: Mapping[str, str]) -> Versions | None:
    """The cluster's Ray version from its dashboard (its Python is not told there); None when it does not answer."""
    dashboard = Address("http", address.host, DASHBOARD_PORT)
    try:
        document = document_of(ask(dashboard, "/api/version", _DASHBOARD_SECONDS, dict(headers)))
    except (httpx.HTTPError, TimeoutError):
        return None
    version = document.get("ray_version") if isinstance(document, dict) else None
    return Versions(version, None) if isinstance(version, str) else None
