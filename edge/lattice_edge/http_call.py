"""One question of the checks over HTTP, with a deadline that holds."""

from __future__ import annotations

from typing import Any

import httpx

from lattice_client.tls import verification

from .deadline import within
from .settings import Address


def ask(
    address: Address, path: str, seconds: float, headers: dict[str, str] | None = None
) -> httpx.Response:
    """Within `seconds`, name look-up included. Raises `httpx.HTTPError` or `TimeoutError` without an answer.

    Proxies of the environment are not used: the service is on the local net.
    """
    url = f"{address}{path}"
    return within(
        seconds,
        lambda: httpx.get(
            url, headers=headers, timeout=seconds, verify=verification(url), trust_env=False
        ),
    )


def document_of(response: httpx.Response) -> Any:
    """The JSON body; None when it is not JSON."""
    try:
        return response.json()
    except ValueError:
        return None
