"""Answers of the service that are given as they come.

Generated from the OpenAPI document by scripts/python-client.mjs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from .record import Record, read_as


@dataclass(frozen=True, kw_only=True)
class Problem(Record):
    """Why an image or a job has no result."""

    type: str = ""
    title: str = ""
    status: int = 0
    code: str
    detail: str = ""
    request_id: str | None = None
    errors: tuple[Mapping[str, Any], ...] | None = None


@dataclass(frozen=True, kw_only=True)
class FileFacts(Record):
    """The file that was read, as it was then."""

    #: Bytes
    size: int
    #: Unix time in seconds
    modified_at: float = 0.0


@dataclass(frozen=True, kw_only=True)
class JobAccepted(Record):
    """The job is on the service's disk."""

    job_id: str
    status: Literal["pending", "running", "completed", "failed"]
    #: For people: how many images the job has, and which pictures its folders and globs left out
    #: because their formats are not read
    message: str = ""
    #: The job whose images are run again
    retry_of: str | None = None


@dataclass(frozen=True, kw_only=True)
class JobFields(Record):
    """A job, and how far it is."""

    job_id: str
    status: Literal["pending", "running", "completed", "failed"]
    #: Unix time in seconds, fractional
    submitted_at: float = 0.0
    #: Unix time in seconds, fractional
    started_at: float | None = None
    #: Unix time in seconds, fractional
    completed_at: float | None = None
    #: Finished images / all
    progress: float = 0.0
    #: Empty until a worker has the job
    worker_id: str = ""
    job_type: Literal["detect_cars", "detect_vehicles", "batch_detect"]
    #: For people: the name, else `title` or `name` of the metadata, else the first path as it was
    #: typed and how many more
    title: str = ""
    model_name: str = ""
    confidence_threshold: float = 0.0
    priority: int = 0
    image_count: int = 0
    finished_images: int = 0
    #: Images that ended in an error so far
    failed_images: int = 0
    #: Images that took over a stored result so far, see `reuse`
    reused_images: int = 0
    #: Images that had no turn before the job was ended; they are not among the failed ones
    not_run_images: int = 0
    #: Boxes so far
    total_count: int = 0
    #: Boxes so far by class, most first
    class_counts: Mapping[str, int] = field(default_factory=dict)
    #: What the images ran on so far. A job stays on the model file that it began with: there are
    #: several entries only where workers compute in different precisions, or where that file was
    #: gone after a restart
    models: tuple[Mapping[str, Any], ...] = ()
    #: The job whose images this one runs again
    retry_of: str | None = None
    #: X-Request-Id of the request that submitted it, in the log and in its webhook too. Null for
    #: jobs of watches and of the socket
    request_id: str | None = None
    #: Name of the job, its title in lists
    name: str | None = None
    #: Tags, by which jobs are found again
    tags: tuple[str, ...] = ()
    #: Notes on the job
    notes: str | None = None
    #: As it was asked for; false once the days have passed
    keep: bool | int = False
    #: It is not removed with the retention time
    kept: bool = False
    #: The earliest time at which the job and its results are removed, but for LATTICE_STORE_MAX_MB:
    #: time in which the service is stopped does not count. Null while the job has not ended, and
    #: where it is kept until it is deleted
    expires_at: float | None = None
    #: The upload whose photos it has
    upload: str | None = None
    #: The name of the watch that made the job
    watch: str | None = None
    #: RFC 9457 problem details
    error: Problem | None = field(default=None, metadata=read_as(Problem))
    #: Present where a callback_url was given; empty until the job ends
    webhooks: tuple[Mapping[str, Any], ...] | None = None


@dataclass(frozen=True, kw_only=True)
class Dismissal(Record):
    """A place whose boxes are not counted."""

    id: int
    #: The folder of the images that it holds for; with `camera_pattern` also the part of their
    #: names that says the camera
    camera: str = ""
    camera_pattern: str | None = None
    #: Classes that are taken for one another: `vehicle` is car, truck, bus and van, `cycle`
    #: motorcycle and bicycle; another class is by itself
    class_group: str = ""
    #: x1, y1, x2, y2: pixels of the source image after EXIF orientation, origin top left
    box: tuple[float, float, float, float] = ()
    #: Size after EXIF orientation
    image: Mapping[str, Any] = field(default_factory=dict)
    #: Unix time in seconds, fractional
    dismissed_at: float = 0.0


