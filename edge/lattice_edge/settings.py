"""Where the service and the cluster are, read from the environment."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import SplitResult, urlsplit

from .faults import SetupError

SERVICE_PORT = 8000
CLIENT_PORT = 10001
DASHBOARD_PORT = 8265
STORE_PORT = 6379

DEFAULT_SERVICE = f"http://host.docker.internal:{SERVICE_PORT}"
DEFAULT_CLUSTER = f"ray://host.docker.internal:{CLIENT_PORT}"
DEFAULT_NAMESPACE = "lattice"


@dataclass(frozen=True)
class Settings:
    """As given: an address is checked where it is used."""

    service: str = DEFAULT_SERVICE
    cluster: str = DEFAULT_CLUSTER
    namespace: str = DEFAULT_NAMESPACE
    api_key: str | None = field(default=None, repr=False)
    #: Folder with copies of the photos, for drawing; None when there is none.
    images: Path | None = None
    #: File with the cluster's token; None: from where Ray itself takes it.
    token_file: Path | None = None
    #: True when somebody named a cluster other than the default, so that it is expected to be there.
    cluster_named: bool = False

    @classmethod
    def from_environment(cls, environment: Mapping[str, str] = os.environ) -> Settings:
        def text(name: str) -> str:
            return environment.get(name, "").strip()

        return cls(
            service=(text("LATTICE_CORE_API_URL") or DEFAULT_SERVICE).rstrip("/"),
            cluster=text("LATTICE_RAY_ADDRESS") or DEFAULT_CLUSTER,
            namespace=text("LATTICE_RAY_NAMESPACE") or DEFAULT_NAMESPACE,
            api_key=text("LATTICE_API_KEY") or None,
            images=Path(text("LATTICE_EDGE_IMAGES")) if text("LATTICE_EDGE_IMAGES") else None,
            token_file=Path(text("LATTICE_RAY_TOKEN_FILE"))
            if text("LATTICE_RAY_TOKEN_FILE")
            else None,
            cluster_named=text("LATTICE_RAY_ADDRESS") not in ("", DEFAULT_CLUSTER),
        )


@dataclass(frozen=True)
class Address:
    scheme: str
    host: str
    port: int
    path: str = ""

    def __str__(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}{self.path}"


def service_address(settings: Settings) -> Address:
    """Raises `SetupError` when it is not an HTTP address."""
    text = settings.service
    wrong = f'LATTICE_CORE_API_URL is "{shown(text)}"'
    parts = _split(text, wrong, f"http://HOST:{SERVICE_PORT}")
    if parts.scheme not in ("http", "https"):
        raise SetupError(
            f"{wrong}, but it must start with http:// or https://: {DEFAULT_SERVICE}, for example."
        )
    if parts.username is not None or parts.query or parts.fragment:
        raise SetupError(
            f"{wrong}, but it must be a plain address, http://HOST:{SERVICE_PORT}: set LATTICE_API_KEY for a key."
        )
    if parts.path.rstrip("/").endswith("/v1"):
        raise SetupError(f"{wrong}, but it must end before /v1: set it to {text.rstrip('/')[:-3]}.")
    port = parts.port or (443 if parts.scheme == "https" else 80)
    return Address(parts.scheme, str(parts.hostname), port, parts.path.rstrip("/"))


def cluster_address(settings: Settings) -> Address:
    """Raises `SetupError` for another scheme or for a port that belongs to something else."""
    text = settings.cluster
    wrong = f'LATTICE_RAY_ADDRESS is "{shown(text)}"'
    parts = _split(text, wrong, f"ray://HOST:{CLIENT_PORT}")
    host = parts.hostname
    if parts.scheme != "ray":
        raise SetupError(
            f"{wrong}, but the cluster is reached by Ray's client protocol: set it to ray://{host}:{CLIENT_PORT}."
        )
    port = parts.port or CLIENT_PORT
    owners = {
        STORE_PORT: "the cluster's internal store",
        DASHBOARD_PORT: "the cluster's dashboard",
        _port_of_service(settings, str(host)): "the detection service",
    }
    if port in owners:
        raise SetupError(
            f"{wrong}, but port {port} is that of {owners[port]}: set it to ray://{host}:{CLIENT_PORT}."
        )
    return Address("ray", str(host), port)


def shown(address: str) -> str:
    """Without a user name and a password, should somebody have written them in."""
    return re.sub(r"//[^/]*@", "//...@", address)


def _port_of_service(settings: Settings, host: str) -> int:
    try:
        service = service_address(settings)
    except SetupError:
        return SERVICE_PORT
    return service.port if service.host == host else SERVICE_PORT


def _split(text: str, wrong: str, shape: str) -> SplitResult:
    """The parts of an address that has a scheme and a host."""
    try:
        parts = urlsplit(text)
        complete = bool(parts.scheme and parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        complete = False
    if not complete:
        raise SetupError(f"{wrong}, but it must have the shape {shape}.")
    return parts
