import unittest

from torch_tests import needs_torch, torch

if torch:
    from boxes import (
        anchor_points,
        boxes_to_distances,
        distances_to_boxes,
        expected_distances,
        paired_ciou,
        paired_iou,
    )


def random_boxes(count: int, seed: int):
    generator = torch.Generator().manual_seed(seed)
    near = torch.rand(count, 2, generator=generator) * 400
    return torch.cat((near, near + 1 + torch.rand(count, 2, generator=generator) * 200), 1)


@needs_torch
class Boxes(unittest.TestCase):
    def test_anchor_points_are_cell_centres_finest_level_first(self):
        maps = [torch.zeros(1, 5, side, 2 * side) for side in (4, 2, 1)]
        points, strides = anchor_points(maps)
        self.assertEqual(points.shape, (2 * (16 + 4 + 1), 2))
        self.assertEqual(points[0].tolist(), [4, 4])
        self.assertEqual(points[1].tolist(), [12, 4])
        self.assertEqual(points[-1].tolist(), [48, 16])
        self.assertEqual(strides.unique().tolist(), [8, 16, 32])

    def test_distances_and_boxes_are_inverse(self):
        points = torch.rand(50, 2) * 100 + 100
        strides = torch.full((50, 1), 16.0)
        distances = torch.rand(50, 4) * 14
        boxes = distances_to_boxes(distances, points, strides)
        back = boxes_to_distances(boxes, points, strides)
        torch.testing.assert_close(back, distances, atol=1e-3, rtol=0)

    def test_a_distance_is_the_mean_of_its_bins(self):
        logits = torch.full((1, 64), -30.0)
        for side, bin_number in enumerate((0, 3, 7, 15)):
            logits[0, side * 16 + bin_number] = 30
        self.assertEqual(expected_distances(logits)[0].round().tolist(), [0, 3, 7, 15])
        self.assertAlmostEqual(float(expected_distances(torch.zeros(1, 64))[0, 0]), 7.5)

    def test_overlap_is_symmetric_one_for_equal_and_zero_apart(self):
        one, other = random_boxes(200, 1), random_boxes(200, 2)
        torch.testing.assert_close(paired_iou(one, other), paired_iou(other, one))
        torch.testing.assert_close(paired_iou(one, one), torch.ones(200))
        self.assertFalse(paired_iou(one, one + 1000).any())

    def test_complete_overlap_is_never_above_plain_and_feels_distance(self):
        one, other = random_boxes(200, 3), random_boxes(200, 4)
        self.assertTrue((paired_ciou(one, other) <= paired_iou(one, other) + 1e-6).all())
        near, far = paired_ciou(one, one + 300), paired_ciou(one, one + 900)
        self.assertTrue((far < near).all())
