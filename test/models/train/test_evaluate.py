import tempfile
import unittest
from pathlib import Path

import cv2
import numpy as np

from torch_tests import needs_torch, torch

if torch:
    from average_precision import Detections, Truth
    from evaluate import coco_photos, false_alarms, find, labelled, photo_files, report_on


class Sees:
    """Finds one vehicle per score wherever it looks."""

    def __init__(self, *scores: float):
        self.scores = np.array(scores)

    def detect(self, pixels: np.ndarray) -> "Detections":
        count = len(self.scores)
        return Detections(np.zeros((count, 4)), self.scores, np.zeros(count, int))


@needs_torch
class Evaluate(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)
        for part in ("images", "labels"):
            (self.folder / part).mkdir()
        for name in ("a", "b"):
            cv2.imwrite(str(self.folder / f"images/{name}.jpg"), np.zeros((9, 9, 3), np.uint8))

    def test_vehicles_of_coco_get_our_classes_and_others_are_left_out(self):
        rows = "".join(f"{label} 0.5 0.5 0.2 0.2\n" for label in (0, 7, 2, 5, 3, 6, 79))
        (self.folder / "labels/a.txt").write_text(rows)
        (one, boxes, classes), (two, none, _) = coco_photos(self.folder)
        self.assertEqual((one.name, two.name), ("a.jpg", "b.jpg"))
        self.assertEqual(classes.tolist(), [3, 0, 2, 1])
        self.assertEqual((boxes.shape, none.shape), ((4, 4), (0, 4)))

    def test_a_folder_of_ones_own_is_judged_by_its_labels(self):
        (self.folder / "labels/a.txt").write_text("3 0.5 0.5 0.5 0.5\n")
        (first, second) = find(Sees(), labelled(photo_files(self.folder / "images")))
        self.assertEqual(first[1].classes.tolist(), [3])
        np.testing.assert_allclose(first[1].boxes, [[2.25, 2.25, 6.75, 6.75]])
        self.assertEqual(len(second[1].boxes), 0)

    def test_false_alarms_are_boxes_from_the_default_threshold_on(self):
        photos = sorted((self.folder / "images").iterdir())
        figures = false_alarms(Sees(0.9, 0.5, 0.49), photos)
        self.assertEqual((figures["photos"], figures["boxes"]), (2, 4))
        self.assertEqual(figures["per 100 photos"], 200)
        self.assertEqual(figures["where"], {"a.jpg": 2, "b.jpg": 2})

    def test_a_report_tells_sizes_and_thresholds_apart(self):
        small, large = [0.0, 0, 10, 10], [100.0, 100, 300, 300]
        found = Detections(np.array([large, small]), np.array([0.8, 0.3]), np.array([0, 0]))
        truth = Truth(np.array([large, small]), np.array([0, 0]))
        report = report_on([(found, truth)])
        self.assertEqual(report["AP50"], {"mAP50": 1, "car": 1})
        self.assertEqual(report["AP50-95"], {"mAP50-95": 1, "car": 1})
        self.assertEqual(report["AP50 below 32 px"]["car"], 1)
        self.assertEqual(report["AP50 above 96 px"]["car"], 1)
        self.assertEqual(report["recall at 0.5"], {"car": 0.5})
        self.assertEqual(report["recall at 0.25"], {"car": 1})
        self.assertEqual(report["precision at 0.5"], {"car": 1})
