import tempfile
import unittest
from pathlib import Path

import numpy as np

from torch_tests import needs_torch, torch

if torch:
    from detection import ExportDetector, PhotoDetector, suppress
    from export import describe, to_onnx
    from model import Detector


@needs_torch
class Suppression(unittest.TestCase):
    def test_kept_boxes_do_not_overlap_and_dropped_ones_do(self):
        random = np.random.default_rng(4)
        for _ in range(20):
            near = random.uniform(0, 100, (60, 2))
            boxes = np.concatenate((near, near + random.uniform(5, 60, (60, 2))), 1)
            scores, classes = random.random(60), random.integers(0, 3, 60)
            kept = suppress(boxes, scores, classes, 0.5)
            self.assertEqual(scores[kept].tolist(), sorted(scores[kept], reverse=True))
            for index in range(60):
                rivals = [k for k in kept if k != index and classes[k] == classes[index]
                          and overlap(boxes[k], boxes[index]) > 0.5]  # fmt: skip
                surer = [k for k in rivals if scores[k] > scores[index]]
                self.assertEqual(index not in kept, bool(surer))


def overlap(a: np.ndarray, b: np.ndarray) -> float:
    width = max(0.0, min(a[2], b[2]) - max(a[0], b[0]))
    height = max(0.0, min(a[3], b[3]) - max(a[1], b[1]))
    areas = (a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1])
    return width * height / (areas - width * height)


@needs_torch
class Photos(unittest.TestCase):
    def test_boxes_are_inside_photos_of_any_shape_and_scores_fall(self):
        torch.manual_seed(5)
        detector = PhotoDetector(Detector(4), 64, threshold=0.0)
        for height, width in ((1, 1), (7, 90), (120, 33)):
            found = detector.detect(np.zeros((height, width, 3), np.uint8))
            self.assertLessEqual(len(found.scores), 300)
            self.assertTrue((np.diff(found.scores) <= 0).all())
            self.assertTrue((found.boxes >= 0).all())
            self.assertTrue((found.boxes <= (width, height, width, height)).all())

    def test_an_export_finds_what_its_checkpoint_finds(self):
        torch.manual_seed(6)
        model = Detector(4).eval()
        photo = np.random.default_rng(1).integers(0, 256, (50, 80, 3), np.uint8)
        wanted = PhotoDetector(model, 64, threshold=0.0).detect(photo)
        with tempfile.TemporaryDirectory() as folder:
            graph = to_onnx(model, 64)
            names = ["car", "motorcycle", "bus", "truck"]
            describe(graph, {"names": names}, 64, "1.0.0")
            path = Path(folder) / "model.onnx"
            path.write_bytes(graph.SerializeToString())
            found = ExportDetector(path, 64, threads=1, threshold=0.0).detect(photo)
        self.assertEqual(len(found.scores), len(wanted.scores))
        np.testing.assert_allclose(found.scores, wanted.scores, atol=1e-4)
        np.testing.assert_allclose(found.boxes.sum(0), wanted.boxes.sum(0), rtol=1e-3)
