import unittest

import numpy as np

from torch_tests import needs_torch, torch

if torch:
    from blend import blended, pooled_precision


@needs_torch
class Blend(unittest.TestCase):
    def test_weights_lie_between_both_and_counters_are_those_of_the_end(self):
        start = {"average": {"w": torch.tensor([0.0, 2.0]).half(), "n": torch.tensor(3)}}
        end = {"average": {"w": torch.tensor([4.0, 2.0]), "n": torch.tensor(8)}, "taught": True}
        state = blended(start, end, 0.25)
        self.assertEqual(state["average"]["w"].tolist(), [1.0, 2.0])
        self.assertEqual(int(state["average"]["n"]), 8)
        self.assertTrue(state["taught"])
        self.assertEqual(blended(start, end, 1.0)["average"]["w"].tolist(), [4.0, 2.0])

    def test_precision_falls_with_wrong_finds_before_right_ones_and_with_what_is_missed(self):
        right_first = np.array([[0.9, 1], [0.8, 1], [0.1, 0]])
        wrong_first = np.array([[0.8, 1], [0.9, 0], [0.1, 1]])
        self.assertEqual(pooled_precision(right_first, 2), 1.0)
        self.assertEqual(pooled_precision(right_first, 4), 0.5)
        self.assertAlmostEqual(pooled_precision(wrong_first, 2), 2 / 3)
        self.assertEqual(pooled_precision(np.zeros((0, 2)), 2), 0.0)


if __name__ == "__main__":
    unittest.main()
