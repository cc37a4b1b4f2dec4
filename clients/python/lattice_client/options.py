"""Options of a detection and of a job, named as in the HTTP API. An option that is absent has the service's default."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict


class Grid(TypedDict, total=False):
    """`columns` and `rows`, or `size`: both sides of a tile in pixels of the picture."""

    columns: int
    rows: int
    size: int
    #: 0 to 0.5; 0.2 when left out
    overlap: float


class _RegionOptions(TypedDict, total=False):
    #: Classes that it counts, or a mask leaves out; absent: all.
    classes: Sequence[str]
    #: What of a box must lie in the polygon: a place of it, or at least this share of its area.
    anchor: Literal["bottom", "centre"] | float
    #: A mask: boxes that lie in it are left out.
    ignore: bool


class Region(_RegionOptions):
    name: str
    #: 3 to 100 corners in shares of the picture's width and height, from the top left.
    polygon: Sequence[tuple[float, float]]


class ImageOptions(TypedDict, total=False):
    model_name: str
    #: 0 to 1
    confidence_threshold: float
    #: 0 to 1
    iou_threshold: float
    max_detections: int
    #: Of overlapping boxes of different classes the best one stays. Default: where no classes are named.
    merge_classes: bool
    #: Score by class, in place of `confidence_threshold`: `{"truck": 0.6}`
    class_thresholds: Mapping[str, float]
    #: Longer side of a box: pixels, or up to 1 a share of the longer side of the picture.
    min_size: float
    max_size: float
    #: Overlapping tiles are looked at too: finds smaller things, and takes as long as so many pictures.
    tiles: Literal["off", "auto"] | Grid
    #: Parts of the picture that are counted by themselves, and masks. Excludes `view`.
    regions: Sequence[Region]
    #: The regions that the service stores under this name.
    view: str
    #: Classes of the model, any letter case; `["*"]` for all. Excludes `vehicle_types`.
    classes: Sequence[str]
    vehicle_types: Sequence[str]
    #: The service draws a copy: `annotated_url`.
    annotate: bool


class DetectOptions(ImageOptions, total=False):
    #: Refused at once where the service cannot answer within this time.
    deadline_ms: int


class JobOptions(ImageOptions, total=False):
    job_type: Literal["detect_cars", "detect_vehicles", "batch_detect"]
    #: 0 to 10; higher runs first
    priority: int
    callback_url: str
    #: Which images take over a stored result and do not run: of unchanged files, or of the same bytes.
    reuse: Literal["off", "unchanged", "content"]
    #: Comes back with the result.
    metadata: Mapping[str, Any]


class JobFilter(TypedDict, total=False):
    #: One or more of pending, running, completed and failed.
    status: str | Sequence[str]
    job_type: Literal["detect_cars", "detect_vehicles", "batch_detect"]
    #: Unix time in seconds
    submitted_after: float
    #: Unix time in seconds
    submitted_before: float
    #: Jobs per request; the listing goes over all pages.
    limit: int


class ChangesQuery(TypedDict, total=False):
    #: A box has changed where its confidence differs by more than this; 0.05 by default.
    confidence_change: float
    #: `next_offset` of the page before
    offset: int
    limit: int
