import unittest

from torch_tests import needs_torch, torch

if torch:
    from model import DISTANCE_BINS, STRIDES, Detector


@needs_torch
class Model(unittest.TestCase):
    def test_parameters_are_those_of_the_published_n_layout(self):
        def count(classes):
            return sum(p.numel() for p in Detector(classes).parameters())

        self.assertEqual(count(4), 3_011_612)
        # The published figure, 3.157 M with 80 classes, counts the 16 fixed bin numbers too.
        self.assertAlmostEqual(count(80) / 1e6, 3.157, 3)

    def test_maps_have_a_row_for_each_bin_and_class_on_three_levels(self):
        maps = Detector(4).eval()(torch.zeros(2, 3, 96, 64))
        shapes = [tuple(level.shape) for level in maps]
        self.assertEqual(shapes, [(2, 4 * DISTANCE_BINS + 4, 96 // s, 64 // s) for s in STRIDES])

    def test_folding_the_norms_changes_no_answer(self):
        torch.manual_seed(3)
        model = Detector(4)
        model(torch.rand(4, 3, 64, 64))  # moves the running statistics
        model.eval()
        photo = torch.rand(1, 3, 64, 64)
        with torch.inference_mode():
            before = model(photo)
            after = model.fold_norms()(photo)
        for one, other in zip(before, after, strict=True):
            torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-3)
