import math
import unittest

from torch_tests import needs_torch, torch

if torch:
    from assigner import Objects
    from loss import DetectionLoss, distribution_focal
    from model import Detector


@needs_torch
class Loss(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)
        self.model = Detector(4)
        self.photos = torch.rand(2, 3, 64, 64)
        self.objects = Objects(
            torch.tensor([0, 1]),
            torch.tensor([[8.0, 8, 40, 40], [20, 10, 60, 50]]),
            torch.tensor([0, 2]),
        )

    def test_steps_against_the_gradient_lower_it(self):
        optimiser = torch.optim.AdamW(self.model.parameters(), lr=2e-3)
        loss = DetectionLoss()
        values = []
        for _ in range(25):
            parts = loss(self.model(self.photos), self.objects)
            optimiser.zero_grad()
            parts.total.backward()
            optimiser.step()
            values.append(float(parts.total.detach()))
        self.assertLess(values[-1], 0.5 * values[0])

    def test_the_total_is_the_sum_of_its_parts(self):
        parts = DetectionLoss()(self.model(self.photos), self.objects)
        total = parts.box + parts.distribution + parts.classes
        self.assertAlmostEqual(float(parts.total.detach()), total, 3)

    def test_confident_finds_outside_the_labels_cost_less_where_labels_may_lack(self):
        maps = [level.detach().clone() for level in self.model(self.photos)]
        maps[0][0, -4:, -1, -1] = 4.0  # a sure vehicle in the far corner, not labelled
        loss = DetectionLoss()
        strict = loss(maps, self.objects, torch.tensor([False, False]))
        forgiving = loss(maps, self.objects, torch.tensor([True, True]))
        self.assertEqual((strict.forgiven, forgiving.forgiven), (0, 1))
        self.assertLess(forgiving.classes, strict.classes)
        self.assertEqual(forgiving.box, strict.box)

    def test_ignored_places_have_no_class_loss_but_labelled_vehicles_in_them_do(self):
        maps = [level.detach().clone() for level in self.model(self.photos)]
        nowhere = Objects(torch.zeros(0, dtype=torch.long), torch.zeros(0, 4),
                          torch.zeros(0, dtype=torch.long))  # fmt: skip
        corner = Objects(torch.tensor([0]), torch.tensor([[48.0, 48, 64, 64]]), torch.tensor([-1]))
        loss = DetectionLoss()
        calm = loss(maps, self.objects, ignored=corner)
        plain = loss(maps, self.objects, ignored=nowhere)
        maps[0][0, -4:, -1, -1] = 4.0  # a sure vehicle at the ignored place
        self.assertAlmostEqual(loss(maps, self.objects, ignored=corner).classes, calm.classes, 4)
        self.assertGreater(loss(maps, self.objects, ignored=nowhere).classes, plain.classes + 0.01)
        everywhere = Objects(torch.tensor([0, 1]), torch.tensor([[0.0, 0, 64, 64]] * 2),
                             torch.tensor([-1, -1]))  # fmt: skip
        self.assertGreater(loss(maps, self.objects, ignored=everywhere).classes, 0)

    def test_photos_without_vehicles_have_a_finite_loss(self):
        nothing = Objects(torch.zeros(0, dtype=torch.long), torch.zeros(0, 4),
                          torch.zeros(0, dtype=torch.long))  # fmt: skip
        parts = DetectionLoss()(self.model(self.photos), nothing)
        self.assertTrue(math.isfinite(float(parts.total.detach())))
        self.assertEqual(parts.box, 0)

    def test_the_focal_loss_is_least_at_the_two_bins_around_the_goal(self):
        goal = torch.full((1, 4), 3.25)
        right = torch.full((1, 4, 16), -20.0)
        right[..., 3], right[..., 4] = math.log(0.75), math.log(0.25)
        entropy = -(0.75 * math.log(0.75) + 0.25 * math.log(0.25))
        self.assertAlmostEqual(float(distribution_focal(right.flatten(1), goal)), entropy, 3)
        self.assertGreater(float(distribution_focal(torch.zeros(1, 64), goal)), entropy)
