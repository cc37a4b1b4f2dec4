"""The address and the key of a service, as a user gives them."""

from __future__ import annotations

import os
import re
from urllib.parse import urlsplit

DEFAULT_URL = "http://127.0.0.1:8000"


def service_url(given: str | None) -> str:
    """Without a slash at the end. From LATTICE_CORE_API_URL, else the default, where none is given; `ValueError`."""
    text = (given or os.environ.get("LATTICE_CORE_API_URL", "").strip() or DEFAULT_URL).rstrip("/")
    wrong = f'The address of the service is "{re.sub(r"//[^/]*@", "//...@", text)}", but it must'
    try:
        parts = urlsplit(text)
        complete = bool(parts.hostname) and (parts.port is None or parts.port > 0)
    except ValueError:
        complete = False
    if not complete:
        raise ValueError(f"{wrong} have the shape http://HOST:8000.")
    if parts.scheme not in ("http", "https"):
        raise ValueError(f"{wrong} start with http:// or https://.")
    if parts.username is not None:
        raise ValueError(f"{wrong} name no user: access is by API key.")
    if parts.query or parts.fragment:
        raise ValueError(f"{wrong} be a plain address, http://HOST:8000.")
    if parts.path.endswith("/v1"):
        raise ValueError(f"{wrong} end before /v1.")
    return text


def authorization(given: str | None) -> dict[str, str]:
    """The header of the key, from LATTICE_API_KEY where none is given; `ValueError` for a key that cannot be one."""
    key = given or os.environ.get("LATTICE_API_KEY", "").strip()
    if not key:
        return {}
    if not re.fullmatch(r"[!-~]+", key):
        raise ValueError("The API key must be printable ASCII without spaces.")
    return {"authorization": f"Bearer {key}"}
