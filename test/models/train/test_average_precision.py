import unittest

import numpy as np

from average_precision import (
    Detections,
    Truth,
    average_precision,
    iou_table,
    precision_and_recall,
)

BOX = [10.0, 10, 50, 50]
ELSEWHERE = [100.0, 100, 140, 140]


def found(*rows: tuple[list[float], float, int]) -> Detections:
    boxes, scores, classes = zip(*rows, strict=True) if rows else ((), (), ())
    return Detections(np.array(boxes, float).reshape(-1, 4), np.array(scores), np.array(classes))


def truth(*rows: tuple[list[float], int]) -> Truth:
    boxes, classes = zip(*rows, strict=True) if rows else ((), ())
    return Truth(np.array(boxes, float).reshape(-1, 4), np.array(classes))


class AveragePrecision(unittest.TestCase):
    def test_overlaps_are_shared_area_over_joint_area(self):
        table = iou_table(
            np.array([[0.0, 0, 10, 10]]), np.array([[5.0, 0, 15, 10], [20, 20, 30, 30]])
        )
        np.testing.assert_allclose(table, [[1 / 3, 0]], atol=1e-6)

    def test_everything_found_and_nothing_else_is_1(self):
        pairs = [(found((BOX, 0.9, 0)), truth((BOX, 0))), (found(), truth())]
        self.assertEqual(average_precision(pairs, 0), 1)

    def test_half_found_is_the_share_of_recall_points_reached(self):
        pairs = [(found((BOX, 0.9, 0)), truth((BOX, 0), (ELSEWHERE, 0)))]
        self.assertAlmostEqual(average_precision(pairs, 0), 51 / 101)

    def test_a_surer_false_find_halves_the_precision(self):
        pairs = [(found((ELSEWHERE, 0.9, 0), (BOX, 0.8, 0)), truth((BOX, 0)))]
        self.assertAlmostEqual(average_precision(pairs, 0), 0.5)

    def test_a_less_sure_false_find_costs_nothing(self):
        pairs = [(found((BOX, 0.9, 0), (ELSEWHERE, 0.1, 0)), truth((BOX, 0)))]
        self.assertEqual(average_precision(pairs, 0), 1)

    def test_a_second_find_of_the_same_vehicle_is_false(self):
        pairs = [(found((BOX, 0.9, 0), (BOX, 0.8, 0), (ELSEWHERE, 0.7, 0)),
                  truth((BOX, 0), (ELSEWHERE, 0)))]  # fmt: skip
        # Precision 1 up to recall 0.5, then 2/3.
        self.assertAlmostEqual(average_precision(pairs, 0), (51 + 50 * 2 / 3) / 101)

    def test_another_class_is_no_find(self):
        pairs = [(found((BOX, 0.9, 1)), truth((BOX, 0)))]
        self.assertEqual(average_precision(pairs, 0), 0)

    def test_overlap_below_the_limit_is_no_find(self):
        pairs = [(found(([10, 10, 50, 29], 0.9, 0)), truth((BOX, 0)))]
        self.assertEqual(average_precision(pairs, 0), 0)
        self.assertEqual(average_precision(pairs, 0, 0.4), 1)

    def test_a_class_nobody_labelled_has_no_figure(self):
        self.assertIsNone(average_precision([(found((BOX, 0.9, 0)), truth((BOX, 0)))], 3))

    def test_boxes_of_other_sizes_and_their_finds_do_not_count(self):
        small = [10.0, 10, 26, 26]
        pairs = [(found((ELSEWHERE, 0.9, 0), ([200, 200, 300, 300], 0.8, 0), (small, 0.7, 0)),
                  truth((ELSEWHERE, 0), (small, 0)))]  # fmt: skip
        self.assertEqual(average_precision(pairs, 0, sizes=(0, 32)), 1)
        self.assertEqual(average_precision(pairs, 0, sizes=(32, 96)), 1)
        self.assertIsNone(average_precision(pairs, 0, sizes=(96, np.inf)))
        pairs[0][0].boxes[1] = [200, 200, 220, 220]  # now a false find of that size
        self.assertEqual(average_precision(pairs, 0, sizes=(0, 32)), 0.5)

    def test_precision_and_recall_are_of_the_finds_at_a_threshold(self):
        pairs = [(found((BOX, 0.9, 0), ([60, 60, 90, 90], 0.6, 0), (ELSEWHERE, 0.4, 0)),
                  truth((BOX, 0), (ELSEWHERE, 0)))]  # fmt: skip
        self.assertEqual(precision_and_recall(pairs, 0, 0.5), (0.5, 0.5))
        self.assertEqual(precision_and_recall(pairs, 0, 0.25), (2 / 3, 1))
        self.assertEqual(precision_and_recall(pairs, 0, 0.95), (None, 0))
        self.assertEqual(precision_and_recall(pairs, 3, 0.5), (None, None))
