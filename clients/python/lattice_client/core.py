"""The operations of the client, as flows that a transport runs."""

from __future__ import annotations

import contextlib
import json
import os
import uuid
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeAlias
from urllib.parse import quote

import httpx

from .address import authorization, service_url
from .agreement import Agreement, Alias
from .answers import Camera, Dismissal, JobAccepted, Model, View, Watch
from .effects import Answer, Call, Emit, Flow, NextLine, Work
from .errors import LatticeError, PictureError, ServiceError, UnexpectedAnswerError
from .exchange import exchange, no_answer
from .photos import Photo, Photos, find_photos
from .picture import Picture, read_picture
from .progress import Progress, shown
from .records import ImageResult, JobFailedError, JobResult, JobStatus
from .watching import watch

if TYPE_CHECKING:
    import supervision
    from PIL import Image

#: A job is named by its id or by any record of it.
JobRef: TypeAlias = "str | JobAccepted | JobStatus | JobResult"

#: How the images of a job are counted together.
CountsBy: TypeAlias = Literal["image", "event", "folder", "hour", "day", "folder_hour"]

#: Pictures of a job: with their boxes drawn, with their boxes covered, and one of each box.
PictureKind: TypeAlias = Literal["drawn", "covered", "crops"]

#: Which images of an ended job run again: those without boxes, or all.
RetriedImages: TypeAlias = Literal["failed", "all"]

#: A result may be of many thousand images.
_RESULT_SECONDS = 300.0
#: Each picture is made while the archive is sent.
_PICTURES_SECONDS = 3600.0
#: The models of an alias are loaded first.
_LOAD_SECONDS = 120.0
#: One photo, over a slow line.
_PHOTO_SECONDS = 600.0
_DISMISSALS = "/v1/places/dismissals"
#: With these the service refuses a photo and counts it in `left_out` of the job.
_CODES_OF_A_PHOTO = ("unsupported_image_format", "image_too_large", "validation_failed")
#: A code with which the service answers to a path that may be one of this machine.
_PATH_CODES = ("image_not_found", "path_not_allowed")


