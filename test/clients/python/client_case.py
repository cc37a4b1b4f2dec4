"""What the tests of the client share: both clients in front of a service that a function plays."""

from __future__ import annotations

import asyncio
import inspect
import json
import unittest
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack
from typing import Any
from unittest.mock import patch

import httpx

from lattice_client import AsyncLattice, Lattice

URL = "http://service.test:8000"
KEY = "north-gate-0123456789"
Handler = Callable[[httpx.Request], httpx.Response]


class Blocking:
    """An `AsyncLattice` whose methods are called as those of `Lattice`."""

    def __init__(self, client: AsyncLattice, loop: asyncio.AbstractEventLoop) -> None:
        self._client = client
        self._loop = loop

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._client, name)

        def call(*args: Any, **options: Any) -> Any:
            outcome = method(*args, **options)
            if inspect.isawaitable(outcome):
                return self._loop.run_until_complete(outcome)
            return self._loop.run_until_complete(_listed(outcome))

        return call


async def _listed(items: Any) -> list[Any]:
    return [item async for item in items]


class ClientCase(unittest.TestCase):
    def clients(self, make_handler: Callable[[], Handler], **options: Any) -> Iterator[Any]:
        """The blocking and the asyncio client, each as a sub-test with a service of its own."""
        options = {"base_url": URL, "api_key": KEY, **options}
        with self.subTest("Lattice"):
            transport = httpx.MockTransport(make_handler())
            yield Lattice(http_client=httpx.Client(transport=transport), **options)
        with self.subTest("AsyncLattice"):
            loop = asyncio.new_event_loop()
            self.addCleanup(loop.close)
            transport = httpx.MockTransport(make_handler())
            http = httpx.AsyncClient(transport=transport)
            yield Blocking(AsyncLattice(http_client=http, **options), loop)

    def pauses(self) -> list[float]:
        """Pauses take no time from here on; the list receives their lengths."""
        lengths: list[float] = []

        async def no_sleep(seconds: float) -> None:
            lengths.append(seconds)

        stack = ExitStack()
        stack.enter_context(patch("lattice_client.client.time.sleep", lengths.append))
        stack.enter_context(patch("lattice_client.async_client.asyncio.sleep", no_sleep))
        self.addCleanup(stack.close)
        return lengths


def answers(*all_of_them: httpx.Response | Exception) -> Callable[[], Handler]:
    """A service that gives these one after the other and then the last one for ever."""

    def make() -> Handler:
        left = list(all_of_them)

        def answer(_: httpx.Request) -> httpx.Response:
            each = left.pop(0) if len(left) > 1 else left[0]
            if isinstance(each, Exception):
                raise each
            return httpx.Response(each.status_code, headers=each.headers, content=each.content)

        return answer

    return make


class Cut(httpx.SyncByteStream, httpx.AsyncByteStream):
    """A body that breaks off at its end."""

    def __init__(self, body: bytes, *, breaks: bool) -> None:
        self._body = body
        self._breaks = breaks

    def __iter__(self) -> Iterator[bytes]:
        yield self._body
        if self._breaks:
            raise httpx.ReadError("broken off")

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for chunk in iter(self):
            yield chunk


def ok(document: Any) -> httpx.Response:
    return httpx.Response(200, json=document)


def problem(code: str, status: int, retry_after: str | None = None, **more: Any) -> httpx.Response:
    headers = {} if retry_after is None else {"retry-after": retry_after}
    body = {"code": code, "status": status, "detail": f"It is {code}.", **more}
    return httpx.Response(status, headers=headers, json=body)


def body_of(request: httpx.Request) -> Any:
    return json.loads(request.content) if request.content else None


def found(path: str = "a.jpg", *detections: dict[str, Any]) -> dict[str, Any]:
    return {
        "status": "success",
        "image_path": path,
        "detections": list(detections),
        "car_count": sum(each["class"] == "car" for each in detections),
        "total_count": len(detections),
        "class_counts": {each["class"]: 1 for each in detections},
        "processing_time_ms": 12.5,
        "image": {"width": 320, "height": 240},
        "timings_ms": {"queue": 0.1},
        "truncated": False,
        "model": "own.pt",
        "worker_id": "local-0",
    }


def status(state: str, finished: int, job_id: str = "job_1") -> dict[str, Any]:
    return {
        "job_id": job_id,
        "status": state,
        "submitted_at": 1.5,
        "started_at": None,
        "completed_at": None,
        "progress": finished / 4,
        "worker_id": "",
        "job_type": "batch_detect",
        "priority": 0,
        "finished_images": finished,
        "image_count": 4,
        "error": None,
    }
