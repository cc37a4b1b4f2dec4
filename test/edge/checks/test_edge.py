"""What notebooks have beside the client: the progress line, and pictures from a folder of this machine."""

from __future__ import annotations

import contextlib
import io
import tempfile
import unittest
from pathlib import Path
from typing import Any

from loopback_servers import Reply, service
from PIL import Image

from lattice_client import ImageResult, PictureError
from lattice_edge.connection import connect
from lattice_edge.edge import Edge
from lattice_edge.faults import SetupError
from lattice_edge.settings import Settings

GREY = (90, 90, 90)
CAR = {"class": "car", "confidence": 0.91, "box": [2, 2, 9, 9]}


def status(state: str, finished: int) -> dict[str, Any]:
    times = {"submitted_at": 1, "started_at": 1, "completed_at": None}
    counts = {"progress": finished / 4, "finished_images": finished, "image_count": 4}
    job = {"job_type": "batch_detect", "priority": 0, "worker_id": "", "error": None}
    return {"job_id": "job_1", "status": state, **times, **counts, **job}


class Notebook(unittest.TestCase):
    def test_connect_gives_a_client_whose_wait_shows_the_progress(self) -> None:
        answers = [status("running", 1), status("completed", 4)]

        def routes(_: str, path: str, *__: Any) -> Reply:
            self.assertEqual(path, "/v1/jobs/job_1/status")
            return 200, answers.pop(0), {}

        key = "north-gate-0123456789"
        shown = io.StringIO()
        with service(key=key, more=routes) as port, contextlib.redirect_stdout(shown):
            settings = Settings(service=f"http://127.0.0.1:{port}", api_key=key)
            with connect(cluster=False, settings=settings) as edge:
                self.assertEqual(edge.wait("job_1", timeout=20).finished_images, 4)
        self.assertIn("4/4 images, completed", shown.getvalue())

    def test_a_notebook_shows_the_sentence_alone(self) -> None:
        self.assertEqual(SetupError("Do this.")._render_traceback_(), ["SetupError: Do this."])

    def test_a_key_that_cannot_be_one_is_a_fault_of_the_setup(self) -> None:
        with self.assertRaisesRegex(SetupError, "printable ASCII"):
            Edge(Settings(api_key="two words"))


class Pixels(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name) / "photos"
        self.folder.mkdir()
        exif = Image.Exif()
        exif[0x0112] = 6  # turned by 90 degrees
        Image.new("RGB", (40, 20), GREY).save(self.folder / "turned.jpg", exif=exif)
        Image.new("RGB", (40, 20), GREY).save(self.folder.parent / "outside.jpg")
        self.edge = Edge(Settings(service="http://127.0.0.1:9", images=self.folder))
        self.addCleanup(self.edge.close)

    def found(self, path: str, width: int, height: int) -> ImageResult:
        size = {"width": width, "height": height}
        return ImageResult.read({"image_path": path, "image": size, "detections": [CAR]})

    def test_a_local_copy_is_turned_upright_as_the_boxes_are(self) -> None:
        self.assertEqual(self.edge.drawn(self.found("turned.jpg", 20, 40)).size, (20, 40))

    def test_another_picture_of_that_name_is_refused(self) -> None:
        with self.assertRaisesRegex(PictureError, "20 x 40 pixels, but the service saw 640 x 480"):
            self.edge.drawn(self.found("turned.jpg", 640, 480))

    def test_nothing_outside_the_folder_is_read(self) -> None:
        outside = str(self.folder.parent / "outside.jpg")
        for path in ("../outside.jpg", outside, "absent.jpg", "."):
            with self.assertRaisesRegex(SetupError, "annotate=True, or set LATTICE_EDGE_IMAGES"):
                self.edge.drawn(self.found(path, 40, 20))


if __name__ == "__main__":
    unittest.main()
