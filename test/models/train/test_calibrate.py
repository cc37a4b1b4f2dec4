import unittest

import numpy as np

from torch_tests import needs_torch, torch

if torch:
    from added_labels import IGNORED
    from average_precision import Detections
    from calibrate import lowest_score, right_finds


@needs_torch
class Calibrate(unittest.TestCase):
    def test_finds_are_right_wrong_or_not_counted(self):
        here, there, else_where = [0.0, 0, 40, 40], [100.0, 100, 140, 140], [200.0, 0, 240, 40]
        found = Detections(
            np.array([here, here, there, else_where]),
            np.array([0.9, 0.8, 0.7, 0.6]),
            np.array([0, 0, 0, 1]),
        )
        rows = right_finds(found, np.array([here, there]), np.array([0, IGNORED]))
        self.assertEqual(rows.tolist(), [[0.9, 1], [0.8, 0], [0.6, 0]])

    def test_the_lowest_score_keeps_the_share_of_right_finds(self):
        random = np.random.default_rng(1)
        scores = random.random(4000)
        finds = np.stack((scores, random.random(4000) < scores), 1).astype(float)
        # Right with a chance equal to the score: the mean of the scores above t is (1 + t) / 2.
        self.assertAlmostEqual(lowest_score(finds, 0.8), 0.6, delta=0.06)
        self.assertEqual(lowest_score(np.array([[0.9, 0.0]]), 0.8), 1.0)
