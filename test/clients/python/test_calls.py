"""What each call sends, and what answers and refusals become."""

from __future__ import annotations

import json
import os
import pickle
import tempfile
from pathlib import Path
from typing import Any
from unittest.mock import patch

import httpx

from client_case import (
    KEY,
    URL,
    ClientCase,
    Cut,
    Handler,
    answers,
    body_of,
    found,
    ok,
    problem,
    status,
)
from lattice_client import (
    CallTimeoutError,
    JobFailedError,
    Lattice,
    ServiceError,
    UnexpectedAnswerError,
    UnreachableError,
)

CAR = {"class": "car", "confidence": 0.91, "box": [1, 2, 30, 40]}
ACCEPTED = {"job_id": "job_1", "status": "pending", "message": "Job accepted."}


class Calls(ClientCase):
    def recorded(self, document: Any) -> tuple[list[httpx.Request], Any]:
        sent: list[httpx.Request] = []

        def make() -> Handler:
            def answer(request: httpx.Request) -> httpx.Response:
                sent.append(request)
                return ok(document)

            return answer

        return sent, make

    def test_a_str_is_a_path_of_the_service(self) -> None:
        sent, service = self.recorded(found("a.jpg", CAR))
        for client in self.clients(service):
            image = client.detect("a.jpg", classes=["car"], confidence_threshold=0.3)
            self.assertEqual(image.detections[0].box, (1, 2, 30, 40))
            self.assertEqual(image.detections[0].class_name, "car")
            self.assertEqual((image.width, image.height, image.ok), (320, 240, True))
            self.assertEqual(image.raw["detections"], [CAR])
            request = sent.pop()
            self.assertEqual(str(request.url), f"{URL}/v1/inference/detect")
            self.assertEqual(request.headers["authorization"], f"Bearer {KEY}")
            self.assertEqual(
                body_of(request),
                {"image_path": "a.jpg", "classes": ["car"], "confidence_threshold": 0.3},
            )

    def test_regions_go_out_and_come_back(self) -> None:
        gate = {"name": "gate", "polygon": [[0, 0], [1, 0.5], [0, 1]], "classes": ["car"]}
        counts = {"gate": {"car": 1}, "exit": {}}
        answer = {
            **found("a.jpg", {**CAR, "regions": ["gate"]}, CAR),
            **{"region_counts": counts, "view": {"name": "north", "version": 3}},
        }
        sent, service = self.recorded(answer)
        for client in self.clients(service):
            image = client.detect("a.jpg", regions=[gate])
            self.assertEqual(body_of(sent.pop()), {"image_path": "a.jpg", "regions": [gate]})
            self.assertEqual([each.regions for each in image.detections], [("gate",), ()])
            self.assertEqual((image.region_counts, image.view), (counts, ("north", 3)))
            client.detect("a.jpg", view="north")
            self.assertEqual(body_of(sent.pop()), {"image_path": "a.jpg", "view": "north"})
        plain, service = self.recorded(found("a.jpg", CAR))
        for client in self.clients(service):
            image = client.detect("a.jpg")
            self.assertEqual((image.region_counts, image.view), ({}, None))
            self.assertEqual(body_of(plain.pop()), {"image_path": "a.jpg"})

    def test_aliases_are_stored_promoted_taken_back_and_deleted(self) -> None:
        depot = {
            **{"name": "depot.pt", "version": 2, "stored_at": 1.5, "before": 1, "model": "a.pt"},
            **{"canary": {"model": "b.pt", "share": 0.25}, "shadow": None},
        }
        sent, service = self.recorded({**depot, "aliases": [depot]})
        for client in self.clients(service):
            alias = client.put_alias("depot", "a", canary=("b", 0.25))
            self.assertEqual((alias.name, alias.model, alias.before), ("depot.pt", "a.pt", 1))
            self.assertEqual((alias.canary, alias.shadow), (("b.pt", 0.25), None))
            request = sent.pop()
            self.assertEqual(
                (request.method, request.url.path), ("PUT", "/v1/models/aliases/depot")
            )
            trial = {"model": "b", "share": 0.25}
            self.assertEqual(body_of(request), {"model": "a", "canary": trial, "shadow": None})
            self.assertEqual([each.version for each in client.aliases()], [2])
            for call, path in (
                (client.promote_alias, "/promote"),
                (client.roll_back_alias, "/rollback"),
            ):
                self.assertEqual(call("a b").version, 2)
                self.assertTrue(sent[-1].url.raw_path.endswith(b"/a%20b" + path.encode()))
                self.assertEqual(sent[-1].method, "POST")
            client.delete_alias("depot")
            self.assertEqual(sent.pop().method, "DELETE")

    def test_the_agreement_of_a_shadow_and_of_two_jobs_are_one_record(self) -> None:
        counts = {"first": 3, "second": 2, "matched": 2, "flipped": 1, "gained": 0, "lost": 1}
        row = {**counts, "score_shift": -0.1}
        figures = {
            **{"share": 0.4, "all": row, "by_class": [{**row, "of": "car"}], "by_size": []},
            "least": [{"image_path": "a.jpg", "share": 0}],
        }
        sent, service = self.recorded({**figures, "images": 7, "flagged": True, "latest_share": 0.5})
        for client in self.clients(service):
            found = client.alias_agreement("depot")
            self.assertEqual((found.images, found.share, found.flagged), (7, 0.4, True))
            self.assertEqual(found.latest_share, 0.5)
            self.assertEqual((found.all.lost, found.by_class["car"].score_shift), (1, -0.1))
            self.assertEqual(found.least[0]["image_path"], "a.jpg")
            self.assertEqual(sent.pop().url.path, "/v1/models/aliases/depot/agreement")
        sent, service = self.recorded({**figures, "image_counts": {"compared": 5}})
        for client in self.clients(service):
            found = client.agreement("job_1", "job_2")
            self.assertEqual((found.images, found.flagged, found.latest_share), (5, None, None))
            self.assertEqual(sent.pop().url.raw_path, b"/v1/jobs/job_1/agreement?with=job_2")

    def test_views_are_stored_listed_and_deleted(self) -> None:
        gate = {"name": "gate", "polygon": [[0, 0], [1, 0.5], [0, 1]]}
        north = {"name": "north", "version": 2, "regions": [gate], "paths": ["north/**"]}
        sent, service = self.recorded({**north, "views": [north]})
        for client in self.clients(service):
            view = client.put_view("north", [gate], paths=["north/**"])
            self.assertEqual((view.name, view.version), ("north", 2))
            self.assertEqual((view.regions, view.paths), ((gate,), ("north/**",)))
            request = sent.pop()
            self.assertEqual((request.method, request.url.path), ("PUT", "/v1/views/north"))
            self.assertEqual(body_of(request), {"regions": [gate], "paths": ["north/**"]})
            self.assertEqual([each.name for each in client.views()], ["north"])
            client.delete_view("a b")
            request = sent.pop()
            self.assertEqual((request.method, request.url.raw_path), ("DELETE", b"/v1/views/a%20b"))

    def test_a_submission_carries_a_key_of_its_own_or_the_given_one(self) -> None:
        sent, service = self.recorded(ACCEPTED)
        for client in self.clients(service):
            sent.clear()
            job = client.submit("2026/*.jpg", priority=7, metadata={"camera": "north"})
            client.submit(("a.jpg", "b.jpg"), job_type="detect_cars", idempotency_key="camera 7")
            client.retry(job)
            self.assertEqual(job.job_id, "job_1")
            self.assertEqual(
                body_of(sent[0]),
                {
                    "job_type": "detect_vehicles",
                    "image_paths": ["2026/*.jpg"],
                    "priority": 7,
                    "metadata": {"camera": "north"},
                },
            )
            self.assertEqual(body_of(sent[1])["image_paths"], ["a.jpg", "b.jpg"])
            keys = [request.headers["idempotency-key"] for request in sent]
            self.assertEqual(keys[1], "camera 7")
            self.assertEqual(len(set(keys)), 3)
            self.assertEqual(sent[2].url.path, "/v1/jobs/job_1/retry")

    def test_a_job_takes_paths_only(self) -> None:
        for client in self.clients(answers(ok(ACCEPTED))):
            with self.assertRaisesRegex(TypeError, "sent by detect"):
                client.submit([Path("a.jpg")])

    def test_a_job_is_named_by_its_id_or_a_record_and_cannot_leave_its_path(self) -> None:
        sent, service = self.recorded(status("failed", 4))
        for client in self.clients(service):
            record = client.cancel("job/../1")
            client.status(record)
            self.assertEqual(sent[-2].method, "DELETE")
            self.assertEqual(sent[-2].url.raw_path, b"/v1/jobs/job%2F..%2F1")
            self.assertEqual(sent[-1].url.path, "/v1/jobs/job_1/status")

    def test_a_job_is_changed_and_removed(self) -> None:
        record = {**status("completed", 4), "name": "Monday", "tags": ["north"], "keep": 30}
        sent, service = self.recorded(record)
        for client in self.clients(service):
            edited = client.edit("job_1", name="Monday", tags=["north"], notes=None, keep=30)
            self.assertEqual(sent[-1].method, "PATCH")
            self.assertEqual(sent[-1].url.raw_path, b"/v1/jobs/job_1")
            self.assertEqual(
                json.loads(sent[-1].content),
                {"name": "Monday", "tags": ["north"], "notes": None, "keep": 30},
            )
            self.assertEqual((edited.name, edited.tags, edited.keep), ("Monday", ("north",), 30))
            self.assertEqual(client.remove(edited).job_id, "job_1")
            self.assertEqual(sent[-1].method, "DELETE")
            self.assertEqual(sent[-1].url.raw_path, b"/v1/jobs/job_1?purge=true")

    def test_counts_are_json_or_the_text_of_a_file(self) -> None:
        sent, service = self.recorded({"by": "day", "groups": []})
        for client in self.clients(service):
            self.assertEqual(client.counts("job_1", "day"), {"by": "day", "groups": []})
            self.assertEqual(sent[-1].url.raw_path, b"/v1/jobs/job_1/counts?by=day")
            self.assertEqual(json.loads(client.counts_csv("job_1")), {"by": "day", "groups": []})
            self.assertEqual(sent[-1].url.raw_path, b"/v1/jobs/job_1/counts?by=hour&format=csv")

    def test_a_report_is_the_text_of_a_page(self) -> None:
        sent, service = self.recorded({"page": 1})
        for client in self.clients(service):
            self.assertEqual(json.loads(client.report("job_1", classes=["car"])), {"page": 1})
            self.assertEqual(sent[-1].url.raw_path, b"/v1/jobs/job_1/report?classes=car")

    def test_pictures_are_an_archive(self) -> None:
        sent, service = self.recorded({"zip": 1})
        for client in self.clients(service):
            archive = client.pictures("job_1", "covered", only=["car", "bus"], how="fill", margin=0.2)
            self.assertEqual(json.loads(archive), {"zip": 1})
            query = b"class=car%2Cbus&how=fill&margin=0.2"
            self.assertEqual(sent[-1].url.raw_path, b"/v1/jobs/job_1/covered?" + query)
            client.pictures("job_1")
            self.assertEqual(sent[-1].url.raw_path, b"/v1/jobs/job_1/drawn")

    def test_counts_over_jobs_name_their_watch_and_hours(self) -> None:
        sent, service = self.recorded({"by": "day", "groups": []})
        for client in self.clients(service):
            client.counts_of(watch="north-gate", since="2025-11-01", by="day", classes=["car"])
            path = b"/v1/counts?watch=north-gate&from=2025-11-01&by=day&classes=car"
            self.assertEqual(sent[-1].url.raw_path, path)
            client.counts_of_csv(tag="a b", until="2025-12-01T06:00")
            path = b"/v1/counts?tag=a%20b&to=2025-12-01T06%3A00&by=hour&format=csv"
            self.assertEqual(sent[-1].url.raw_path.replace(b"+", b"%20"), path)

    def test_places_name_their_hours_and_what_is_asked_for(self) -> None:
        sent, service = self.recorded({"places": []})
        for client in self.clients(service):
            client.places(tag="gate", since="2025-11-01", region="bay", occupied=False)
            path = b"/v1/places?tag=gate&from=2025-11-01&region=bay&occupied=false"
            self.assertEqual(sent[-1].url.raw_path, path)
            self.assertEqual(json.loads(client.places_csv(watch="north")), {"places": []})
            self.assertEqual(sent[-1].url.raw_path, b"/v1/places?watch=north&format=csv")

    def test_a_dismissal_may_be_of_a_camera_that_names_tell(self) -> None:
        raw = {"id": 3, "camera": "park/gate", "camera_pattern": "{camera}_*", "box": [1, 2, 3, 4]}
        sent, service = self.recorded(raw)
        for client in self.clients(service):
            client.dismiss_place("job_1", 2, "car", [1, 2, 3, 4], camera_pattern="{camera}_*")
            body = json.loads(sent[-1].content)
            self.assertEqual(body["camera_pattern"], "{camera}_*")
            self.assertEqual(body["box"], [1, 2, 3, 4])

    def test_a_job_is_compared_with_another(self) -> None:
        sent, service = self.recorded({"matching": 0, "images": []})
        for client in self.clients(service):
            found = client.changes("job_1", "job_2", limit=5, confidence_change=0.1)
            self.assertEqual(found, {"matching": 0, "images": []})
            query = b"with=job_2&limit=5&confidence_change=0.1"
            self.assertEqual(sent[-1].url.raw_path, b"/v1/jobs/job_1/changes?" + query)

    def test_a_listing_goes_over_all_pages(self) -> None:
        def pages() -> Handler:
            def page(request: httpx.Request) -> httpx.Response:
                at = int(request.url.params.get("cursor", "0"))
                self.assertEqual(request.url.params["status"], "completed,failed")
                jobs = [status("failed", 4, f"job_{at}"), status("failed", 4, f"job_{at + 1}")]
                return ok({"jobs": jobs, "next_cursor": None if at == 4 else str(at + 2)})

            return page

        for client in self.clients(pages):
            ids = [job.job_id for job in client.jobs(status=["completed", "failed"], limit=2)]
            self.assertEqual(ids, [f"job_{number}" for number in range(6)])

    def test_results_of_one_image_and_of_several_have_the_same_entries(self) -> None:
        one = {**found("a.jpg", CAR), "worker_id": "w"}
        refused = {"code": "image_not_found", "status": 422, "detail": "No such image."}
        several = {
            "images": [
                {**found("a.jpg", CAR), "status": "ok"},
                {"image_path": "b.jpg", "status": "error", "error": refused},
            ],
            **{key: one[key] for key in ("car_count", "total_count", "class_counts", "model")},
            "worker_id": "w",
        }
        record = {
            "job_id": "job_1",
            "status": "completed",
            "error": None,
            "submitted_at": 1,
            "completed_at": 2,
            "metadata": {"camera": "north"},
        }
        for result, failed in ((one, 0), (several, 1)):
            for client in self.clients(answers(ok({**record, "result": result}))):
                job = client.result("job_1")
                self.assertEqual((job.car_count, job.failed_images), (1, failed))
                self.assertEqual(job.images[0].detections[0].confidence, 0.91)
                self.assertEqual([image.ok for image in job.images], [True, False][: 1 + failed])
                if failed:
                    self.assertEqual(job.images[1].error.code, "image_not_found")
                    self.assertEqual(job.images[1].model, "own.pt")

    def test_images_are_read_in_lines_and_a_broken_answer_continues(self) -> None:
        lines = [json.dumps({**found(f"{number}.jpg", CAR), "status": "ok"}) for number in range(3)]
        text = "".join(f"{line}\n" for line in lines).encode()

        def service() -> Handler:
            bodies = [text[: len(text) // 2], text[: len(text) // 4], text]

            def answer(request: httpx.Request) -> httpx.Response:
                self.assertEqual(request.url.params["format"], "ndjson")
                body = bodies.pop(0)
                return httpx.Response(200, stream=Cut(body, breaks=len(bodies) > 0))

            return answer

        for client in self.clients(service):
            images = list(client.iter_results("job_1"))
            self.assertEqual([image.image_path for image in images], ["0.jpg", "1.jpg", "2.jpg"])

    def test_images_of_a_job_that_runs_are_refused(self) -> None:
        for client in self.clients(answers(problem("job_not_finished", 409, "5"))):
            with self.assertRaises(ServiceError) as caught:
                list(client.iter_results("job_1"))
            self.assertEqual(
                (caught.exception.code, caught.exception.retry_after), ("job_not_finished", 5)
            )

    def test_a_failed_job_carries_its_record(self) -> None:
        error = {"code": "cancelled", "status": 409, "detail": "It was cancelled."}
        record = {**status("failed", 0), "result": None, "error": error, "metadata": None}
        for client in self.clients(answers(ok(record))):
            with self.assertRaises(JobFailedError) as caught:
                client.result("job_1")
            self.assertEqual(caught.exception.code, "cancelled")
            self.assertEqual(caught.exception.result.images, ())

    def test_a_refusal_is_typed_and_survives_a_process_pool(self) -> None:
        broken = [{"detail": "Must be a number.", "pointer": "#/priority"}]
        refusal = problem("validation_failed", 422, errors=broken, request_id="r-1")
        for client in self.clients(answers(refusal)):
            with self.assertRaises(ServiceError) as caught:
                client.submit("a.jpg", priority="high")
            for error in (caught.exception, pickle.loads(pickle.dumps(caught.exception))):
                self.assertEqual(
                    (error.code, error.status, error.request_id, error.errors, error.is_passing),
                    ("validation_failed", 422, "r-1", tuple(broken), False),
                )
                self.assertEqual(str(error), "validation_failed (422): It is validation_failed.")

    def test_a_local_file_given_as_str_is_pointed_out(self) -> None:
        with tempfile.NamedTemporaryFile(suffix=".jpg") as file:
            for client in self.clients(answers(problem("path_not_allowed", 422))):
                with self.assertRaisesRegex(ServiceError, r'give pathlib.Path\("/.*"\) to send it'):
                    client.detect(file.name)
                with self.assertRaises(ServiceError) as caught:
                    client.detect("not-there.jpg")
                self.assertNotIn("pathlib", str(caught.exception))


class Repeats(ClientCase):
    def test_a_refusal_is_sent_again_after_retry_after(self) -> None:
        pauses = self.pauses()
        service = answers(
            problem("queue_full", 429, "1"), problem("overloaded", 503, "2"), ok(ACCEPTED)
        )
        for client in self.clients(service):
            pauses.clear()
            self.assertEqual(client.submit("a.jpg").job_id, "job_1")
            self.assertEqual([int(pause) for pause in pauses], [1, 2])

    def test_a_time_that_does_not_fit_is_raised_at_once(self) -> None:
        pauses = self.pauses()
        for client in self.clients(answers(problem("model_not_ready", 503, "60"))):
            with self.assertRaises(ServiceError) as caught:
                client.detect("a.jpg")
            self.assertEqual(caught.exception.retry_after, 60)
        self.assertEqual(pauses, [])

    def test_a_broken_connection_is_repeated_with_the_same_key(self) -> None:
        self.pauses()
        keys: list[str] = []

        def make() -> Handler:
            keys.clear()

            def answer(request: httpx.Request) -> httpx.Response:
                keys.append(request.headers["idempotency-key"])
                if len(keys) < 3:
                    raise httpx.ReadError("broken off")
                return ok(ACCEPTED)

            return answer

        for client in self.clients(make):
            self.assertEqual(client.submit("a.jpg").job_id, "job_1")
            self.assertEqual((len(keys), len(set(keys))), (3, 1))

    def test_it_gives_up_and_says_why(self) -> None:
        pauses = self.pauses()
        for client in self.clients(answers(httpx.ReadError("broken off"))):
            pauses.clear()
            with self.assertRaisesRegex(UnreachableError, "service.test:8000 broke the connection"):
                client.models()
            self.assertEqual(len(pauses), 2)
            with self.assertRaises(UnreachableError):
                client.cancel("job_1")
            self.assertEqual(len(pauses), 2)

    def test_a_late_answer_is_not_asked_for_twice(self) -> None:
        for client in self.clients(answers(httpx.ReadTimeout("late"), ok({"models": []}))):
            with self.assertRaises(CallTimeoutError) as caught:
                client.models()
            self.assertEqual((caught.exception.code, caught.exception.status), ("timeout", None))

    def test_an_answer_of_another_program_is_told(self) -> None:
        proxy = httpx.Response(
            502, headers={"server": "nginx"}, content=b"<html>bad gateway</html>"
        )
        for answer in (proxy, httpx.Response(200, content=b"<html>Welcome</html>")):
            for client in self.clients(answers(answer)):
                with self.assertRaisesRegex(UnexpectedAnswerError, "Check the address"):
                    client.models()


class Addresses(ClientCase):
    def test_address_and_key_come_from_the_environment(self) -> None:
        variables = {"LATTICE_CORE_API_URL": "https://gate.test/api/", "LATTICE_API_KEY": KEY}
        with patch.dict(os.environ, variables), Lattice() as client:
            self.assertEqual(client.base_url, "https://gate.test/api")
            self.assertNotIn(KEY, repr(client))
        with patch.dict(os.environ, {"LATTICE_CORE_API_URL": "", "LATTICE_API_KEY": ""}):
            self.assertEqual(Lattice().base_url, "http://127.0.0.1:8000")

    def test_what_cannot_be_an_address_or_a_key_is_refused(self) -> None:
        for address, part in {
            "localhost:8000": "shape http://HOST:8000",
            "http://host:port": "shape http://HOST:8000",
            "ftp://host": "start with http:// or https://",
            "http://host/v1": "end before /v1",
            "http://user:secret@host": "name no user",
            "http://host?a=1": "plain address",
        }.items():
            with self.subTest(address), self.assertRaises(ValueError) as caught:
                Lattice(base_url=address)
            self.assertIn(part, str(caught.exception))
            self.assertNotIn("secret", str(caught.exception))
        with self.assertRaisesRegex(ValueError, "printable ASCII") as caught:
            Lattice(api_key="two words")
        self.assertNotIn("two words", str(caught.exception))
