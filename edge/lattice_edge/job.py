"""A job of the service: wait for it, watch it, read its result."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Protocol
from urllib.parse import quote

from .faults import JobFailedError, JobTimeoutError, ServiceError, UnreachableError
from .progress import ProgressLine

_SHORTEST_PAUSE = 0.05
_LONGEST_PAUSE = 2.0
_ENDED = ("completed", "failed")


class Ask(Protocol):
    def __call__(self, method: str, path: str, body: Any = None) -> Any: ...


class Job:
    def __init__(self, job_id: str, ask: Ask) -> None:
        self.job_id = job_id
        self._path = f"/v1/jobs/{quote(job_id, safe='')}"
        self._ask = ask

    def __repr__(self) -> str:
        return f"Job({self.job_id})"

    def status(self) -> dict[str, Any]:
        return self._ask("GET", f"{self._path}/status")

    def wait(
        self,
        timeout: float = 600.0,
        on_progress: Callable[[dict[str, Any]], None] | None = None,
    ) -> dict[str, Any]:
        """The status record once the job has ended, well or not; `JobTimeoutError` after `timeout` seconds.

        Shows the progress, or gives each status record to `on_progress`. A service that restarts keeps its jobs, so a
        lost connection is tried again until the time-out.
        """
        show = on_progress or ProgressLine().show
        deadline = time.monotonic() + timeout
        pause = _SHORTEST_PAUSE
        seen = "It was never reached"
        while True:
            try:
                status = self.status()
            except (UnreachableError, ServiceError) as error:
                if isinstance(error, ServiceError) and error.status < 500 and error.status != 429:
                    raise
                seen = f"The last call failed ({error})"
            else:
                show(status)
                if status["status"] in _ENDED:
                    return status
                seen = f"It is {status['status']} with {status['finished_images']} of {status['image_count']} images"
            left = deadline - time.monotonic()
            if left <= 0:
                raise JobTimeoutError(
                    f"{self.job_id} had not ended after {timeout:g} s. {seen}; wait again, or cancel it."
                )
            time.sleep(min(pause, left))
            pause = min(pause * 1.5, _LONGEST_PAUSE)

    def result(self) -> dict[str, Any]:
        """The result record. `JobFailedError` when the job failed, `ServiceError` (409) while it runs."""
        record = self._ask("GET", f"{self._path}/result")
        if record["status"] == "failed":
            raise JobFailedError(record)
        return record

    def images(self) -> list[dict[str, Any]]:
        """One entry an image in the order submitted, also where there is only one.

        `status` is ok or error; an entry that is ok has `detections`, `timings_ms` and the other fields of `detect`.
        `worker_id` is the image's own where the service tells it, else that of the job.
        """
        result = self.result()["result"]
        entries = result.get("images", [{"status": "ok", **result}])
        common = {"worker_id": result["worker_id"], "model": result["model"]}
        return [{**common, **entry} for entry in entries]

    def cancel(self) -> None:
        """Ends the job as `failed` with code `cancelled`; `ServiceError` (409) when it has ended already."""
        self._ask("DELETE", self._path)