class Core:
    def __init__(
        self, base_url: str | None, api_key: str | None, timeout: float, retries: int
    ) -> None:
        self.base_url = service_url(base_url)
        self.headers = {"accept": "application/json", **authorization(api_key)}
        self._timeout = timeout
        self._retries = retries
        self._classes: dict[str, tuple[str, ...]] = {}

    def detect(
        self, image: Picture, options: Mapping[str, Any], timeout: float | None
    ) -> Flow[ImageResult]:
        path = "/v1/inference/detect"
        if isinstance(image, str):
            call = Call("POST", path, json={"image_path": image, **options})
        else:
            file = yield Work(lambda: read_picture(image))
            call = Call("POST", path, file=file, form=_as_texts(options))
        try:
            return ImageResult.read((yield from self._json(call, timeout)))
        except ServiceError as error:
            if isinstance(image, str) and error.code in _PATH_CODES and os.path.isfile(image):  # noqa: PTH113
                raise _with_hint(error, image) from None
            raise

    def submit(
        self,
        paths: str | Iterable[str] | None,
        upload: Photos | None,
        options: Mapping[str, Any],
        idempotency_key: str | None,
        timeout: float | None,
    ) -> Flow[JobAccepted]:
        if (paths is None) == (upload is None):
            raise ValueError(
                "Give paths that the service reads, or photos of this machine as upload."
            )
        if upload is not None:
            return (yield from self._submit_photos(upload, options, idempotency_key, timeout))
        images = [paths] if isinstance(paths, str) else list(paths or ())
        for path in images:
            if not isinstance(path, str):
                raise TypeError(
                    "A job takes paths that the service reads, as str; a picture of this machine is sent by detect()."
                )
        body = {"job_type": "detect_vehicles", "image_paths": images, **options}
        call = Call("POST", "/v1/jobs/submit", json=body, headers=_key(idempotency_key))
        return JobAccepted.read((yield from self._json(call, timeout)))

    def _submit_photos(
        self,
        photos: Photos,
        options: Mapping[str, Any],
        idempotency_key: str | None,
        timeout: float | None,
    ) -> Flow[JobAccepted]:
        """What the service does not take is left out; where the job cannot be made, what was sent is removed."""
        found = yield Work(lambda: find_photos(photos))
        plan = {"files": [{"name": photo.name, "bytes": photo.size} for photo in found]}
        upload = yield from self._json(Call("POST", "/v1/uploads", json=plan), timeout)
        path = f"/v1/uploads/{quote(upload['upload_id'], safe='')}"
        left_out = {each["name"] for each in upload["left_out"]}
        try:
            for photo in found:
                if photo.name not in left_out:
                    yield from self._send_photo(path, photo, timeout)
            body = {"job_type": "detect_vehicles", "image_paths": ["."], **options}
            body["upload"] = upload["upload_id"]
            call = Call("POST", "/v1/jobs/submit", json=body, headers=_key(idempotency_key))
            return JobAccepted.read((yield from self._json(call, timeout)))
        except LatticeError:
            # Else the service removes it after an hour.
            with contextlib.suppress(LatticeError):
                yield from self._call(Call("DELETE", path, repeatable=False), timeout)
            raise

    def _send_photo(self, path: str, photo: Photo, timeout: float | None) -> Flow[None]:
        content = yield Work(photo.read)
        query = {"modified_at": f"{photo.modified_at:.3f}"}
        call = Call("PUT", f"{path}/{quote(photo.name)}", query=query, content=content)
        try:
            yield from self._json(call, timeout or max(_PHOTO_SECONDS, self._timeout))
        except ServiceError as error:
            if error.code not in _CODES_OF_A_PHOTO:
                raise

    def status(self, job: JobRef, timeout: float | None = None) -> Flow[JobStatus]:
        call = Call("GET", f"{_path(job)}/status")
        return JobStatus.read((yield from self._json(call, timeout)))

    def follow(
        self, jobs: Sequence[JobRef], timeout: float, progress: Progress = False
    ) -> Flow[JobStatus]:
        if not jobs:
            raise ValueError("Give at least one job.")
        with shown(progress) as tell:
            return (yield from watch(self.status, [_id(job) for job in jobs], timeout, tell))

    def jobs(self, filters: Mapping[str, Any]) -> Flow[None]:
        """Emits each `JobStatus`, newest first."""
        query = {"limit": "100", **_as_texts(filters)}
        while True:
            page = yield from self._json(Call("GET", "/v1/jobs", query=query), None)
            for raw in page["jobs"]:
                yield Emit(JobStatus.read(raw))
            if page["next_cursor"] is None:
                return
            query["cursor"] = page["next_cursor"]

    def result(
        self, job: JobRef, question: Mapping[str, Any], timeout: float | None
    ) -> Flow[JobResult]:
        call = Call("GET", f"{_path(job)}/result", query=_as_texts(question))
        raw = yield from self._json(call, timeout or max(_RESULT_SECONDS, self._timeout))
        result = JobResult.read(raw)
        if result.status == "failed":
            problem = raw["error"] or {"detail": "The job failed."}
            failed = JobFailedError.of(problem, int(problem.get("status", 500)))
            failed.result = result
            raise failed
        return result

    def images(self, job: JobRef, question: Mapping[str, Any]) -> Flow[None]:
        """Emits each `ImageResult`. The result of an ended job never changes: a repeat continues after the last one."""
        call = Call("GET", f"{_path(job)}/result", query={"format": "ndjson", **_as_texts(question)})
        emitted = broken = 0
        while True:
            answer = yield from exchange(
                self.base_url, call, _RESULT_SECONDS, self._retries, in_lines=True
            )
            at = 0
            try:
                while (line := (yield NextLine(answer.lines))) is not None:
                    at += 1
                    if at > emitted:
                        emitted, broken = at, 0
                        yield Emit(ImageResult.read(json.loads(line)))
                return
            except (httpx.TransportError, TimeoutError) as error:
                broken += 1
                if broken > self._retries:
                    raise no_answer(self.base_url, call, _RESULT_SECONDS, error) from error

    def report(self, job: JobRef, question: Mapping[str, Any]) -> Flow[str]:
        call = Call("GET", f"{_path(job)}/report", query=_as_texts(question))
        return (yield from self._call(call, _RESULT_SECONDS)).body.decode()

    def report_of(self, tag: str, question: Mapping[str, Any]) -> Flow[str]:
        call = Call("GET", "/v1/report", query={"tag": tag, **_as_texts(question)})
        return (yield from self._call(call, _RESULT_SECONDS)).body.decode()

    def pictures(
        self, job: JobRef, kind: PictureKind, question: Mapping[str, Any]
    ) -> Flow[bytes]:
        # `class` is a word of Python.
        query = {"class" if name == "only" else name: value for name, value in question.items()}
        call = Call("GET", f"{_path(job)}/{kind}", query=_as_texts(query))
        return (yield from self._call(call, _PICTURES_SECONDS)).body

    def counts(
        self, job: JobRef, by: CountsBy, question: Mapping[str, Any]
    ) -> Flow[dict[str, Any]]:
        call = Call("GET", f"{_path(job)}/counts", query={"by": by, **_as_texts(question)})
        counts: dict[str, Any] = yield from self._json(call, _RESULT_SECONDS)
        return counts

    def counts_csv(self, job: JobRef, by: CountsBy, question: Mapping[str, Any]) -> Flow[str]:
        query = {"by": by, "format": "csv", **_as_texts(question)}
        call = Call("GET", f"{_path(job)}/counts", query=query)
        return (yield from self._call(call, _RESULT_SECONDS)).body.decode()

    def counts_of(self, scope: Mapping[str, Any]) -> Flow[dict[str, Any]]:
        call = Call("GET", "/v1/counts", query=_scope(scope))
        counts: dict[str, Any] = yield from self._json(call, _RESULT_SECONDS)
        return counts

    def counts_of_csv(self, scope: Mapping[str, Any]) -> Flow[str]:
        call = Call("GET", "/v1/counts", query={**_scope(scope), "format": "csv"})
        return (yield from self._call(call, _RESULT_SECONDS)).body.decode()

    def places(self, scope: Mapping[str, Any]) -> Flow[dict[str, Any]]:
        call = Call("GET", "/v1/places", query=_hours(scope))
        places: dict[str, Any] = yield from self._json(call, _RESULT_SECONDS)
        return places

    def places_csv(self, scope: Mapping[str, Any]) -> Flow[str]:
        call = Call("GET", "/v1/places", query={**_hours(scope), "format": "csv"})
        return (yield from self._call(call, _RESULT_SECONDS)).body.decode()

    def dismissals(self) -> Flow[list[Dismissal]]:
        answer = yield from self._json(Call("GET", _DISMISSALS), None)
        return [Dismissal.read(raw) for raw in answer["dismissals"]]

    def dismiss_place(
        self,
        job: JobRef,
        index: int,
        class_name: str,
        box: Sequence[float],
        camera_pattern: str | None,
    ) -> Flow[Dismissal]:
        place = {"job_id": _id(job), "index": index, "class": class_name, "box": list(box)}
        body = {**place, **({"camera_pattern": camera_pattern} if camera_pattern else {})}
        return Dismissal.read((yield from self._json(Call("POST", _DISMISSALS, json=body), None)))

    def delete_dismissal(self, dismissal: int) -> Flow[None]:
        call = Call("DELETE", f"{_DISMISSALS}/{dismissal}", repeatable=False)
        yield from self._call(call, None)

    def changes(self, job: JobRef, other: JobRef, query: Mapping[str, Any]) -> Flow[dict[str, Any]]:
        call = Call("GET", f"{_path(job)}/changes", query={"with": _id(other), **_as_texts(query)})
        changes: dict[str, Any] = yield from self._json(call, None)
        return changes

    def agreement(
        self, job: JobRef, other: JobRef, question: Mapping[str, Any]
    ) -> Flow[Agreement]:
        query = {"with": _id(other), **_as_texts(question)}
        call = Call("GET", f"{_path(job)}/agreement", query=query)
        return Agreement.read((yield from self._json(call, None)))

    def retry(
        self,
        job: JobRef,
        images: RetriedImages,
        model_name: str | None,
        idempotency_key: str | None,
    ) -> Flow[JobAccepted]:
        query: dict[str, str] = {} if images == "failed" else {"images": images}
        query |= {} if model_name is None else {"model_name": model_name}
        call = Call("POST", f"{_path(job)}/retry", query=query, headers=_key(idempotency_key))
        return JobAccepted.read((yield from self._json(call, None)))

    def cancel(self, job: JobRef) -> Flow[JobStatus]:
        call = Call("DELETE", _path(job), repeatable=False)
        return JobStatus.read((yield from self._json(call, None)))

    def edit(self, job: JobRef, labels: Mapping[str, Any]) -> Flow[JobStatus]:
        call = Call("PATCH", _path(job), json=dict(labels))
        return JobStatus.read((yield from self._json(call, None)))

    def remove(self, job: JobRef) -> Flow[JobStatus]:
        call = Call("DELETE", _path(job), query={"purge": "true"}, repeatable=False)
        return JobStatus.read((yield from self._json(call, None)))

    def views(self) -> Flow[list[View]]:
        answer = yield from self._json(Call("GET", "/v1/views"), None)
        return [View.read(raw) for raw in answer["views"]]

    def put_view(
        self, name: str, regions: Iterable[Mapping[str, Any]], paths: Iterable[str]
    ) -> Flow[View]:
        body = {"regions": list(regions), "paths": list(paths)}
        return View.read((yield from self._json(Call("PUT", _view(name), json=body), None)))

    def delete_view(self, name: str) -> Flow[None]:
        yield from self._call(Call("DELETE", _view(name), repeatable=False), None)

    def watches(self) -> Flow[list[Watch]]:
        answer = yield from self._json(Call("GET", "/v1/watches"), None)
        return [Watch.read(raw) for raw in answer["watches"]]

    def watch(self, name: str) -> Flow[Watch]:
        return Watch.read((yield from self._json(Call("GET", _watch(name)), None)))

    def add_watch(self, name: str, paths: Iterable[str], options: Mapping[str, Any]) -> Flow[Watch]:
        body = {"name": name, "paths": list(paths), "job_type": "detect_vehicles", **options}
        call = Call("POST", "/v1/watches", json=body, repeatable=False)
        return Watch.read((yield from self._json(call, None)))

    def change_watch(self, name: str, changes: Mapping[str, Any]) -> Flow[Watch]:
        call = Call("PATCH", _watch(name), json=dict(changes))
        return Watch.read((yield from self._json(call, None)))

    def delete_watch(self, name: str) -> Flow[None]:
        yield from self._call(Call("DELETE", _watch(name), repeatable=False), None)

    def cameras(self, watch: str) -> Flow[list[Camera]]:
        answer = yield from self._json(Call("GET", f"{_watch(watch)}/cameras"), None)
        return [Camera.read(raw) for raw in answer["cameras"]]

    def change_camera_finding(self, watch: str, change: Mapping[str, Any]) -> Flow[list[Camera]]:
        call = Call("PATCH", f"{_watch(watch)}/cameras", json=dict(change))
        answer = yield from self._json(call, None)
        return [Camera.read(raw) for raw in answer["cameras"]]

    def models(self) -> Flow[list[Model]]:
        answer = yield from self._json(Call("GET", "/v1/models"), None)
        return [Model.read(raw) for raw in answer["models"]]

    def aliases(self) -> Flow[list[Alias]]:
        answer = yield from self._json(Call("GET", "/v1/models/aliases"), None)
        return [Alias.read(raw) for raw in answer["aliases"]]

    def put_alias(
        self, name: str, model: str, canary: tuple[str, float] | None, shadow: str | None
    ) -> Flow[Alias]:
        trial = None if canary is None else {"model": canary[0], "share": canary[1]}
        body = {"model": model, "canary": trial, "shadow": shadow}
        return (yield from self._alias(Call("PUT", _alias(name), json=body)))

    def promote_alias(self, name: str) -> Flow[Alias]:
        call = Call("POST", f"{_alias(name)}/promote", repeatable=False)
        return (yield from self._alias(call))

    def roll_back_alias(self, name: str) -> Flow[Alias]:
        call = Call("POST", f"{_alias(name)}/rollback", repeatable=False)
        return (yield from self._alias(call))

    def _alias(self, call: Call) -> Flow[Alias]:
        return Alias.read((yield from self._json(call, max(_LOAD_SECONDS, self._timeout))))

    def delete_alias(self, name: str) -> Flow[None]:
        yield from self._call(Call("DELETE", _alias(name), repeatable=False), None)

    def alias_agreement(self, name: str) -> Flow[Agreement]:
        return Agreement.read(
            (yield from self._json(Call("GET", f"{_alias(name)}/agreement"), None))
        )

    def cluster_status(self) -> Flow[dict[str, Any]]:
        status: dict[str, Any] = yield from self._json(Call("GET", "/v1/cluster/status"), None)
        return status

    def usage(self) -> Flow[dict[str, Any]]:
        usage: dict[str, Any] = yield from self._json(Call("GET", "/v1/usage"), None)
        return usage

    def to_supervision(self, found: ImageResult, model: str | None) -> Flow[supervision.Detections]:
        name = model or found.model
        if name not in self._classes:
            models = yield from self.models()
            self._classes.update({each.name: each.classes for each in models})
        if name not in self._classes:
            raise ValueError(f'The service has no model "{name}".')
        return found.to_supervision(self._classes[name])

    def draw(self, found: ImageResult, image: Picture | None) -> Flow[Image.Image]:
        if image is not None:
            drawn = yield Work(lambda: found.draw(image))
        elif found.annotated_url is not None:
            from .drawing import open_picture

            answer = yield from self._call(Call("GET", found.annotated_url), None)
            drawn = yield Work(lambda: open_picture(answer.body))
        else:
            raise PictureError(
                f"There are no pixels of {found.image_path} here: give the picture, or call detect with annotate=True."
            )
        return drawn  # type: ignore[no-any-return]

    def _call(self, call: Call, timeout: float | None) -> Flow[Answer]:
        return exchange(self.base_url, call, timeout or self._timeout, self._retries)

    def _json(self, call: Call, timeout: float | None) -> Flow[Any]:
        answer = yield from self._call(call, timeout)
        document = answer.document()
        if document is None:
            raise UnexpectedAnswerError(
                f"{self.base_url}{call.path} answers no JSON (HTTP {answer.status}). Check the address.",
                code="unexpected_answer",
                status=answer.status,
            )
        return document


