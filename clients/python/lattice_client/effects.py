"""What the shared core asks of a transport.

Each operation is a generator (`Flow`): it yields effects, receives what they gave or raised, and returns its result. It
never waits or connects itself, so that the blocking and the asyncio client share it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, TypeVar

T = TypeVar("T")


@dataclass(frozen=True)
class Call:
    """One HTTP request. `repeatable`: sending it twice does no harm."""

    method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"]
    path: str
    query: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    json: Any = None
    #: Text fields of a form, with `file`.
    form: Mapping[str, str] | None = None
    #: Name, bytes and media type.
    file: tuple[str, bytes, str] | None = None
    #: The whole body.
    content: bytes | None = None
    repeatable: bool = True


@dataclass(frozen=True)
class Answer:
    status: int
    #: Names in lower case.
    headers: Mapping[str, str]
    #: Empty where `lines` is there.
    body: bytes
    #: An iterator of the transport's own kind, for `NextLine`.
    lines: Any = None

    def document(self) -> Any:
        """The JSON body; None where it is none."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None


@dataclass(frozen=True)
class Send:
    """Gives an `Answer`; raises `httpx.TransportError` or `TimeoutError`, the latter at `end` (`time.monotonic`)."""

    call: Call
    end: float
    #: The body of a 2xx answer is read line by line.
    in_lines: bool = False


@dataclass(frozen=True)
class NextLine:
    """Gives a `str`, None at the end; raises as `Send`."""

    lines: Any


@dataclass(frozen=True)
class Pause:
    seconds: float


@dataclass(frozen=True)
class Work:
    """Blocking work beside the network: reading a file, encoding a picture. Gives what `work` returns."""

    work: Callable[[], Any]


@dataclass(frozen=True)
class Emit:
    """The next item of an iterator."""

    item: Any


@dataclass(frozen=True)
class Done:
    """The result of a flow, from the transport that ran it."""

    value: Any


Effect: TypeAlias = Send | NextLine | Pause | Work | Emit
Flow: TypeAlias = Generator[Effect, Any, T]
