"""One HTTP call by the standard library. Proxies of the environment are not used: the service is on the local net."""

from __future__ import annotations

import http.client
import json
import ssl
from dataclasses import dataclass
from typing import Any

from .settings import Address

MAX_ANSWER_BYTES = 256 * 1024 * 1024


@dataclass(frozen=True)
class Answer:
    status: int
    #: Names in lower case.
    headers: dict[str, str]
    body: bytes

    def document(self) -> Any:
        """The JSON body; None when it is not JSON."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None


def call(
    address: Address,
    method: str,
    path: str,
    *,
    body: Any = None,
    headers: dict[str, str] | None = None,
    seconds: float,
) -> Answer:
    """Raises `OSError` or `http.client.HTTPException` when there is no answer; `seconds` bounds each wait for bytes."""
    sent = {"accept": "application/json", **(headers or {})}
    payload = None
    if body is not None:
        payload = json.dumps(body).encode()
        sent["content-type"] = "application/json"
    connection = _connection(address, seconds)
    try:
        connection.request(method, address.path + path, body=payload, headers=sent)
        response = connection.getresponse()
        data = response.read(MAX_ANSWER_BYTES)
        return Answer(response.status, {k.lower(): v for k, v in response.getheaders()}, data)
    finally:
        connection.close()


def _connection(address: Address, seconds: float) -> http.client.HTTPConnection:
    if address.scheme == "https":
        context = ssl.create_default_context()
        return http.client.HTTPSConnection(
            address.host, address.port, timeout=seconds, context=context
        )
    return http.client.HTTPConnection(address.host, address.port, timeout=seconds)