@dataclass(frozen=True, kw_only=True)
class View(Record):
    """Regions that the service stores by name."""

    name: str
    #: From 1; each PUT that changes the view raises it. Results name it
    version: int = 0
    #: Unix time in seconds, fractional
    stored_at: float = 0.0
    regions: tuple[Mapping[str, Any], ...] = ()
    #: Images whose paths match use this view where a request names neither regions nor a view.
    #: Relative to the image folder; `*` and `?` stand for characters of a name, `**` for any
    #: folders. The longest of several patterns counts
    paths: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Watch(Record):
    """Folders whose new files the service submits as they come."""

    name: str
    #: Unix time in seconds, fractional
    created_at: float = 0.0
    job_type: Literal["detect_cars", "detect_vehicles", "batch_detect"]
    #: Model variant, with or without .pt; the export of the same stem (NAME.onnx) runs
    model_name: str | None = None
    #: Keep boxes with a score above this. Default: that of the model, else 0.5
    confidence_threshold: float | None = None
    #: Boxes of one class that overlap more than this are merged
    iou_threshold: float | None = None
    #: Most boxes of one image
    max_detections: int | None = None
    #: Keep the best of boxes of different classes that overlap more than iou_threshold, with the
    #: other as its alternative. Default: true without classes and for car, motorcycle, bus and
    #: truck; false for batch_detect without classes, which takes all
    merge_classes: bool | None = None
    #: Score by class in place of the confidence threshold
    class_thresholds: Mapping[str, float] | None = None
    #: Leave out boxes whose longer side is below this: pixels, or up to 1 a share of the longer
    #: side of the image; 0: none
    min_size: float | None = None
    #: Leave out boxes whose longer side is above this: pixels, or up to 1 a share of the longer
    #: side of the image; 0: none
    max_size: float | None = None
    #: Look at overlapping tiles of the image too, which finds smaller things and takes as long as
    #: so many images: "auto" by the size of the image, {"columns": 3, "rows": 2}, or {"size": 640}
    #: in pixels, each with an "overlap" of 0 to 0.5 (0.2)
    tiles: Literal["off", "auto"] | Mapping[str, Any] | None = None
    #: Polygons of the picture that are counted by themselves, and masks: what lies in a mask is
    #: left out. Excludes view
    regions: tuple[Mapping[str, Any], ...] | None = None
    #: Name of a stored view, whose regions are used. Default where regions are not given either:
    #: the view whose paths match the path of the image
    view: str | None = None
    #: Classes of a detect_vehicles job, as in classes; other types ignore it. Default: those of
    #: car, motorcycle, bus and truck that the model has; if it has none of them, all its classes
    vehicle_types: tuple[str, ...] | None = None
    #: Classes of a detect_vehicles or batch_detect job: names of the classes of the model (see GET
    #: /v1/models), in any letter case; `*` for all. Not together with vehicle_types. batch_detect
    #: takes all without it
    classes: tuple[str, ...] | None = None
    #: 10 is the most urgent
    priority: int | None = None
    #: The result is POSTed here when the job ends
    callback_url: str | None = None
    #: Also draw the boxes into a copy; see annotated_url
    annotate: bool | None = None
    #: Which images take over a stored result of an earlier job and do not run. unchanged: images
    #: whose file, model, options and release are the same as for that result. content: the same,
    #: but a file is compared by its bytes and may lie in another place. Images of jobs with
    #: `annotate` or `places` always run
    reuse: Literal["off", "unchanged", "content"] | None = None
    #: Tells vehicles apart that stand one after another in one place, for `static` and places; each
    #: folder of pictures is a camera. In a watch also the events place_occupied and place_left, of
    #: the regions of a picture or, where it has none, of the whole picture
    places: bool | None = None
    #: Tags, by which jobs are found again. Each counts once
    tags: tuple[str, ...] | None = None
    #: Notes on the job
    notes: str | None = None
    #: Keep the results beyond the retention time: true until the job is deleted, a number for so
    #: many days from the request on. Nothing is removed earlier than without it
    keep: bool | int | None = None
    #: Folders, globs or names of files, as image_paths of a submission. They need not be there yet
    paths: tuple[str, ...] = ()
    #: How long size and time of a file rest before it counts
    settle_ms: int | None = None
    #: Between two scans of the folders. Changes that the system tells of (inotify) are found at
    #: once
    interval_ms: int | None = None
    #: When the watch works, in the local time of the service. Files that come at other times wait
    #: in the folder. Default: always
    schedule: tuple[Mapping[str, Any], ...] | None = None
    #: At most so many images per job. A watch has at most 4 jobs that have not ended
    batch: Mapping[str, Any] | None = None
    #: Files that lie in the folders when the watch begins: submit them or leave them
    existing: Literal["take", "leave"] | None = None
    paused: bool | None = None
    #: Tell when a camera is covered, turned away, out of focus, frozen or late; each folder of
    #: pictures is a camera
    camera_health: bool | None = None
    #: Tell once of pictures of a camera with at most so many seconds between them that show a
    #: vehicle; each folder of pictures is a camera. Default: events are not told
    event_gap_s: float | None = None
    #: listing: files that lay there at the beginning are being told from new ones; paused;
    #: scheduled: it waits for its times; away: none of its paths is there
    state: Literal["active", "listing", "paused", "scheduled", "away"]
    #: What could not be read, why nothing is submitted now, or which files never rest and are taken
    #: as they are
    reason: str | None = None
    files: Mapping[str, Any] = field(default_factory=dict)
    last_scan: Mapping[str, Any] | None = None
    #: Seconds from arrival to result, of the newest 1000 files since the service was started
    lag_s: Mapping[str, Any] | None = None
    #: Any JSON object up to 64 KiB without the white space between its parts, passed through to the
    #: result as it was sent: numbers keep their digits. At most 1000 keys an object and 15 levels
    metadata: Mapping[str, Any] | None = None