def _id(job: JobRef) -> str:
    return job if isinstance(job, str) else job.job_id


def _path(job: JobRef) -> str:
    return f"/v1/jobs/{quote(_id(job), safe='')}"


def _watch(name: str) -> str:
    return f"/v1/watches/{quote(name, safe='')}"


def _alias(name: str) -> str:
    return f"/v1/models/aliases/{quote(name, safe='')}"


def _view(name: str) -> str:
    return f"/v1/views/{quote(name, safe='')}"


def _key(given: str | None) -> dict[str, str]:
    """Sent with every submission: the service then answers a repeat with the same job."""
    return {"idempotency-key": given or str(uuid.uuid4())}


def _hours(scope: Mapping[str, Any]) -> dict[str, str]:
    """`since` and `until` have the names of the query: `from` is a word of Python."""
    names = {"since": "from", "until": "to"}
    return _as_texts({names.get(name, name): value for name, value in scope.items()})


def _scope(scope: Mapping[str, Any]) -> dict[str, str]:
    texts = _hours(scope)
    texts.setdefault("by", "hour")
    return texts


def _as_texts(options: Mapping[str, Any]) -> dict[str, str]:
    """For forms and queries: lists of names with commas, or as JSON where one has it or there is none; all else as in JSON."""

    def text(value: Any) -> str:
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, Mapping):
            return json.dumps(dict(value))
        if isinstance(value, (list, tuple, set)):
            if any(isinstance(each, Mapping) for each in value):
                return json.dumps(list(value))
            items = [str(each) for each in value]
            is_plain = items and not any("," in each for each in items)
            return ",".join(items) if is_plain else json.dumps(items)
        return str(value)

    return {name: text(value) for name, value in options.items() if value is not None}


def _with_hint(error: ServiceError, path: str) -> ServiceError:
    detail = (
        f"{error.detail} A str is a path that the service reads. {path} is a file of this machine: give "
        f'pathlib.Path("{path}") to send it.'
    )
    return ServiceError.of({**error.problem, "detail": detail}, error.status or 422)
