"""The client of the detection service. Answers are the service's own JSON records, as its `/docs` describes them."""

from __future__ import annotations

import http.client
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .faults import ServiceError, SetupError, UnreachableError
from .http_call import Answer, call
from .job import Job
from .no_answer import why_no_answer
from .service_probe import authorization
from .settings import Settings, service_address

if TYPE_CHECKING:
    from PIL.Image import Image

SECONDS = 30.0


class Edge:
    """Every call raises `ServiceError` when the service refuses and `UnreachableError` when it gives no answer."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._address = service_address(settings)

    def __repr__(self) -> str:
        return f"Edge({self._address})"

    def detect(self, path: str, **options: Any) -> dict[str, Any]:
        """Boxes of one image, now. `path` is relative to the service's image folders.

        Options: `model_name`, `confidence_threshold`, `vehicle_types`, `iou_threshold`, `max_detections`, `annotate`.
        """
        return self._json("POST", "/v1/inference/detect", {"image_path": path, **options})

    def submit(
        self,
        paths: str | Sequence[str],
        *,
        job_type: str = "detect_vehicles",
        priority: int = 0,
        metadata: dict[str, Any] | None = None,
        **options: Any,
    ) -> Job:
        """Queues images, folders or globs as one job. `job_type`: detect_cars, detect_vehicles or batch_detect."""
        body = {
            "job_type": job_type,
            "image_paths": [paths] if isinstance(paths, str) else list(paths),
            "priority": priority,
            "metadata": metadata,
            **options,
        }
        return self.job(self._json("POST", "/v1/jobs/submit", body)["job_id"])

    def job(self, job_id: str) -> Job:
        """A job that was submitted before, perhaps from another notebook."""
        return Job(job_id, self._json)

    def models(self) -> list[dict[str, Any]]:
        return self._json("GET", "/v1/models")["models"]

    def cluster_status(self) -> dict[str, Any]:
        """Nodes, CPUs and GPUs, and the jobs that wait and run."""
        return self._json("GET", "/v1/cluster/status")

    def drawn(self, found: dict[str, Any]) -> Image:
        """The picture of an answer of `detect` or of an entry of `Job.images`, with its boxes.

        The pixels come from the folder LATTICE_EDGE_IMAGES when it has the picture, else from the copy that the
        service drew because it was asked with `annotate=True`. `SetupError` when there is neither.
        """
        from .drawing import draw, local_picture  # Pillow is needed for pictures only

        picture = local_picture(self.settings.images, found)
        if picture is not None:
            return draw(picture, found["detections"])
        url = found.get("annotated_url")
        if url is None:
            raise SetupError(
                f"There are no pixels of {found['image_path']} here: ask for it with annotate=True, or set "
                "LATTICE_EDGE_IMAGES to a folder that holds it."
            )
        return _decode(self._call("GET", url).body)

    def _json(self, method: str, path: str, body: Any = None) -> Any:
        answer = self._call(method, path, body)
        document = answer.document()
        if document is None:
            raise UnreachableError(
                f"{self._address}{path} answered no JSON (HTTP {answer.status}): run `python -m lattice_edge`."
            )
        return document

    def _call(self, method: str, path: str, body: Any = None) -> Answer:
        try:
            headers = authorization(self.settings)
            answer = call(self._address, method, path, body=body, headers=headers, seconds=SECONDS)
        except (OSError, http.client.HTTPException) as error:
            reason = why_no_answer(error, self._address, SECONDS)
            raise UnreachableError(
                f"{self._address} cannot be reached, because {reason}: run `python -m lattice_edge`."
            ) from error
        if answer.status >= 400:
            problem = answer.document()
            raise ServiceError(answer.status, problem if isinstance(problem, dict) else {})
        return answer


def _decode(data: bytes) -> Image:
    from PIL import Image

    picture = Image.open(io.BytesIO(data))
    picture.load()
    return picture
