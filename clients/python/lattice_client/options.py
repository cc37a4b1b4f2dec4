"""Options of calls, named as in the HTTP API. What is left out has the service's default.

Generated from the OpenAPI document by scripts/python-client.mjs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypedDict


class _TileGridFields(TypedDict, total=False):
    """What may be left out of `TileGrid`."""

    overlap: float


class TileGrid(_TileGridFields):
    """Tiles by their number."""

    columns: int
    rows: int


class _TileSizeFields(TypedDict, total=False):
    """What may be left out of `TileSize`."""

    overlap: float


class TileSize(_TileSizeFields):
    """Tiles by their size in pixels."""

    size: int


class _RegionFields(TypedDict, total=False):
    """What may be left out of `Region`."""

    #: Classes that it counts, or a mask leaves out. Default: all
    classes: Sequence[str] | None
    #: What of a box must lie in the polygon: this place of it, or at least this share of its area
    anchor: Literal["bottom", "centre"] | float | None
    #: A mask: boxes that lie in it are left out
    ignore: bool | None


class Region(_RegionFields):
    """A part of the picture that is counted by itself, or a mask."""

    name: str
    #: Corners as shares of the width and height of the upright picture, from the top left. Its
    #: sides do not cross
    polygon: Sequence[tuple[float, float]]


class DetectOptions(TypedDict, total=False):
    """Options of a detection."""

    #: Model variant, with or without .pt; the export of the same stem (NAME.onnx) runs
    model_name: str | None
    #: Keep boxes with a score above this. Default: that of the model, else 0.5
    confidence_threshold: float | None
    #: Boxes of one class that overlap more than this are merged
    iou_threshold: float | None
    #: Most boxes of one image
    max_detections: int | None
    #: Keep the best of boxes of different classes that overlap more than iou_threshold, with the
    #: other as its alternative. Default: true without classes and for car, motorcycle, bus and
    #: truck; false for batch_detect without classes, which takes all
    merge_classes: bool | None
    #: Score by class in place of the confidence threshold
    class_thresholds: Mapping[str, float] | None
    #: Leave out boxes whose longer side is below this: pixels, or up to 1 a share of the longer
    #: side of the image; 0: none
    min_size: float | None
    #: Leave out boxes whose longer side is above this: pixels, or up to 1 a share of the longer
    #: side of the image; 0: none
    max_size: float | None
    #: Look at overlapping tiles of the image too, which finds smaller things and takes as long as
    #: so many images: "auto" by the size of the image, {"columns": 3, "rows": 2}, or {"size": 640}
    #: in pixels, each with an "overlap" of 0 to 0.5 (0.2)
    tiles: Literal["off", "auto"] | TileGrid | TileSize | None
    #: Polygons of the picture that are counted by themselves, and masks: what lies in a mask is
    #: left out. Excludes view
    regions: Sequence[Region] | None
    #: Name of a stored view, whose regions are used. Default where regions are not given either:
    #: the view whose paths match the path of the image
    view: str | None
    #: The same as classes, under the name of the interface document. Default of both: those of car,
    #: motorcycle, bus and truck that the model has; if it has none of them, all its classes
    vehicle_types: Sequence[str] | None
    #: Classes to detect: names of the classes of the model (see GET /v1/models), in any letter
    #: case; `*` for all. Not together with vehicle_types
    classes: Sequence[str] | None
    #: Also draw the boxes into a copy; see annotated_url
    annotate: bool | None
    #: Milliseconds within which the answer is wanted, at most LATTICE_SYNC_DEADLINE_MS, which is
    #: the default. A request that the present rate cannot answer in time is refused at once with
    #: `overloaded` and Retry-After
    deadline_ms: int | None


class JobLabels(TypedDict, total=False):
    """What people write on a job. None makes a label empty."""

    #: Name of the job, its title in lists
    name: str | None
    #: Tags, by which jobs are found again. Each counts once
    tags: Sequence[str] | None
    #: Notes on the job
    notes: str | None
    #: Keep the results beyond the retention time: true until the job is deleted, a number for so
    #: many days from the request on. Nothing is removed earlier than without it
    keep: bool | int | None


class JobOptions(TypedDict, total=False):
    """Options of a job."""

    job_type: Literal["detect_cars", "detect_vehicles", "batch_detect"]
    #: Each of image_paths is the name of a file, whatever characters it has: no folder and no glob
    #: is looked for, and what is no picture is an error of that image
    literal_paths: bool | None
    #: Model variant, with or without .pt; the export of the same stem (NAME.onnx) runs
    model_name: str | None
    #: Keep boxes with a score above this. Default: that of the model, else 0.5
    confidence_threshold: float | None
    #: Boxes of one class that overlap more than this are merged
    iou_threshold: float | None
    #: Most boxes of one image
    max_detections: int | None
    #: Keep the best of boxes of different classes that overlap more than iou_threshold, with the
    #: other as its alternative. Default: true without classes and for car, motorcycle, bus and
    #: truck; false for batch_detect without classes, which takes all
    merge_classes: bool | None
    #: Score by class in place of the confidence threshold
    class_thresholds: Mapping[str, float] | None
    #: Leave out boxes whose longer side is below this: pixels, or up to 1 a share of the longer
    #: side of the image; 0: none
    min_size: float | None
    #: Leave out boxes whose longer side is above this: pixels, or up to 1 a share of the longer
    #: side of the image; 0: none
    max_size: float | None
    #: Look at overlapping tiles of the image too, which finds smaller things and takes as long as
    #: so many images: "auto" by the size of the image, {"columns": 3, "rows": 2}, or {"size": 640}
    #: in pixels, each with an "overlap" of 0 to 0.5 (0.2)
    tiles: Literal["off", "auto"] | TileGrid | TileSize | None
    #: Polygons of the picture that are counted by themselves, and masks: what lies in a mask is
    #: left out. Excludes view
    regions: Sequence[Region] | None
    #: Name of a stored view, whose regions are used. Default where regions are not given either:
    #: the view whose paths match the path of the image
    view: str | None
    #: Classes of a detect_vehicles job, as in classes; other types ignore it. Default: those of
    #: car, motorcycle, bus and truck that the model has; if it has none of them, all its classes
    vehicle_types: Sequence[str] | None
    #: Classes of a detect_vehicles or batch_detect job: names of the classes of the model (see GET
    #: /v1/models), in any letter case; `*` for all. Not together with vehicle_types. batch_detect
    #: takes all without it
    classes: Sequence[str] | None
    #: 10 is the most urgent
    priority: int | None
    #: The result is POSTed here when the job ends
    callback_url: str | None
    #: Also draw the boxes into a copy; see annotated_url
    annotate: bool | None
    #: Which images take over a stored result of an earlier job and do not run. unchanged: images
    #: whose file, model, options and release are the same as for that result. content: the same,
    #: but a file is compared by its bytes and may lie in another place. Images of jobs with
    #: `annotate` or `places` always run
    reuse: Literal["off", "unchanged", "content"] | None
    #: Tells vehicles apart that stand one after another in one place, for `static` and places; each
    #: folder of pictures is a camera. In a watch also the events place_occupied and place_left, of
    #: the regions of a picture or, where it has none, of the whole picture
    places: bool | None
    #: Any JSON object up to 64 KiB without the white space between its parts, passed through to the
    #: result as it was sent: numbers keep their digits. At most 1000 keys an object and 15 levels
    metadata: Mapping[str, Any] | None
    #: Name of the job, its title in lists
    name: str | None
    #: Tags, by which jobs are found again. Each counts once
    tags: Sequence[str] | None
    #: Notes on the job
    notes: str | None
    #: Keep the results beyond the retention time: true until the job is deleted, a number for so
    #: many days from the request on. Nothing is removed earlier than without it
    keep: bool | int | None


class WatchBatch(TypedDict, total=False):
    """When the new files of a watch become a job."""

    max_images: int | None
    #: How long the first file waits for others after its arrival
    max_wait_s: float | None


class WatchOptions(TypedDict, total=False):
    """Options of a watch and of its jobs."""

    job_type: Literal["detect_cars", "detect_vehicles", "batch_detect"]
    #: Model variant, with or without .pt; the export of the same stem (NAME.onnx) runs
    model_name: str | None
    #: Keep boxes with a score above this. Default: that of the model, else 0.5
    confidence_threshold: float | None
    #: Boxes of one class that overlap more than this are merged
    iou_threshold: float | None
    #: Most boxes of one image
    max_detections: int | None
    #: Keep the best of boxes of different classes that overlap more than iou_threshold, with the
    #: other as its alternative. Default: true without classes and for car, motorcycle, bus and
    #: truck; false for batch_detect without classes, which takes all
    merge_classes: bool | None
    #: Score by class in place of the confidence threshold
    class_thresholds: Mapping[str, float] | None
    #: Leave out boxes whose longer side is below this: pixels, or up to 1 a share of the longer
    #: side of the image; 0: none
    min_size: float | None
    #: Leave out boxes whose longer side is above this: pixels, or up to 1 a share of the longer
    #: side of the image; 0: none
    max_size: float | None
    #: Look at overlapping tiles of the image too, which finds smaller things and takes as long as
    #: so many images: "auto" by the size of the image, {"columns": 3, "rows": 2}, or {"size": 640}
    #: in pixels, each with an "overlap" of 0 to 0.5 (0.2)
    tiles: Literal["off", "auto"] | TileGrid | TileSize | None
    #: Polygons of the picture that are counted by themselves, and masks: what lies in a mask is
    #: left out. Excludes view
    regions: Sequence[Region] | None
    #: Name of a stored view, whose regions are used. Default where regions are not given either:
    #: the view whose paths match the path of the image
    view: str | None
    #: Classes of a detect_vehicles job, as in classes; other types ignore it. Default: those of
    #: car, motorcycle, bus and truck that the model has; if it has none of them, all its classes
    vehicle_types: Sequence[str] | None
    #: Classes of a detect_vehicles or batch_detect job: names of the classes of the model (see GET
    #: /v1/models), in any letter case; `*` for all. Not together with vehicle_types. batch_detect
    #: takes all without it
    classes: Sequence[str] | None
    #: 10 is the most urgent
    priority: int | None
    #: The result is POSTed here when the job ends
    callback_url: str | None
    #: Also draw the boxes into a copy; see annotated_url
    annotate: bool | None
    #: Which images take over a stored result of an earlier job and do not run. unchanged: images
    #: whose file, model, options and release are the same as for that result. content: the same,
    #: but a file is compared by its bytes and may lie in another place. Images of jobs with
    #: `annotate` or `places` always run
    reuse: Literal["off", "unchanged", "content"] | None
    #: Tells vehicles apart that stand one after another in one place, for `static` and places; each
    #: folder of pictures is a camera. In a watch also the events place_occupied and place_left, of
    #: the regions of a picture or, where it has none, of the whole picture
    places: bool | None
    #: Any JSON object up to 64 KiB without the white space between its parts, passed through to the
    #: result as it was sent: numbers keep their digits. At most 1000 keys an object and 15 levels
    metadata: Mapping[str, Any] | None
    #: Tags, by which jobs are found again. Each counts once
    tags: Sequence[str] | None
    #: Notes on the job
    notes: str | None
    #: Keep the results beyond the retention time: true until the job is deleted, a number for so
    #: many days from the request on. Nothing is removed earlier than without it
    keep: bool | int | None
    #: How long size and time of a file rest before it counts
    settle_ms: int | None
    #: Between two scans of the folders. Changes that the system tells of (inotify) are found at
    #: once
    interval_ms: int | None
    #: When the watch works, in the local time of the service. Files that come at other times wait
    #: in the folder. Default: always
    schedule: Sequence[Mapping[str, Any]] | None
    #: At most so many images per job. A watch has at most 4 jobs that have not ended
    batch: Mapping[str, Any] | None
    #: Files that lie in the folders when the watch begins: submit them or leave them
    existing: Literal["take", "leave"] | None
    paused: bool | None
    #: Tell when a camera is covered, turned away, out of focus, frozen or late; each folder of
    #: pictures is a camera
    camera_health: bool | None
    #: Tell once of pictures of a camera with at most so many seconds between them that show a
    #: vehicle; each folder of pictures is a camera. Default: events are not told
    event_gap_s: float | None


class WatchChanges(WatchOptions, total=False):
    """What a change of a watch may give."""

    #: Folders, globs or names of files, as image_paths of a submission. They need not be there yet
    paths: Sequence[str]


class _CameraFindingChangeFields(TypedDict, total=False):
    """What may be left out of `CameraFindingChange`."""

    #: Unix time in seconds, fractional
    silenced_until: float
    #: It is how the camera is: the finding ends
    dismissed: bool


class CameraFindingChange(_CameraFindingChangeFields):
    """Which finding of which camera is silenced or dismissed."""

    camera: str
    #: covered: dark in hours that are light as a rule, or of one colour; frozen: the same picture
    #: again; moved: another view; blurred; late: no picture for much longer than usual;
    #: unusual_counts, unusual_confidence: boxes far from those of the same hours before
    kind: Literal["covered", "frozen", "moved", "blurred", "late", "unusual_counts", "unusual_confidence"]


class JobFilter(TypedDict, total=False):
    """Which jobs are listed, and in which order."""

    #: Jobs in one of these states, separated by commas: pending, running, completed, failed
    status: str | Sequence[str]
    #: Jobs of this type
    job_type: Literal["detect_cars", "detect_vehicles", "batch_detect"]
    #: Jobs that have each of these words, or parts of words, in their name, typed paths, tags,
    #: notes or the title of their metadata, in any letter case
    q: str
    #: Jobs with this tag, in any letter case
    tag: str
    #: Jobs that this watch made
    watch: str
    #: Jobs of this model, with or without .pt
    model_name: str
    #: Jobs submitted after this time (exclusive), in Unix seconds
    submitted_after: float
    #: Jobs submitted before this time (exclusive), in Unix seconds
    submitted_before: float
    #: submitted: newest first; ended: those that have not ended, then the last to end first; name:
    #: by title from A on. With a minus, the reverse
    sort: Literal["submitted", "-submitted", "ended", "-ended", "name", "-name"]
    limit: int


class Question(TypedDict, total=False):
    """What may be asked of the boxes that a job keeps, in place of its own question."""

    #: Keep boxes with a score above this. Default: as the job asked
    confidence_threshold: float
    #: Most boxes of one image. Default: as the job asked
    max_detections: int
    #: Keep the best of boxes of different classes that overlap more than iou_threshold, with the
    #: other as its alternative. Default: as the job asked
    merge_classes: bool
    #: Score by class in place of the confidence threshold. Default: as the job asked
    class_thresholds: Mapping[str, float]
    #: Leave out boxes whose longer side is below this: pixels, or up to 1 a share of the longer
    #: side of the image; 0: none. Default: as the job asked
    min_size: float
    #: Leave out boxes whose longer side is above this: pixels, or up to 1 a share of the longer
    #: side of the image; 0: none. Default: as the job asked
    max_size: float
    #: Polygons of the picture that are counted by themselves, and masks: what lies in a mask is
    #: left out. Excludes view. Default: as the job asked
    regions: Sequence[Region]
    #: Name of a stored view, whose regions are used. Default: as the job asked
    view: str
    #: Classes; `*` for all. Default: as the job asked
    classes: Sequence[str]


class ResultQuery(Question, total=False):
    """Which boxes of a result are asked for."""

    #: With `by=event` or `static`: images are of one camera when they lie in one `folder`, or `all`
    #: are, or when their folder and `name` say so by `camera_pattern`. Default folder
    camera: Literal["folder", "all", "name"]
    #: With `camera=name`: a pattern of the name of a file, in which `{camera}` stands for the part
    #: that says the camera and `*` for any characters, each as few as fit, from left to right. The
    #: camera is the folder with that part, as `park/gate`; a file whose name does not fit is of the
    #: camera that is its folder
    camera_pattern: str
    #: Boxes of vehicles that stand: in one place of a camera in several images, over minutes.
    #: `exclude`: they are left out; `only`: no others are there. With any of them each box has
    #: `static`, and one that stands has `stay`
    static: Literal["include", "exclude", "only"]


class PictureQuery(Question, total=False):
    """Which boxes pictures show, cover or cut out, and how."""

    #: Cover boxes of these classes: separated by commas, or a JSON array. Default: all boxes
    only: str
    #: pixelate: at most 8 blocks on the longer side, each the mean of its pixels; blur: smooth ways
    #: between these means; fill: black, which has nothing of what was there
    how: Literal["pixelate", "blur", "fill"]
    #: Share of a box's width and height that is covered around it on each side
    margin: float


class ChangesQuery(Question, total=False):
    """What counts as a change between two jobs."""

    #: A box has changed where its confidence differs by more than this
    confidence_change: float
    offset: int
    limit: int


class CountsQuery(Question, total=False):
    """How events are made, with `by="event"`."""

    #: With `by=event`: images of one camera with at most so many seconds between them are one
    #: event. Default 60
    event_gap_s: float
    #: With `by=event` or `static`: images are of one camera when they lie in one `folder`, or `all`
    #: are, or when their folder and `name` say so by `camera_pattern`. Default folder
    camera: Literal["folder", "all", "name"]
    #: With `camera=name`: a pattern of the name of a file, in which `{camera}` stands for the part
    #: that says the camera and `*` for any characters, each as few as fit, from left to right. The
    #: camera is the folder with that part, as `park/gate`; a file whose name does not fit is of the
    #: camera that is its folder
    camera_pattern: str
    #: Boxes of vehicles that stand: in one place of a camera in several images, over minutes.
    #: `exclude`: they are not counted; `only`: no others are. Default include
    static: Literal["include", "exclude", "only"]


class CountsScope(Question, total=False):
    """Whose images are counted, of which hours, and what is counted together."""

    #: Jobs of this watch
    watch: str
    #: Jobs with this tag, in any letter case
    tag: str
    #: The first hour of the pictures, as the clock on the wall showed it. With bounds, images
    #: without a time are left out
    since: str
    #: The hour after the last one; a day is its beginning
    until: str
    by: Literal["hour", "day", "folder", "event", "folder_hour"]
    #: With `by=event`: images of one camera with at most so many seconds between them are one
    #: event. Default 60
    event_gap_s: float
    #: With `by=event` or `static`: images are of one camera when they lie in one `folder`, or `all`
    #: are, or when their folder and `name` say so by `camera_pattern`. Default folder
    camera: Literal["folder", "all", "name"]
    #: With `camera=name`: a pattern of the name of a file, in which `{camera}` stands for the part
    #: that says the camera and `*` for any characters, each as few as fit, from left to right. The
    #: camera is the folder with that part, as `park/gate`; a file whose name does not fit is of the
    #: camera that is its folder
    camera_pattern: str
    #: Boxes of vehicles that stand: in one place of a camera in several images, over minutes.
    #: `exclude`: they are not counted; `only`: no others are. Default include
    static: Literal["include", "exclude", "only"]


class PlacesScope(Question, total=False):
    """In whose images, of which hours, places are found, and which of them are asked for."""

    #: Jobs of this watch
    watch: str
    #: Jobs with this tag, in any letter case
    tag: str
    #: The first hour of the pictures, as the clock on the wall showed it. With bounds, images
    #: without a time are left out
    since: str
    #: The hour after the last one; a day is its beginning
    until: str
    #: Images are of one camera when they lie in one `folder`, or `all` are, or when their folder
    #: and `name` say so by `camera_pattern`. Default folder
    camera: Literal["folder", "all", "name"]
    #: With `camera=name`: a pattern of the name of a file, in which `{camera}` stands for the part
    #: that says the camera and `*` for any characters, each as few as fit, from left to right. The
    #: camera is the folder with that part, as `park/gate`; a file whose name does not fit is of the
    #: camera that is its folder
    camera_pattern: str
    #: Places in this region
    region: str
    #: Places in which a vehicle stands in the last image of their camera, or in which none does
    occupied: bool
