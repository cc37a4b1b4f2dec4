"""The errors of the client, each with a stable `code` and one message that says what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import Self


class LatticeError(Exception):
    """Base of all errors of this package.

    `code` is stable, `detail` is for people. `status` is the HTTP status, None where there was no answer. `request_id`
    finds the call in the service's log. `errors` are the broken rules, each with a JSON Pointer into the request.
    `retry_after` is in seconds, None where the service named no time.
    """

    def __init__(
        self,
        detail: str,
        *,
        code: str,
        status: int | None = None,
        request_id: str | None = None,
        errors: Sequence[Mapping[str, Any]] = (),
        retry_after: float | None = None,
    ) -> None:
        super().__init__(detail if status is None else f"{code} ({status}): {detail}")
        self.detail = detail
        self.code = code
        self.status = status
        self.request_id = request_id
        self.errors = tuple(errors)
        self.retry_after = retry_after

    @property
    def is_passing(self) -> bool:
        """True where the same call may succeed later: the service is away, restarts or has too much work."""
        return self.status is not None and (self.status >= 500 or self.status == 429)

    def __reduce__(self) -> tuple[Any, ...]:
        # The default calls __init__ with the message alone, which breaks process pools.
        return (_restored, (type(self), self.args, self.__dict__))

    def _render_traceback_(self) -> list[str]:
        """Called by IPython: a notebook shows the message without a traceback."""
        return [f"{type(self).__name__}: {self}"]


class ServiceError(LatticeError):
    """The service refused. `problem` is its whole problem document (RFC 9457)."""

    problem: Mapping[str, Any]

    @classmethod
    def of(cls, problem: Mapping[str, Any], status: int, retry_after: float | None = None) -> Self:
        error = cls(
            str(problem.get("detail") or problem.get("title") or "The service gave no reason."),
            code=str(problem.get("code", "unknown")),
            status=status,
            request_id=problem.get("request_id"),
            errors=problem.get("errors") or (),
            retry_after=retry_after,
        )
        error.problem = problem
        return error


class UnreachableError(LatticeError):
    """The service gave no answer: code `unreachable`."""

    is_passing = True


class CallTimeoutError(LatticeError):
    """The call took longer than its `timeout`: code `timeout`."""

    is_passing = True


class JobTimeoutError(LatticeError):
    """The job had not ended when the wait was over; the job continues. Code `timeout`."""


class UnexpectedAnswerError(LatticeError):
    """The answer is none of this service (a proxy, another program): code `unexpected_answer`."""


class PictureError(LatticeError):
    """The picture cannot be read or sent: code `picture_unreadable`."""

    def __init__(self, detail: str) -> None:
        super().__init__(detail, code="picture_unreadable")


def _restored(kind: type[LatticeError], args: tuple[Any, ...], fields: dict[str, Any]) -> Any:
    error = kind.__new__(kind, *args)
    error.__dict__.update(fields)
    return error
