import json
import tempfile
import unittest
from pathlib import Path

import cv2
import numpy as np

from average_precision import iou_table
from dataset import read_labels
from render import DEMO, write_demo, write_empty, write_set
from scenes.street import DENSE, LEAST_SIDE, render_scene

DEMO_FOLDER = Path(__file__).resolve().parents[3] / "models" / "demo"


class Scenes(unittest.TestCase):
    def test_every_vehicle_has_a_box_inside_the_picture(self):
        vehicles = 0
        for seed in range(25):
            scene = render_scene(320, 240, np.random.default_rng(seed))
            near, far = scene.boxes[:, :2], scene.boxes[:, 2:]
            self.assertEqual(scene.pixels.shape, (240, 320, 3))
            self.assertEqual(len(scene.boxes), len(scene.classes))
            self.assertTrue((near >= 0).all() and (far <= (320, 240)).all())
            self.assertTrue((far - near >= LEAST_SIDE).all())
            vehicles += len(scene.boxes)
        self.assertGreater(vehicles, 25)

    def test_full_streets_have_small_and_half_hidden_vehicles_besides(self):
        small, overlapping = 0, 0
        for seed in range(3):
            scene = render_scene(480, 320, np.random.default_rng(seed), 30, DENSE)
            sides = (scene.boxes[:, 2:] - scene.boxes[:, :2]).min(1)
            self.assertTrue((sides >= DENSE.least_side).all())
            small += int((sides < LEAST_SIDE).sum())
            table = iou_table(scene.boxes, scene.boxes)
            overlapping += int((np.triu(table, 1) > 0.05).sum())
        self.assertGreater(small, 3)
        self.assertGreater(overlapping, 3)

    def test_a_street_may_have_none(self):
        scene = render_scene(320, 240, np.random.default_rng(1), most=0)
        self.assertEqual((scene.boxes.shape, scene.classes.shape), ((0, 4), (0,)))

    def test_all_classes_occur(self):
        classes = [render_scene(160, 120, np.random.default_rng(s)).classes for s in range(40)]
        self.assertEqual(set(np.concatenate(classes).tolist()), {0, 1, 2, 3})

    def test_a_seed_decides_the_scene(self):
        one, two = (render_scene(160, 120, np.random.default_rng(7)) for _ in range(2))
        np.testing.assert_array_equal(one.pixels, two.pixels)
        np.testing.assert_array_equal(one.boxes, two.boxes)


class Render(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def test_the_demo_pictures_are_what_the_script_makes(self):
        write_demo(self.folder)
        for name, _ in DEMO:
            made, kept = (
                json.loads((folder / f"{name}.json").read_text())
                for folder in (self.folder, DEMO_FOLDER)
            )
            self.assertEqual(made, kept)
            pictures = [cv2.imread(str(f / f"{name}.jpg")) for f in (self.folder, DEMO_FOLDER)]
            self.assertLess(np.abs(pictures[0].astype(int) - pictures[1]).mean(), 1)

    def test_a_training_set_has_labels_beside_its_pictures(self):
        write_set(self.folder, 3)
        pictures = sorted((self.folder / "images/train").iterdir())
        self.assertEqual(len(pictures), 3)
        for picture in pictures:
            boxes, classes = read_labels(self.folder / "labels/train" / f"{picture.stem}.txt")
            self.assertEqual(len(boxes), len(classes))
            self.assertTrue((boxes[:, 2:] > boxes[:, :2]).all())

    def test_pictures_without_vehicles_are_streets_and_patterns(self):
        write_empty(self.folder, 4)
        pictures = [cv2.imread(str(path)) for path in sorted(self.folder.iterdir())]
        self.assertEqual([p.shape == (640, 640, 3) for p in pictures], [False, True, False, True])
