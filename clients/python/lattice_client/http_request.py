"""Between the core's calls and httpx."""

from __future__ import annotations

import time
from typing import Any

import httpx

from .core import Core
from .effects import Answer, Send

_CONNECT_SECONDS = 5.0
_SHORTEST = 0.05

#: Without a limit on connections: a pool that threads share would make some of them wait and fail.
LIMITS = httpx.Limits(max_connections=None, max_keepalive_connections=20)


def request_of(core: Core, http: httpx.Client | httpx.AsyncClient, send: Send) -> httpx.Request:
    call = send.call
    left = max(send.end - time.monotonic(), _SHORTEST)
    return http.build_request(
        call.method,
        core.base_url + call.path,
        params=dict(call.query) or None,
        headers={**core.headers, **call.headers},
        json=call.json,
        data=call.form,
        content=call.content,
        files=None if call.file is None else {"image": call.file},
        timeout=httpx.Timeout(left, connect=min(left, _CONNECT_SECONDS)),
    )


def answer_of(response: httpx.Response, body: bytes, lines: Any = None) -> Answer:
    headers = {name.lower(): value for name, value in response.headers.items()}
    return Answer(response.status_code, headers, body, lines)
