"""The asyncio client: `Lattice` with `await` and `async for`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Sequence
from contextlib import aclosing
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


class AsyncLattice:
    """As `Lattice`, for one event loop of asyncio. Files are read and pictures encoded in threads."""

    def __init__(
        self,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float = 30.0,
        retries: int = 2,
        http_client: httpx.AsyncClient | None = None,
    ) -> None:
        self._core = Core(base_url, api_key, timeout, retries)
        self._owned = http_client is None
        self._http = http_client or httpx.AsyncClient(
            verify=verification(self.base_url),
            trust_env=False,
            limits=LIMITS,
        )

    @property
    def base_url(self) -> str:
        return self._core.base_url

    async def detect(
        self, image: Picture, *, timeout: float | None = None, **options: Unpack[DetectOptions]
    ) -> ImageResult:
        """As `Lattice.detect`: a `str` is a path that the service reads, everything else is sent."""
        return await self._run(self._core.detect(image, options, timeout))

    async def submit(
        self,
        paths: str | Iterable[str] | None = None,
        *,
        upload: Photos | None = None,
        idempotency_key: str | None = None,
        timeout: float | None = None,
        **options: Unpack[JobOptions],
    ) -> JobAccepted:
        return await self._run(self._core.submit(paths, upload, options, idempotency_key, timeout))

    async def status(self, job: JobRef, *, timeout: float | None = None) -> JobStatus:
        return await self._run(self._core.status(job, timeout))

    async def wait(
        self, job: JobRef, *, timeout: float = 600.0, progress: Progress = False
    ) -> JobStatus:
        return await self._run(self._core.follow([job], timeout, progress))

    def events(self, *jobs: JobRef, timeout: float = 600.0) -> AsyncIterator[JobStatus]:
        return self._each(self._core.follow(jobs, timeout))

    def jobs(self, **filters: Unpack[JobFilter]) -> AsyncIterator[JobStatus]:
        return self._each(self._core.jobs(filters))

    async def result(
        self, job: JobRef, *, timeout: float | None = None, **question: Unpack[ResultQuery]
    ) -> JobResult:
        return await self._run(self._core.result(job, question, timeout))

    def iter_results(
        self, job: JobRef, **question: Unpack[ResultQuery]
    ) -> AsyncIterator[ImageResult]:
        return self._each(self._core.images(job, question))

    async def report(self, job: JobRef, **question: Unpack[Question]) -> str:
        return await self._run(self._core.report(job, question))

    async def report_of(self, tag: str, **question: Unpack[Question]) -> str:
        return await self._run(self._core.report_of(tag, question))

    async def pictures(
        self, job: JobRef, kind: PictureKind = "drawn", **query: Unpack[PictureQuery]
    ) -> bytes:
        return await self._run(self._core.pictures(job, kind, query))

    async def counts(
        self, job: JobRef, by: CountsBy = "hour", **query: Unpack[CountsQuery]
    ) -> dict[str, Any]:
        return await self._run(self._core.counts(job, by, query))

    async def counts_csv(
        self, job: JobRef, by: CountsBy = "hour", **query: Unpack[CountsQuery]
    ) -> str:
        return await self._run(self._core.counts_csv(job, by, query))

    async def counts_of(self, **scope: Unpack[CountsScope]) -> dict[str, Any]:
        return await self._run(self._core.counts_of(scope))

    async def counts_of_csv(self, **scope: Unpack[CountsScope]) -> str:
        return await self._run(self._core.counts_of_csv(scope))

    async def places(self, **scope: Unpack[PlacesScope]) -> dict[str, Any]:
        return await self._run(self._core.places(scope))

    async def places_csv(self, **scope: Unpack[PlacesScope]) -> str:
        return await self._run(self._core.places_csv(scope))

    async def dismissals(self) -> list[Dismissal]:
        return await self._run(self._core.dismissals())

    async def dismiss_place(
        self,
        job: JobRef,
        index: int,
        class_name: str,
        box: Sequence[float],
        *,
        camera_pattern: str | None = None,
    ) -> Dismissal:
        return await self._run(self._core.dismiss_place(job, index, class_name, box, camera_pattern))

    async def delete_dismissal(self, dismissal: int) -> None:
        await self._run(self._core.delete_dismissal(dismissal))

    async def changes(
        self, job: JobRef, other: JobRef, **query: Unpack[ChangesQuery]
    ) -> dict[str, Any]:
        return await self._run(self._core.changes(job, other, query))

    async def agreement(
        self, job: JobRef, other: JobRef, **question: Unpack[Question]
    ) -> Agreement:
        return await self._run(self._core.agreement(job, other, question))

    async def retry(
        self,
        job: JobRef,
        *,
        images: RetriedImages = "failed",
        model_name: str | None = None,
        idempotency_key: str | None = None,
    ) -> JobAccepted:
        return await self._run(self._core.retry(job, images, model_name, idempotency_key))

    async def cancel(self, job: JobRef) -> JobStatus:
        return await self._run(self._core.cancel(job))

    async def edit(self, job: JobRef, **labels: Unpack[JobLabels]) -> JobStatus:
        """Changes name, tags, notes or keep at any time; what is left out stays, None makes it empty."""
        return await self._run(self._core.edit(job, labels))

    async def remove(self, job: JobRef) -> JobStatus:
        """Removes an ended job with its results and drawn copies for good; code job_not_finished before its end."""
        return await self._run(self._core.remove(job))

    async def views(self) -> list[View]:
        return await self._run(self._core.views())

    async def put_view(
        self, name: str, regions: Iterable[Region], *, paths: Iterable[str] = ()
    ) -> View:
        return await self._run(self._core.put_view(name, regions, paths))

    async def delete_view(self, name: str) -> None:
        await self._run(self._core.delete_view(name))

    async def watches(self) -> list[Watch]:
        return await self._run(self._core.watches())

    async def watch(self, name: str) -> Watch:
        return await self._run(self._core.watch(name))

    async def add_watch(
        self, name: str, paths: Iterable[str], **options: Unpack[WatchOptions]
    ) -> Watch:
        return await self._run(self._core.add_watch(name, paths, options))

    async def change_watch(self, name: str, **changes: Unpack[WatchChanges]) -> Watch:
        return await self._run(self._core.change_watch(name, changes))

    async def delete_watch(self, name: str) -> None:
        await self._run(self._core.delete_watch(name))

    async def cameras(self, watch: str) -> list[Camera]:
        return await self._run(self._core.cameras(watch))

    async def change_camera_finding(
        self, watch: str, **change: Unpack[CameraFindingChange]
    ) -> list[Camera]:
        return await self._run(self._core.change_camera_finding(watch, change))

    async def models(self) -> list[Model]:
        return await self._run(self._core.models())

    async def aliases(self) -> list[Alias]:
        return await self._run(self._core.aliases())

    async def put_alias(
        self,
        name: str,
        model: str,
        *,
        canary: tuple[str, float] | None = None,
        shadow: str | None = None,
    ) -> Alias:
        return await self._run(self._core.put_alias(name, model, canary, shadow))

    async def promote_alias(self, name: str) -> Alias:
        return await self._run(self._core.promote_alias(name))

    async def roll_back_alias(self, name: str) -> Alias:
        return await self._run(self._core.roll_back_alias(name))

    async def delete_alias(self, name: str) -> None:
        await self._run(self._core.delete_alias(name))

    async def alias_agreement(self, name: str) -> Agreement:
        return await self._run(self._core.alias_agreement(name))

    async def cluster_status(self) -> dict[str, Any]:
        return await self._run(self._core.cluster_status())

    async def usage(self) -> dict[str, Any]:
        """What the key of this client has and may have, as the service's JSON; of all keys with the mark admin."""
        return await self._run(self._core.usage())

    async def to_supervision(
        self, found: ImageResult, *, model: str | None = None
    ) -> supervision.Detections:
        return await self._run(self._core.to_supervision(found, model))

    async def draw(self, found: ImageResult, image: Picture | None = None) -> Image.Image:
        return await self._run(self._core.draw(found, image))

    async def close(self) -> None:
        if self._owned:
            await self._http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_url})"

    async def _run(self, flow: Flow[T]) -> T:
        async with aclosing(self._drive(flow)) as items:
            async for item in items:
                if isinstance(item, Done):
                    return item.value  # type: ignore[no-any-return]
        raise AssertionError("A flow ends with Done.")

    async def _each(self, flow: Flow[Any]) -> AsyncIterator[Any]:
        async with aclosing(self._drive(flow)) as items:
            async for item in items:
                if not isinstance(item, Done):
                    yield item

    async def _drive(self, flow: Flow[Any]) -> AsyncGenerator[Any, None]:
        """As `Lattice._drive`."""
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
                    outcome = await self._perform(effect)
                except Exception as error:  # noqa: BLE001  the flow decides
                    failure = error
        finally:
            flow.close()

    async def _perform(self, effect: Send | NextLine | Pause | Work) -> Any:
        if isinstance(effect, Send):
            return await self._send(effect)
        if isinstance(effect, NextLine):
            return await anext(effect.lines, None)
        if isinstance(effect, Pause):
            return await asyncio.sleep(effect.seconds)
        return await asyncio.to_thread(effect.work)

    async def _send(self, send: Send) -> Answer:
        request = request_of(self._core, self._http, send)
        left = max(send.end - time.monotonic(), 0)
        try:
            response = await asyncio.wait_for(self._http.send(request, stream=send.in_lines), left)
        except asyncio.TimeoutError:  # another class before Python 3.11
            raise TimeoutError from None
        if send.in_lines and response.is_success:
            return answer_of(response, b"", _lines(response))
        return answer_of(response, await response.aread())


async def _lines(response: httpx.Response) -> AsyncIterator[str]:
    async with aclosing(response):
        async for line in response.aiter_lines():
            yield line
