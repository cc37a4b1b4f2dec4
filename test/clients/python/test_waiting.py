"""Waiting for jobs: progress, a service that goes away, deadlines."""

from __future__ import annotations

import io
import time
from contextlib import redirect_stderr
from typing import Any

import httpx

from client_case import ClientCase, Handler, answers, ok, problem, status
from lattice_client import JobStatus, JobTimeoutError, ServiceError


class Waiting(ClientCase):
    def test_progress_is_told_and_a_restart_is_outlived(self) -> None:
        self.pauses()
        service = answers(
            ok(status("running", 1)),
            ok(status("running", 1)),
            problem("shutting_down", 503),
            httpx.Response(502, content=b"<html>bad gateway</html>"),
            httpx.ConnectError("refused"),
            httpx.ConnectError("refused"),
            httpx.ConnectError("refused"),
            httpx.ReadTimeout("late"),
            ok(status("running", 3)),
            ok(status("completed", 4)),
        )
        for client in self.clients(service):
            seen: list[JobStatus] = []
            ended = client.wait("job_1", progress=seen.append)
            self.assertTrue(ended.ended)
            self.assertEqual([each.finished_images for each in seen], [1, 3, 4])

    def test_events_end_with_the_last_job(self) -> None:
        self.pauses()

        def make() -> Handler:
            asked = {"job_1": 0, "job_2": 2}

            def answer(request: httpx.Request) -> httpx.Response:
                job_id = request.url.path.split("/")[3]
                asked[job_id] += 1
                finished = min(asked[job_id], 4)
                return ok(status("completed" if finished == 4 else "running", finished, job_id))

            return answer

        for client in self.clients(make):
            seen = [(each.job_id, each.finished_images) for each in client.events("job_1", "job_2")]
            expected = [("job_1", 1), ("job_2", 3), ("job_1", 2), ("job_2", 4)]
            self.assertEqual(seen, [*expected, ("job_1", 3), ("job_1", 4)])

    def test_it_ends_in_time_and_says_how_far_the_job_is(self) -> None:
        for last, told in (
            (ok(status("running", 1)), "it is running with 1 of 4 images. The job continues."),
            (problem("overloaded", 503), "it was never reached. The job continues. The last call"),
        ):
            for client in self.clients(answers(last)):
                start = time.monotonic()
                with self.assertRaisesRegex(JobTimeoutError, told):
                    client.wait("job_1", timeout=0.3)
                self.assertLess(time.monotonic() - start, 2)

    def test_an_unknown_job_is_not_waited_for(self) -> None:
        for client in self.clients(answers(problem("job_not_found", 404))):
            with self.assertRaises(ServiceError) as caught:
                client.wait("job_1")
            self.assertEqual(caught.exception.code, "job_not_found")

    def test_the_bar_of_rich_shows_images_and_failures(self) -> None:
        self.pauses()
        record: dict[str, Any] = {**status("completed", 4), "failed_images": 1}
        for client in self.clients(answers(ok(status("running", 1)), ok(record))):
            with redirect_stderr(io.StringIO()) as shown:
                client.wait("job_1", progress=True)
            self.assertRegex(shown.getvalue(), r"completed, 1 failed .* 4/4")
