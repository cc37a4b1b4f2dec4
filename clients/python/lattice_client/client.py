"""The blocking client."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from typing import TYPE_CHECKING, Any, TypeVar

import httpx

from .agreement import Agreement, Alias
from .answers import Camera, Dismissal, JobAccepted, Model, View, Watch
from .core import Core, CountsBy, JobRef, PictureKind, RetriedImages
from .effects import Answer, Done, Emit, Flow, NextLine, Pause, Send, Work
from .http_request import LIMITS, answer_of, request_of
from .photos import Photos
from .picture import Picture
from .progress import Progress
from .records import ImageResult, JobResult, JobStatus
from .tls import verification

if TYPE_CHECKING:
    import supervision
    from PIL import Image
    from typing_extensions import Self, Unpack

    from .options import (
        CameraFindingChange,
        ChangesQuery,
        CountsQuery,
        CountsScope,
        DetectOptions,
        JobFilter,
        JobLabels,
        JobOptions,
        PictureQuery,
        PlacesScope,
        Question,
        Region,
        ResultQuery,
        WatchChanges,
        WatchOptions,
    )

T = TypeVar("T")


class Lattice:
    """A client of one service; may be shared by threads.

    `base_url` and `api_key` come from LATTICE_CORE_API_URL and LATTICE_API_KEY where they are not given. `timeout`
    bounds each call in seconds, with its repeats: a call that was refused with Retry-After (429, 503) is sent again
    after that time, and a call whose connection broke up to `retries` times. `http_client` replaces the connection pool
    (for a proxy or own certificates); proxies of the environment are not used.

    Every call raises `LatticeError` or one of its subclasses.
    """

    def __init__(
        self,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = 30.0,
        retries: int = 2,
        http_client: httpx.Client | None = None,
    ) -> None:
        self._core = Core(base_url, api_key, timeout, retries)
        self._owned = http_client is None
        self._http = http_client or httpx.Client(
            verify=verification(self.base_url),
            trust_env=False,
            limits=LIMITS,
        )

    @property
    def base_url(self) -> str:
        return self._core.base_url

    def detect(
        self, image: Picture, *, timeout: float | None = None, **options: Unpack[DetectOptions]
    ) -> ImageResult:
        """Boxes of one image, now.

        A `str` is a path that the service reads, beneath its image folders. Everything else is sent: a `pathlib.Path`,
        an open file, the bytes of an image file, a Pillow image or a uint8 array in RGB order.
        """
        return self._run(self._core.detect(image, options, timeout))

    def submit(
        self,
        paths: str | Iterable[str] | None = None,
        *,
        upload: Photos | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        **options: Unpack[JobOptions],
    ) -> JobAccepted:
        """Queues images, folders and globs of the service as one job; `job_type` is detect_vehicles by default.

        Returns once the job is on the service's disk. A later submission with the same key and options gives the same
        job; by default each has a key of its own, so that a repeat after a broken connection makes no second job.

        `upload` in place of paths: folders and files of this machine, which are sent first and kept by the service as
        long as the job. What is no picture that the service reads is left out; `left_out` of the job's summary says
        what.
        """
        return self._run(self._core.submit(paths, upload, options, idempotency_key, timeout))

    def status(self, job: JobRef, *, timeout: float | None = None) -> JobStatus:
        return self._run(self._core.status(job, timeout))

    def wait(self, job: JobRef, *, timeout: float = 600.0, progress: Progress = False) -> JobStatus:
        """The status of the job once it has ended, completed or failed; `JobTimeoutError` after `timeout` seconds.

        `progress`: True for a bar (needs rich), or a function that receives each new status. The wait continues while
        the service is away.
        """
        return self._run(self._core.follow([job], timeout, progress))

    def events(self, *jobs: JobRef, timeout: float = 600.0) -> Iterator[JobStatus]:
        """Each new status of the jobs until all have ended, by polling; `JobTimeoutError` after `timeout` seconds."""
        return self._each(self._core.follow(jobs, timeout))

    def jobs(self, **filters: Unpack[JobFilter]) -> Iterator[JobStatus]:
        """All jobs, newest first, page by page."""
        return self._each(self._core.jobs(filters))

    def result(
        self, job: JobRef, *, timeout: float | None = None, **question: Unpack[ResultQuery]
    ) -> JobResult:
        """`JobFailedError` where the job failed, `ServiceError` with code job_not_finished while it runs.

        `question` is asked of the boxes that the job keeps, in place of its own; `ServiceError` with code
        needs_new_run where they cannot answer it.
        """
        return self._run(self._core.result(job, question, timeout))

    def iter_results(self, job: JobRef, **question: Unpack[ResultQuery]) -> Iterator[ImageResult]:
        """The images of an ended job in the order of submission, also of a failed one, read as they arrive.

        A connection that breaks is opened again after the last image. Entries do not name the `model`.
        """
        return self._each(self._core.images(job, question))

    def report(self, job: JobRef, **question: Unpack[Question]) -> str:
        """An ended job as the text of one HTML file for people; code job_not_finished before its end."""
        return self._run(self._core.report(job, question))

    def report_of(self, tag: str, **question: Unpack[Question]) -> str:
        """The ended jobs with a tag, whose settings are the same, as one such text."""
        return self._run(self._core.report_of(tag, question))

    def pictures(
        self, job: JobRef, kind: PictureKind = "drawn", **query: Unpack[PictureQuery]
    ) -> bytes:
        """A zip of the pictures of an ended job: with their boxes drawn, with their boxes covered, or one of each box.

        `only` names the classes whose boxes are meant; `how` and `margin` are of `covered`, `margin` also of `crops`.
        The archive is in memory as a whole. What the model has missed is not covered.
        """
        return self._run(self._core.pictures(job, kind, query))

    def counts(
        self, job: JobRef, by: CountsBy = "hour", **query: Unpack[CountsQuery]
    ) -> dict[str, Any]:
        """Images and boxes by image, event, folder, hour, day or folder and hour, of the images done so far, as the service's JSON."""
        return self._run(self._core.counts(job, by, query))

    def counts_csv(
        self, job: JobRef, by: CountsBy = "hour", **query: Unpack[CountsQuery]
    ) -> str:
        """The same as the text of a CSV file: `pandas.read_csv(io.StringIO(text))`."""
        return self._run(self._core.counts_csv(job, by, query))

    def counts_of(self, **scope: Unpack[CountsScope]) -> dict[str, Any]:
        """Counts over the jobs of a watch, with a tag, or both, also of those whose results are removed.

        `since` and `until` are days or whole hours of wall time: "2025-11-26" or "2025-11-26T14:00".
        """
        return self._run(self._core.counts_of(scope))

    def counts_of_csv(self, **scope: Unpack[CountsScope]) -> str:
        """The same as the text of a CSV file."""
        return self._run(self._core.counts_of_csv(scope))

    def places(self, **scope: Unpack[PlacesScope]) -> dict[str, Any]:
        """Places in which vehicles stood, over the jobs of a watch, with a tag, or both, as the service's JSON."""
        return self._run(self._core.places(scope))

    def places_csv(self, **scope: Unpack[PlacesScope]) -> str:
        """The stays in them as the text of a CSV file."""
        return self._run(self._core.places_csv(scope))

    def dismissals(self) -> list[Dismissal]:
        """Dismissed places, oldest first."""
        return self._run(self._core.dismissals())

    def dismiss_place(
        self,
        job: JobRef,
        index: int,
        class_name: str,
        box: Sequence[float],
        *,
        camera_pattern: str | None = None,
    ) -> Dismissal:
        """Leaves boxes over this one out of counts from now on, in images of the same folder, or of the same camera."""
        return self._run(self._core.dismiss_place(job, index, class_name, box, camera_pattern))

    def delete_dismissal(self, dismissal: int) -> None:
        """Boxes in the place are counted again."""
        self._run(self._core.delete_dismissal(dismissal))

    def changes(self, job: JobRef, other: JobRef, **query: Unpack[ChangesQuery]) -> dict[str, Any]:
        """What another job over the same images found otherwise, as the service's JSON; most changes first.

        A page of the images with changes; `offset` is the `next_offset` of the page before.
        """
        return self._run(self._core.changes(job, other, query))

    def agreement(
        self, job: JobRef, other: JobRef, **question: Unpack[Question]
    ) -> Agreement:
        """How well another job over the same images agrees, with another model say; of all images, anew each time."""
        return self._run(self._core.agreement(job, other, question))

    def retry(
        self,
        job: JobRef,
        *,
        images: RetriedImages = "failed",
        model_name: str | None = None,
        idempotency_key: str | None = None,
    ) -> JobAccepted:
        """A new job of the failed images of an ended one, or of all, with its options or on another model."""
        return self._run(self._core.retry(job, images, model_name, idempotency_key))

    def cancel(self, job: JobRef) -> JobStatus:
        """Ends the job as failed with code cancelled; code job_already_finished where it has ended."""
        return self._run(self._core.cancel(job))

    def edit(self, job: JobRef, **labels: Unpack[JobLabels]) -> JobStatus:
        """Changes name, tags, notes or keep at any time; what is left out stays, None makes it empty."""
        return self._run(self._core.edit(job, labels))

    def remove(self, job: JobRef) -> JobStatus:
        """Removes an ended job with its results and drawn copies for good; code job_not_finished before its end."""
        return self._run(self._core.remove(job))

    def views(self) -> list[View]:
        """The stored views, by name."""
        return self._run(self._core.views())

    def put_view(self, name: str, regions: Iterable[Region], *, paths: Iterable[str] = ()) -> View:
        """Makes the view or replaces it whole; images that begin from then on use it."""
        return self._run(self._core.put_view(name, regions, paths))

    def delete_view(self, name: str) -> None:
        """Results that used it stay as they are. `ServiceError` with code view_not_found where there is none."""
        self._run(self._core.delete_view(name))

    def watches(self) -> list[Watch]:
        """The watched folders, by name."""
        return self._run(self._core.watches())

    def watch(self, name: str) -> Watch:
        """What it sees and has done. `ServiceError` with code watch_not_found where there is none."""
        return self._run(self._core.watch(name))

    def add_watch(self, name: str, paths: Iterable[str], **options: Unpack[WatchOptions]) -> Watch:
        """Images that come into the folders are submitted from now on, as jobs that name the watch."""
        return self._run(self._core.add_watch(name, paths, options))

    def change_watch(self, name: str, **changes: Unpack[WatchChanges]) -> Watch:
        """Changes what is given: `change_watch("gate", paused=True)`."""
        return self._run(self._core.change_watch(name, changes))

    def delete_watch(self, name: str) -> None:
        """Its jobs go on."""
        self._run(self._core.delete_watch(name))

    def cameras(self, watch: str) -> list[Camera]:
        """Cameras of a watch with `camera_health`, by name, and what is wrong with them."""
        return self._run(self._core.cameras(watch))

    def change_camera_finding(
        self, watch: str, **change: Unpack[CameraFindingChange]
    ) -> list[Camera]:
        """Silences or dismisses an open finding; gives the cameras as they are then."""
        return self._run(self._core.change_camera_finding(watch, change))

    def models(self) -> list[Model]:
        return self._run(self._core.models())

    def aliases(self) -> list[Alias]:
        """The names that stand for models, by name."""
        return self._run(self._core.aliases())

    def put_alias(
        self,
        name: str,
        model: str,
        *,
        canary: tuple[str, float] | None = None,
        shadow: str | None = None,
    ) -> Alias:
        """Lets the name stand for the model, and returns once requests use it; `canary` is a model and its share."""
        return self._run(self._core.put_alias(name, model, canary, shadow))

    def promote_alias(self, name: str) -> Alias:
        """The canary, without one the shadow, answers from then on."""
        return self._run(self._core.promote_alias(name))

    def roll_back_alias(self, name: str) -> Alias:
        """Takes the last change back."""
        return self._run(self._core.roll_back_alias(name))

    def delete_alias(self, name: str) -> None:
        """`ServiceError` with code alias_not_found where there is none."""
        self._run(self._core.delete_alias(name))

    def alias_agreement(self, name: str) -> Agreement:
        """How well the shadow agrees so far; `ServiceError` with code no_other_model where there is none."""
        return self._run(self._core.alias_agreement(name))

    def cluster_status(self) -> dict[str, Any]:
        """Nodes, CPUs and GPUs, and the jobs that wait and run, as the service's JSON."""
        return self._run(self._core.cluster_status())

    def usage(self) -> dict[str, Any]:
        """What the key of this client has and may have, as the service's JSON; of all keys with the mark admin."""
        return self._run(self._core.usage())

    def to_supervision(
        self, found: ImageResult, *, model: str | None = None
    ) -> supervision.Detections:
        """With the class ids of `model`, by default the image's own; the classes are asked for once."""
        return self._run(self._core.to_supervision(found, model))

    def draw(self, found: ImageResult, image: Picture | None = None) -> Image.Image:
        """`image` with the boxes, or the copy that the service drew (`annotate=True`). A `str` is a file here."""
        return self._run(self._core.draw(found, image))

    def close(self) -> None:
        if self._owned:
            self._http.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_url})"

    def _run(self, flow: Flow[T]) -> T:
        for item in self._drive(flow):
            if isinstance(item, Done):
                return item.value  # type: ignore[no-any-return]
        raise AssertionError("A flow ends with Done.")

    def _each(self, flow: Flow[Any]) -> Iterator[Any]:
        for item in self._drive(flow):
            if not isinstance(item, Done):
                yield item

    def _drive(self, flow: Flow[Any]) -> Iterator[Any]:
        """Performs the effects; yields the items that the flow emits and `Done` at its end."""
        outcome: Any = None
        failure: Exception | None = None
        try:
            while True:
                try:
                    effect = flow.send(outcome) if failure is None else flow.throw(failure)
                except StopIteration as end:
                    yield Done(end.value)
                    return
                outcome = failure = None
                if isinstance(effect, Emit):
                    yield effect.item
                    continue
                try:
                    outcome = self._perform(effect)
                except Exception as error:  # noqa: BLE001  the flow decides
                    failure = error
        finally:
            flow.close()

    def _perform(self, effect: Send | NextLine | Pause | Work) -> Any:
        if isinstance(effect, Send):
            return self._send(effect)
        if isinstance(effect, NextLine):
            return next(effect.lines, None)
        if isinstance(effect, Pause):
            return time.sleep(effect.seconds)
        return effect.work()

    def _send(self, send: Send) -> Answer:
        request = request_of(self._core, self._http, send)
        response = self._http.send(request, stream=True)
        if send.in_lines and response.is_success:
            return answer_of(response, b"", _lines(response))
        with closing(response):
            chunks: list[bytes] = []
            # The time-outs of httpx are per read: an answer that drips would never end.
            for chunk in response.iter_bytes():
                chunks.append(chunk)
                if time.monotonic() > send.end:
                    raise TimeoutError
            return answer_of(response, b"".join(chunks))


def _lines(response: httpx.Response) -> Iterator[str]:
    with closing(response):
        yield from response.iter_lines()
