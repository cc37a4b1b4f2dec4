"""The client against a stand-in of the service: what it sends, and what refusals, failures and waits become."""

from __future__ import annotations

import contextlib
import io
import time
import unittest
from collections.abc import Iterator
from typing import Any

from loopback_servers import Reply, Routes, service

from lattice_edge.connection import connect
from lattice_edge.edge import Edge
from lattice_edge.faults import (
    JobFailedError,
    JobTimeoutError,
    ServiceError,
    SetupError,
    UnreachableError,
)
from lattice_edge.settings import Settings

NOT_FOUND = {"code": "image_not_found", "status": 422, "detail": "No such image.", "errors": []}


def status(state: str, finished: int) -> dict[str, Any]:
    return {
        "job_id": "job_1",
        "status": state,
        "progress": finished / 4,
        "finished_images": finished,
        "image_count": 4,
    }


class Client(unittest.TestCase):
    @contextlib.contextmanager
    def edge(self, more: Routes) -> Iterator[Edge]:
        with service(key="north-gate-0123456789", more=more) as port:
            address = f"http://127.0.0.1:{port}"
            settings = Settings(service=address, api_key="north-gate-0123456789")
            yield connect(cluster=False, settings=settings)

    def test_what_is_sent(self) -> None:
        sent: list[Any] = []

        def routes(method: str, path: str, body: Any, _: Any) -> Reply:
            sent.append((method, path, body))
            return 200, {"job_id": "job_1", "total_count": 0}, {}

        with self.edge(routes) as edge:
            edge.detect("a.jpg", annotate=True, confidence_threshold=0.3)
            edge.submit("2026/*.jpg", priority=7, metadata={"camera": "north"})
            edge.job("job/../1").status()
            edge.job("job_1").cancel()
        self.assertEqual(
            sent,
            [
                (
                    "POST",
                    "/v1/inference/detect",
                    {"image_path": "a.jpg", "annotate": True, "confidence_threshold": 0.3},
                ),
                (
                    "POST",
                    "/v1/jobs/submit",
                    {
                        "job_type": "detect_vehicles",
                        "image_paths": ["2026/*.jpg"],
                        "priority": 7,
                        "metadata": {"camera": "north"},
                    },
                ),
                ("GET", "/v1/jobs/job%2F..%2F1/status", None),
                ("DELETE", "/v1/jobs/job_1", None),
            ],
        )

    def test_a_refusal_carries_the_problem_document(self) -> None:
        with (
            self.edge(lambda *_: (422, NOT_FOUND, {})) as edge,
            self.assertRaises(ServiceError) as caught,
        ):
            edge.detect("missing.jpg")
        refused = caught.exception
        self.assertEqual((refused.status, refused.code), (422, "image_not_found"))
        self.assertEqual((refused.detail, refused.problem), ("No such image.", NOT_FOUND))

    def test_no_answer_points_to_the_doctor(self) -> None:
        with self.edge(lambda *_: (404, {}, {})) as edge:
            pass
        with self.assertRaisesRegex(UnreachableError, "run `python -m lattice_edge`"):
            edge.detect("a.jpg")

    def test_a_wait_shows_progress_and_outlives_a_restart_of_the_service(self) -> None:
        answers: list[Reply] = [
            (200, status("running", 1), {}),
            (503, {"code": "shutting_down", "detail": "The service is stopping."}, {}),
            (502, b"<html>bad gateway</html>", {}),
            (200, status("running", 3), {}),
            (200, status("completed", 4), {}),
        ]
        seen: list[int] = []
        with self.edge(lambda *_: answers.pop(0)) as edge:
            ended = edge.job("job_1").wait(
                20, lambda record: seen.append(record["finished_images"])
            )
        self.assertEqual(ended["status"], "completed")
        self.assertEqual(seen, [1, 3, 4])

    def test_a_wait_ends_in_time_and_says_how_far_the_job_is(self) -> None:
        start = time.monotonic()
        with (
            self.edge(lambda *_: (200, status("running", 1), {})) as edge,
            contextlib.redirect_stdout(io.StringIO()),
            self.assertRaises(JobTimeoutError) as caught,
        ):
            edge.job("job_1").wait(0.4)
        self.assertLess(time.monotonic() - start, 2)
        self.assertIn("It is running with 1 of 4 images", str(caught.exception))

    def test_an_unknown_job_is_not_waited_for(self) -> None:
        with (
            self.edge(lambda *_: (404, {"code": "job_not_found"}, {})) as edge,
            self.assertRaises(ServiceError) as caught,
        ):
            edge.job("job_1").wait(20)
        self.assertEqual(caught.exception.code, "job_not_found")

    def test_one_image_and_several_have_the_same_entries(self) -> None:
        one = {"image_path": "a.jpg", "detections": [], "worker_id": "w", "model": "m"}
        several = {
            "images": [
                {"image_path": "a.jpg", "status": "ok", "detections": [], "worker_id": "worker-1"},
                {"image_path": "b.jpg", "status": "error", "error": NOT_FOUND},
            ],
            "worker_id": "w",
            "model": "m",
        }
        for result, workers in ((one, ["w"]), (several, ["worker-1", "w"])):
            record = {"status": "completed", "result": result}
            with self.edge(lambda *_, record=record: (200, record, {})) as edge:
                entries = edge.job("job_1").images()
            self.assertEqual([entry["worker_id"] for entry in entries], workers)
            self.assertEqual(entries[0]["status"], "ok")

    def test_a_failed_job_carries_its_record(self) -> None:
        record = {"status": "failed", "result": None, "error": NOT_FOUND, "metadata": None}
        with (
            self.edge(lambda *_: (200, record, {})) as edge,
            self.assertRaises(JobFailedError) as caught,
        ):
            edge.job("job_1").result()
        self.assertEqual(
            (caught.exception.code, caught.exception.record), ("image_not_found", record)
        )

    def test_a_notebook_shows_the_sentence_alone(self) -> None:
        self.assertEqual(SetupError("Do this.")._render_traceback_(), ["SetupError: Do this."])