@dataclass(frozen=True, kw_only=True)
class Camera(Record):
    """A camera of a watch, and what is wrong with it."""

    #: The folder of its pictures, as their paths have it
    camera: str
    #: When a picture was taken, as the clock on the wall showed it, without a zone
    last_taken: str = ""
    #: Null once its job is removed
    last_image: Mapping[str, Any] | None = None
    #: Open ones
    findings: tuple[Mapping[str, Any], ...] = ()
    #: The last 20 that are over, newest first
    closed: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True, kw_only=True)
class AgreementCounts(Record):
    """Boxes by what became of them from the first model to the second."""

    #: Boxes of the first model
    first: int
    #: Boxes of the second model, by its own classes and sizes
    second: int = 0
    #: Boxes that both have in one place, whatever their class; they and what follows are counted by
    #: the class and the size of the first model
    matched: int = 0
    #: Of the matched boxes, those of another class
    flipped: int = 0
    #: Boxes that only the second model has
    gained: int = 0
    #: Boxes that only the first model has
    lost: int = 0
    #: Mean confidence of the second model less that of the first, of the matched boxes
    score_shift: float | None = None


@dataclass(frozen=True, kw_only=True)
class Model(Record):
    """A model of the models folder."""

    #: Use it as model_name
    name: str
    #: ready: loaded. available: loaded on first use. refused: see reason
    state: Literal["ready", "available", "refused"]
    #: Why it is refused; of a ready model, why the file that has replaced its own cannot be used:
    #: the loaded one goes on answering; or why it runs small batches only on a GPU
    reason: str | None = None
    classes: tuple[str, ...] = ()
    device: str | None = None
    precision: str | None = None
    #: The first 16 hex digits of the SHA-256 of the file that is loaded, as `model_digest` of
    #: results; null while it is not loaded
    digest: str | None = None
    #: Where the copy in 8 bits is loaded: the digest of the model file that it was made from
    quantized_from: str | None = None
    #: Share of its boxes on the demo pictures, 0 to 1, that are those of f32 on the CPU; null for a
    #: bundled model on the CPU, for one that is not loaded or was compiled in f32 at this load, and
    #: where there were none
    agreement: float | None = None
    input: Mapping[str, Any] | None = None
    #: About; null while it is not loaded
    memory_bytes: int | None = None
    licence: str | None = None
    #: Of requests that name none: the model's own, else 0.5
    confidence_threshold: float = 0.0
    #: The model that the name stands for: of an alias its own, of a bundled model until a file of
    #: that name is there
    alias_of: str | None = None
    #: Of a bundled model; null for a file of the models folder, whose version is that of the
    #: program that exported it
    release: str | None = None
    #: True where a bundled model stands in for a file that is absent
    bundled: bool = False
    is_default: bool = False
