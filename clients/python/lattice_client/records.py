"""Answers of the service, and detections as other libraries take them.

Each answer keeps its JSON in `raw`, also with fields that are newer than this client.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from .errors import PictureError, ServiceError
from .extras import missing_package
from .picture import Picture

if TYPE_CHECKING:
    import pandas
    import supervision
    from PIL import Image

Json = Mapping[str, Any]
JobState = Literal["pending", "running", "completed", "failed"]
_RAW: Any = field(repr=False, compare=False)

_COLUMNS = {
    "image_path": "str",
    "class_name": "str",
    "confidence": "float64",
    "x_min": "float64",
    "y_min": "float64",
    "x_max": "float64",
    "y_max": "float64",
    "image_width": "int64",
    "image_height": "int64",
    "model": "str",
    "worker_id": "str",
}


@dataclass(frozen=True)
class Problem:
    """Why an image or a job has no result."""

    code: str
    detail: str
    status: int
    raw: Json = _RAW

    @classmethod
    def read(cls, raw: Json | None) -> Problem | None:
        if raw is None:
            return None
        return cls(raw["code"], raw.get("detail", ""), raw.get("status", 500), raw)


@dataclass(frozen=True)
class Detection:
    #: left, top, right, bottom in pixels of the upright picture
    box: tuple[float, float, float, float]
    #: 0 to 1
    confidence: float
    class_name: str
    #: Class and confidence of what else it may be: the best of the boxes that `merge_classes` has left out.
    alternative: tuple[str, float] | None
    #: Names of the regions that it lies in; none where no regions were asked for.
    regions: tuple[str, ...]
    raw: Json = _RAW

    @classmethod
    def read(cls, raw: Json) -> Detection:
        left, top, right, bottom = raw["box"]
        other = raw.get("alternative")
        alternative = None if other is None else (other["class"], other["confidence"])
        regions = tuple(raw.get("regions", ()))
        box = (left, top, right, bottom)
        return cls(box, raw["confidence"], raw["class"], alternative, regions, raw)


@dataclass(frozen=True)
class FileFacts:
    """The file that was read, as it was then."""

    #: bytes
    size: int
    #: Unix time in seconds
    modified_at: float
    raw: Json = _RAW

    @classmethod
    def read(cls, raw: Json | None) -> FileFacts | None:
        return None if raw is None else cls(raw["size"], raw["modified_at"], raw)


@dataclass(frozen=True)
class ImageResult:
    """The boxes of one image, surest first. Where `error` is set there are none."""

    image_path: str
    detections: tuple[Detection, ...]
    car_count: int
    total_count: int
    class_counts: Mapping[str, int]
    #: Boxes by region and class; empty where no regions were asked for.
    region_counts: Mapping[str, Mapping[str, int]]
    #: Name and version of the view whose regions were used.
    view: tuple[str, int] | None
    #: Pixels of the upright picture; 0 with an error.
    width: int
    height: int
    processing_time_ms: float
    timings_ms: Mapping[str, float]
    #: More was found than `max_detections`.
    truncated: bool
    model: str
    worker_id: str
    #: First digits of the SHA-256 of the model file; empty with an error and from older releases.
    model_digest: str
    #: The file that was read; None for a picture that was sent.
    file: FileFacts | None
    #: Id of the job and index of the image whose result this is; None for an image that ran.
    reused_from: tuple[str, int] | None
    #: Path of the copy that the service drew.
    annotated_url: str | None
    error: Problem | None
    raw: Json = _RAW

    @classmethod
    def read(cls, raw: Json, job: Json | None = None) -> ImageResult:
        """`job`: the result of the whole job, for an entry of it."""
        size = raw.get("image", {})
        job = job or {}
        used = raw.get("view")
        source = raw.get("reused_from")
        return cls(
            image_path=raw["image_path"],
            detections=tuple(Detection.read(each) for each in raw.get("detections", ())),
            car_count=raw.get("car_count", 0),
            total_count=raw.get("total_count", 0),
            class_counts=raw.get("class_counts", {}),
            region_counts=raw.get("region_counts", {}),
            view=None if used is None else (used["name"], used["version"]),
            width=size.get("width", 0),
            height=size.get("height", 0),
            processing_time_ms=raw.get("processing_time_ms", 0.0),
            timings_ms=raw.get("timings_ms", {}),
            truncated=raw.get("truncated", False),
            model=raw.get("model", job.get("model", "")),
            worker_id=raw.get("worker_id", job.get("worker_id", "")),
            model_digest=raw.get("model_digest", ""),
            file=FileFacts.read(raw.get("file")),
            reused_from=None if source is None else (source["job_id"], source["index"]),
            annotated_url=raw.get("annotated_url"),
            error=Problem.read(raw.get("error")),
            raw=raw,
        )

    @property
    def ok(self) -> bool:
        return self.error is None

    def to_pandas(self) -> pandas.DataFrame:
        """As `lattice_client.to_pandas`."""
        return to_pandas([self])

    def to_supervision(self, classes: Sequence[str]) -> supervision.Detections:
        """`classes`: of the model, for the ids; `Lattice.to_supervision` asks the service for them."""
        return to_supervision(self, classes)

    def draw(self, image: Picture) -> Image.Image:
        """A copy of `image` with the boxes; `PictureError` where it has another size than the service saw.

        A `str` is a path on this machine here. Files are turned upright, as the boxes are. Needs Pillow.
        """
        from .drawing import draw_boxes, open_picture

        picture = open_picture(image)
        if picture.size != (self.width, self.height):
            raise PictureError(
                f"The picture has {picture.width} x {picture.height} pixels, but the service saw "
                f"{self.width} x {self.height} of {self.image_path}: give the same picture."
            )
        # The surest last: its label stays on top.
        found = reversed(self.detections)
        return draw_boxes(picture, ((each.class_name, each.confidence, each.box) for each in found))


def to_pandas(images: Iterable[ImageResult]) -> pandas.DataFrame:
    """One row per detection; boxes in pixels. An image without detections has no row."""
    try:
        import pandas
    except ImportError:
        raise missing_package("Tables need pandas", "pandas") from None
    rows = [
        (
            image.image_path,
            found.class_name,
            found.confidence,
            *found.box,
            image.width,
            image.height,
            image.model,
            image.worker_id,
        )
        for image in images
        for found in image.detections
    ]
    table: pandas.DataFrame = pandas.DataFrame(rows, columns=list(_COLUMNS)).astype(_COLUMNS)
    return table


def to_supervision(image: ImageResult, classes: Sequence[str]) -> supervision.Detections:
    """`class_id` is the place in `classes`, which must be those of the image's model; names in `data["class_name"]`."""
    try:
        import numpy
        import supervision
    except ImportError:
        raise missing_package("supervision is not installed", "supervision") from None
    ids = {name: number for number, name in enumerate(classes)}
    names = [found.class_name for found in image.detections]
    unknown = next((name for name in names if name not in ids), None)
    if unknown is not None:
        raise ValueError(f'"{unknown}" is not one of the {len(ids)} classes that were given.')
    return supervision.Detections(
        # The reshape keeps two dimensions where there is no box.
        xyxy=numpy.array([found.box for found in image.detections], numpy.float32).reshape(-1, 4),
        confidence=numpy.array([found.confidence for found in image.detections], numpy.float32),
        class_id=numpy.array([ids[name] for name in names], int),
        data={"class_name": numpy.array(names, str)},
    )


