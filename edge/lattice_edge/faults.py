"""What can be wrong, each as one sentence that says what to do."""

from __future__ import annotations

from typing import Any


class EdgeError(Exception):
    """Base of all errors of this module. In a notebook only its sentence is shown, without a traceback."""

    def _render_traceback_(self) -> list[str]:
        return [f"{type(self).__name__}: {self}"]


class SetupError(EdgeError):
    """Something between this notebook, the service and the cluster has to be put right first."""


class UnreachableError(EdgeError):
    """The service gave no HTTP answer."""


class JobTimeoutError(EdgeError):
    """The job had not ended when the wait was over; it goes on running."""


class ServiceError(EdgeError):
    """The service refused: its problem document (RFC 9457).

    `code` is a name such as `image_not_found`, `status` the HTTP status, `errors` the broken rules with their JSON
    Pointers, `problem` the whole document.
    """

    def __init__(self, status: int, problem: dict[str, Any]) -> None:
        self.status = status
        self.problem = problem
        self.code = str(problem.get("code", "unknown"))
        self.detail = str(
            problem.get("detail", problem.get("title", "The service gave no reason."))
        )
        self.request_id = problem.get("request_id")
        self.errors: list[dict[str, Any]] = problem.get("errors", [])
        super().__init__(f"{self.code} ({status}): {self.detail}")


class JobFailedError(ServiceError):
    """The job ended as `failed`; `record` is its whole result record, per-image errors included."""

    def __init__(self, record: dict[str, Any]) -> None:
        self.record = record
        problem = record.get("error") or {"detail": "The job failed."}
        super().__init__(int(problem.get("status", 500)), problem)
