"""Photos of this machine as a job: what is sent, under which names, and what becomes of it."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from urllib.parse import unquote

import httpx

from client_case import ClientCase, problem
from lattice_client import PictureError, ServiceError

ACCEPTED = {"job_id": "job_1", "status": "pending", "message": "Job accepted with 2 images."}


class Uploads(ClientCase):
    def setUp(self) -> None:
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.photos = Path(folder.name, "holiday")
        (self.photos / "day 2").mkdir(parents=True)
        for name in ("a.jpg", "day 2/é.jpg", "broken.jpg", "b.HEIC"):
            (self.photos / name).write_bytes(name.encode())
        self.requests: list[tuple[str, str]] = []
        self.plan: list[dict[str, object]] = []
        self.job: dict[str, object] = {}
        self.refused = 422

    def service(self, request: httpx.Request) -> httpx.Response:
        path = unquote(request.url.path)
        self.requests.append((request.method, path))
        if path == "/v1/uploads":
            self.plan = json.loads(request.content)["files"]
            left_out = [{"name": "holiday/b.HEIC", "kind": "HEIC", "detail": "Not read."}]
            return httpx.Response(201, json={"upload_id": "up_1", "left_out": left_out})
        if path.endswith("/broken.jpg"):
            code = "unsupported_image_format" if self.refused == 422 else "uploads_full"
            return problem(code, self.refused)
        if request.method == "PUT":
            if "/holiday/" in path:
                self.assertEqual(request.content.decode(), path.split("/holiday/")[1])
            self.assertIn("modified_at", request.url.params)
            return httpx.Response(201, json={"name": path, "bytes": 1})
        if request.method == "DELETE":
            return httpx.Response(204)
        self.job = json.loads(request.content)
        return httpx.Response(202, json=ACCEPTED)

    def test_a_folder_becomes_a_job_of_the_files_that_are_taken(self) -> None:
        for client in self.clients(lambda: self.service):
            self.requests.clear()
            accepted = client.submit(upload=self.photos, job_type="batch_detect")
            self.assertEqual(accepted.job_id, "job_1")
            self.assertEqual(
                [each["name"] for each in self.plan],
                ["holiday/a.jpg", "holiday/b.HEIC", "holiday/broken.jpg", "holiday/day 2/é.jpg"],
            )
            sent = [path for method, path in self.requests if method == "PUT"]
            self.assertEqual(
                sent,
                [
                    f"/v1/uploads/up_1/holiday/{name}"
                    for name in ("a.jpg", "broken.jpg", "day 2/é.jpg")
                ],
            )
            self.assertEqual(
                self.job, {"job_type": "batch_detect", "image_paths": ["."], "upload": "up_1"}
            )

    def test_what_was_sent_is_removed_where_there_is_no_room(self) -> None:
        self.refused = 507
        for client in self.clients(lambda: self.service):
            self.requests.clear()
            with self.assertRaises(ServiceError) as raised:
                client.submit(upload=[str(self.photos)])
            self.assertEqual(raised.exception.code, "uploads_full")
            self.assertEqual(self.requests[-1], ("DELETE", "/v1/uploads/up_1"))

    def test_two_files_of_one_name_are_two(self) -> None:
        for client in self.clients(lambda: self.service):
            client.submit(upload=[self.photos / "a.jpg", self.photos / "a.jpg"])
            self.assertEqual([each["name"] for each in self.plan], ["a.jpg", "a (2).jpg"])

    def test_paths_or_photos(self) -> None:
        for client in self.clients(lambda: self.service):
            with self.assertRaises(ValueError):
                client.submit()
            with self.assertRaises(ValueError):
                client.submit("street.jpg", upload=self.photos)
            with self.assertRaises(PictureError):
                client.submit(upload=self.photos / "absent")