@dataclass(frozen=True)
class JobAccepted:
    """The job is on the service's disk."""

    job_id: str
    status: JobState
    message: str
    #: The job whose failed images this one runs again.
    retry_of: str | None
    raw: Json = _RAW

    @classmethod
    def read(cls, raw: Json) -> JobAccepted:
        return cls(raw["job_id"], raw["status"], raw.get("message", ""), raw.get("retry_of"), raw)


@dataclass(frozen=True)
class JobStatus:
    job_id: str
    status: JobState
    #: Unix time in seconds, as the other times.
    submitted_at: float
    started_at: float | None
    completed_at: float | None
    #: Finished images / all
    progress: float
    #: Empty until a worker has the job.
    worker_id: str
    job_type: str
    priority: int
    image_count: int
    finished_images: int
    #: Images that ended in an error so far.
    failed_images: int
    #: Images that had no turn before the job was cancelled.
    not_run_images: int
    #: Boxes so far
    total_count: int
    class_counts: Mapping[str, int]
    #: Images that took over a stored result so far.
    reused_images: int
    retry_of: str | None
    #: For people: the name, else the title of the metadata, else the typed paths.
    title: str
    name: str | None
    tags: tuple[str, ...]
    notes: str | None
    #: True until it is removed, or the days that were asked for.
    keep: bool | int
    #: Unix time at which the results are removed at the earliest; None while it runs, and where it is kept.
    expires_at: float | None
    #: The upload whose photos it has.
    upload: str | None
    error: Problem | None
    raw: Json = _RAW

    @classmethod
    def read(cls, raw: Json) -> JobStatus:
        return cls(
            job_id=raw["job_id"],
            status=raw["status"],
            submitted_at=raw["submitted_at"],
            started_at=raw["started_at"],
            completed_at=raw["completed_at"],
            progress=raw["progress"],
            worker_id=raw["worker_id"],
            job_type=raw["job_type"],
            priority=raw["priority"],
            image_count=raw["image_count"],
            finished_images=raw["finished_images"],
            failed_images=raw.get("failed_images", 0),
            not_run_images=raw.get("not_run_images", 0),
            total_count=raw.get("total_count", 0),
            class_counts=raw.get("class_counts", {}),
            reused_images=raw.get("reused_images", 0),
            retry_of=raw.get("retry_of"),
            title=raw.get("title", ""),
            name=raw.get("name"),
            tags=tuple(raw.get("tags", ())),
            notes=raw.get("notes"),
            keep=raw.get("keep", False),
            expires_at=raw.get("expires_at"),
            upload=raw.get("upload"),
            error=Problem.read(raw.get("error")),
            raw=raw,
        )

    @property
    def ended(self) -> bool:
        return self.status in ("completed", "failed")


