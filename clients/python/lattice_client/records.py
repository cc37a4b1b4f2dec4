"""Answers of the service, and detections as other libraries take them.

Each answer keeps its JSON in `raw`, also with fields that are newer than this client.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from .answers import FileFacts, JobFields, Problem
from .errors import PictureError, ServiceError
from .extras import missing_package
from .picture import Picture
from .record import Json

if TYPE_CHECKING:
    import pandas
    import supervision
    from PIL import Image

JobState = Literal["pending", "running", "completed", "failed"]

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
    #: Whether it is of a vehicle that stands: "yes", "no" or "unknown"; None where `static` was not asked for.
    static: str | None
    raw: Json = field(repr=False, compare=False)

    @classmethod
    def read(cls, raw: Json) -> Detection:
        left, top, right, bottom = raw["box"]
        other = raw.get("alternative")
        alternative = None if other is None else (other["class"], other["confidence"])
        regions = tuple(raw.get("regions", ()))
        box = (left, top, right, bottom)
        static = raw.get("static")
        return cls(box, raw["confidence"], raw["class"], alternative, regions, static, raw)


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
    #: Where the picture was taken, by its EXIF, in degrees; None where it does not say so.
    latitude: float | None
    longitude: float | None
    #: The file that was read; None for a picture that was sent.
    file: FileFacts | None
    #: Id of the job and index of the image whose result this is; None for an image that ran.
    reused_from: tuple[str, int] | None
    #: Path of the copy that the service drew.
    annotated_url: str | None
    error: Problem | None
    raw: Json = field(repr=False, compare=False)

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
            latitude=raw.get("latitude"),
            longitude=raw.get("longitude"),
            file=FileFacts.read_or_none(raw.get("file")),
            reused_from=None if source is None else (source["job_id"], source["index"]),
            annotated_url=raw.get("annotated_url"),
            error=Problem.read_or_none(raw.get("error")),
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


class JobStatus(JobFields):
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
    raw: Json = field(repr=False, compare=False)

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
            error=Problem.read_or_none(raw["error"]),
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
