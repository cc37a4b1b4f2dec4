import unittest

import numpy as np

from added_labels import IGNORED
from teacher import Thresholds, added_boxes, agreed, look, tiled

BOX = [0.5, 0.5, 0.6, 0.6]
SIZE = (640, 480)
LIMITS = Thresholds()
NO_LABELS = np.zeros((0, 4))


def added(views, own=NO_LABELS):
    return added_boxes(agreed(views), np.array(own), SIZE, LIMITS)


class Bright:
    """Finds the one bright rectangle of what it is shown."""

    def __call__(self, pixels):
        rows, columns = (np.flatnonzero((pixels > 128).any((2, axis))) for axis in (1, 0))
        if not len(rows):
            return np.zeros((0, 4)), np.zeros(0), np.zeros(0, int)
        box = [columns[0], rows[0], columns[-1] + 1, rows[-1] + 1]
        return np.array([box], float), np.array([0.8]), np.array([0])


class Views(unittest.TestCase):
    def test_all_views_give_the_box_in_the_photo_and_no_part_of_it(self):
        for seed in range(30):
            random = np.random.default_rng(seed)
            pixels = np.zeros((300, 400, 3), np.uint8)
            left, top = random.integers(0, (340, 260))
            pixels[top : top + 25, left : left + 30] = 255
            whole, mirrored, *tiles = look(Bright(), pixels)
            for boxes, _, _ in (whole, mirrored):
                self.assertEqual(boxes.tolist(), [[left, top, left + 30, top + 25]])
            for boxes, _, _ in tiles:
                for box in boxes:
                    self.assertEqual(box.tolist(), [left, top, left + 30, top + 25])

    def test_a_vehicle_across_tiles_is_found_whole_or_not_at_all(self):
        pixels = np.zeros((300, 400, 3), np.uint8)
        pixels[100:200, 60:340] = 255
        self.assertEqual(len(tiled(Bright(), pixels, 3)[0]), 0)


class Added(unittest.TestCase):
    def test_two_views_make_a_label(self):
        result = added([[[*BOX, 0.5, 0]], [], [[*BOX, 0.3, 0]], []])
        np.testing.assert_allclose(result.boxes, [BOX])
        self.assertEqual(result.classes.tolist(), [0])

    def test_one_view_or_a_low_score_is_left_out_of_the_loss(self):
        for views in ([[[*BOX, 0.9, 0]], []], [[[*BOX, 0.3, 0]], [[*BOX, 0.3, 0]]]):
            self.assertEqual(added(views).classes.tolist(), [IGNORED])
        self.assertEqual(len(added([[[*BOX, 0.09, 0]]]).classes), 0)

    def test_views_that_disagree_about_the_class_make_no_label(self):
        views = [[[*BOX, 0.5, 0]], [[*BOX, 0.45, 1]], [[*BOX, 0.45, 0]]]
        self.assertEqual(added(views).classes.tolist(), [IGNORED])

    def test_a_labelled_vehicle_is_not_added_again(self):
        views = [[[*BOX, 0.9, 0]], [[*BOX, 0.9, 0]]]
        self.assertEqual(len(added(views, [[0.5, 0.5, 0.6, 0.61]]).classes), 0)

    def test_a_part_of_a_labelled_vehicle_is_no_label(self):
        views = [[[*BOX, 0.9, 0]], [[*BOX, 0.9, 0]]]
        self.assertEqual(added(views, [[0.4, 0.4, 0.9, 0.9]]).classes.tolist(), [IGNORED])