@dataclass(frozen=True)
class JobResult:
    """The result of an ended job: one entry per image, in the order of submission, also where there is only one."""

    job_id: str
    status: JobState
    images: tuple[ImageResult, ...]
    car_count: int
    total_count: int
    class_counts: Mapping[str, int]
    #: Over all images; empty where no regions were asked for.
    region_counts: Mapping[str, Mapping[str, int]]
    failed_images: int
    #: Images that took over a stored result and did not run.
    reused_images: int
    error: Problem | None
    submitted_at: float
    completed_at: float
    metadata: Mapping[str, Any] | None
    raw: Json = _RAW

    @classmethod
    def read(cls, raw: Json) -> JobResult:
        totals = raw["result"] or {"images": []}
        images = tuple(ImageResult.read(each, totals) for each in totals.get("images", [totals]))
        return cls(
            job_id=raw["job_id"],
            status=raw["status"],
            images=images,
            car_count=totals.get("car_count", 0),
            total_count=totals.get("total_count", 0),
            class_counts=totals.get("class_counts", {}),
            region_counts=totals.get("region_counts", {}),
            failed_images=raw.get("failed_images", sum(not image.ok for image in images)),
            reused_images=raw.get("reused_images", 0),
            error=Problem.read(raw["error"]),
            submitted_at=raw["submitted_at"],
            completed_at=raw["completed_at"],
            metadata=raw["metadata"],
            raw=raw,
        )

    def to_pandas(self) -> pandas.DataFrame:
        """As `lattice_client.to_pandas`."""
        return to_pandas(self.images)


class JobFailedError(ServiceError):
    """The job ended as failed. `result` is its whole record, with the error of each image."""

    result: JobResult


@dataclass(frozen=True)
class View:
    """Regions that the service stores by name."""

    name: str
    #: Raised by every change.
    version: int
    #: As `Region`.
    regions: tuple[Mapping[str, Any], ...]
    #: Patterns of the paths of images that use it where they name no view.
    paths: tuple[str, ...]
    raw: Json = _RAW

    @classmethod
    def read(cls, raw: Json) -> View:
        return cls(raw["name"], raw["version"], tuple(raw["regions"]), tuple(raw["paths"]), raw)


@dataclass(frozen=True)
class Watch:
    """Folders whose new files the service submits as they come."""

    name: str
    #: active, listing, paused, scheduled or away
    state: str
    #: What could not be read, or why nothing is submitted; None where all is well.
    reason: str | None
    paths: tuple[str, ...]
    paused: bool
    #: known, waiting, pending, submitted, succeeded and failed; `skipped` by reason.
    files: Mapping[str, Any]
    #: p50 and p99 of the seconds from arrival to result; None before the first.
    lag_s: Mapping[str, float] | None
    raw: Json = _RAW

    @classmethod
    def read(cls, raw: Json) -> Watch:
        return cls(
            name=raw["name"],
            state=raw["state"],
            reason=raw["reason"],
            paths=tuple(raw["paths"]),
            paused=raw["paused"],
            files=raw["files"],
            lag_s=raw["lag_s"],
            raw=raw,
        )


@dataclass(frozen=True)
class Model:
    name: str
    state: str
    #: Why it cannot be used; None where it can.
    reason: str | None
    #: In the order of the class ids.
    classes: tuple[str, ...]
    is_default: bool
    licence: str | None
    #: Of requests that name none.
    confidence_threshold: float
    #: Share of its boxes on a GPU that are those of f32 on the CPU; None on the CPU.
    agreement: float | None
    raw: Json = _RAW

    @classmethod
    def read(cls, raw: Json) -> Model:
        return cls(
            name=raw["name"],
            state=raw["state"],
            reason=raw.get("reason"),
            classes=tuple(raw["classes"]),
            is_default=raw["is_default"],
            licence=raw.get("licence"),
            confidence_threshold=raw.get("confidence_threshold", 0.5),
            agreement=raw.get("agreement"),
            raw=raw,
        )
