import unittest

from torch_tests import needs_torch, torch

if torch:
    from assigner import Objects, TaskAlignedAssigner


@needs_torch
class Assigner(unittest.TestCase):
    def setUp(self):
        """An 8 x 8 grid of anchors 10 pixels apart that each propose a box of 30 around them."""
        ticks = torch.arange(8) * 10.0 + 5
        rows, columns = torch.meshgrid(ticks, ticks, indexing="ij")
        self.points = torch.stack((columns, rows), -1).reshape(-1, 2)
        around = torch.cat((self.points - 15, self.points + 15), 1)
        self.boxes = around[None].repeat(2, 1, 1)
        self.scores = torch.full((2, 64, 3), 0.2)

    def assign(self, *rows):
        photo, boxes, classes = zip(*rows, strict=True)
        objects = Objects(torch.tensor(photo), torch.tensor(boxes), torch.tensor(classes))
        return objects, TaskAlignedAssigner().assign(self.scores, self.boxes, self.points, objects)

    def test_chosen_anchors_lie_inside_their_object_in_its_photo(self):
        objects, found = self.assign((0, (0.0, 0, 30, 30), 1), (1, (40.0, 40, 80, 80), 2))
        for photo, anchor, owner in zip(found.photo, found.anchor, found.owner, strict=True):
            left, top, right, bottom = objects.boxes[owner]
            x, y = self.points[anchor]
            self.assertTrue(left < x < right and top < y < bottom)
            self.assertEqual(photo, objects.photo[owner])

    def test_no_anchor_answers_for_two_objects(self):
        _, found = self.assign((0, (0.0, 0, 50, 50), 0), (0, (10.0, 10, 60, 60), 1))
        pairs = list(zip(found.photo.tolist(), found.anchor.tolist(), strict=True))
        self.assertEqual(len(pairs), len(set(pairs)))
        self.assertEqual(set(found.owner.tolist()), {0, 1})

    def test_at_most_ten_anchors_an_object(self):
        _, found = self.assign((0, (0.0, 0, 80, 80), 0))
        self.assertEqual(len(found.owner), 10)

    def test_the_best_anchor_is_to_reach_the_overlap_it_has(self):
        # The object is exactly the box of the anchor at (35, 35).
        _, found = self.assign((0, (20.0, 20, 50, 50), 0))
        best = found.scores.argmax()
        self.assertEqual(self.points[found.anchor[best]].tolist(), [35, 35])
        self.assertAlmostEqual(float(found.scores[best]), 1, 4)

    def test_a_surer_class_score_wins_among_equal_boxes(self):
        self.scores[0, :, 1] = 0.01
        self.scores[0, 9, 1] = 0.9  # the anchor at (15, 15)
        _, found = self.assign((0, (0.0, 0, 40, 40), 1))
        self.assertEqual(int(found.anchor[found.scores.argmax()]), 9)

    def test_a_photo_without_objects_is_all_background(self):
        objects = Objects(torch.zeros(0, dtype=torch.long), torch.zeros(0, 4),
                          torch.zeros(0, dtype=torch.long))  # fmt: skip
        found = TaskAlignedAssigner().assign(self.scores, self.boxes, self.points, objects)
        self.assertEqual(len(found.owner), 0)
