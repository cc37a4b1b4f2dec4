import unittest

import numpy as np

from added_labels import IGNORED
from dataset import Photo
from pasting import paste_beside, whole_vehicle


def street(value: int, *boxes: list[float], label: int = 0) -> Photo:
    """Black, with boxes of one brightness."""
    pixels = np.zeros((200, 400, 3), np.uint8)
    for left, top, right, bottom in (np.array(boxes) * (400, 200, 400, 200)).astype(int):
        pixels[top:bottom, left:right] = value
    return Photo(pixels, np.array(boxes, np.float32), np.full(len(boxes), label), True)


class Pasting(unittest.TestCase):
    def test_a_pasted_vehicle_stands_on_the_ground_line_of_another_and_touches_no_box(self):
        photo = street(90, [0.45, 0.6, 0.55, 0.8])
        donor = street(250, [0.3, 0.2, 0.6, 0.6], label=2)
        pasted = 0
        for seed in range(40):
            new = paste_beside(photo, [donor], np.random.default_rng(seed))
            np.testing.assert_array_equal(new.boxes[0], photo.boxes[0])
            if len(new.boxes) == 1:
                np.testing.assert_array_equal(new.pixels, photo.pixels)
                continue
            pasted += 1
            left, top, right, bottom = (new.boxes[1] * (400, 200, 400, 200)).round().astype(int)
            self.assertEqual(new.classes.tolist(), [0, 2])
            self.assertAlmostEqual(new.boxes[1, 3], 0.8, delta=0.01)
            self.assertTrue(right <= 180 or left >= 220)
            self.assertGreater(new.pixels[top:bottom, left:right].max(), 200)
        self.assertGreater(pasted, 5)

    def test_the_photo_itself_is_not_changed(self):
        photo = street(90, [0.45, 0.6, 0.55, 0.8])
        before = photo.pixels.copy()
        for seed in range(10):
            paste_beside(photo, [street(250, [0.3, 0.2, 0.6, 0.6])], np.random.default_rng(seed))
        np.testing.assert_array_equal(photo.pixels, before)

    def test_a_photo_without_vehicles_stays_empty(self):
        empty = Photo(np.zeros((50, 50, 3), np.uint8), np.zeros((0, 4), np.float32),
                      np.zeros(0, np.int64), True)  # fmt: skip
        donor = street(250, [0.3, 0.2, 0.6, 0.6])
        self.assertEqual(len(paste_beside(empty, [donor], np.random.default_rng(1)).boxes), 0)

    def test_cut_touched_and_doubtful_vehicles_are_not_copied(self):
        random = np.random.default_rng(1)
        self.assertIsNotNone(whole_vehicle(street(9, [0.3, 0.3, 0.6, 0.6]), random))
        self.assertIsNone(whole_vehicle(street(9, [0, 0.3, 0.6, 0.6]), random))
        overlapping = street(9, [0.3, 0.3, 0.6, 0.6], [0.5, 0.5, 0.8, 0.8])
        self.assertIsNone(whole_vehicle(overlapping, random))
        doubtful = street(9, [0.3, 0.3, 0.6, 0.6], label=IGNORED)
        self.assertIsNone(whole_vehicle(doubtful, random))
