import unittest
from pathlib import Path

import cv2
import numpy as np

from torch_tests import needs_torch, torch

if torch:
    from distillation import TEACHER_CLASSES, SoftHead, SoftTeacher, soft_loss
    from model import STRIDES, Detector
    from teacher import Teacher

ROOT = Path(__file__).parents[3]
TEACHER = ROOT.parent / "shared/teacher/yolox_nano.onnx"


@needs_torch
class Loss(unittest.TestCase):
    def scores(self, seed: int) -> list:
        random = torch.Generator().manual_seed(seed)
        return [torch.rand(2, TEACHER_CLASSES, 64 // s, 64 // s, generator=random) for s in STRIDES]

    def test_it_is_nothing_where_the_detector_says_what_the_teacher_says(self):
        scores = self.scores(1)
        loss = soft_loss([level.logit(1e-6) for level in scores], scores)
        self.assertAlmostEqual(float(loss), 0.0, 4)

    def test_it_is_above_nothing_elsewhere(self):
        self.assertGreater(float(soft_loss(self.scores(2), self.scores(3))), 0.1)

    def test_a_picture_without_anything_has_a_finite_loss(self):
        empty = [torch.zeros_like(level) for level in self.scores(4)]
        self.assertTrue(torch.isfinite(soft_loss([level - 6 for level in empty], empty)))

    def test_it_teaches_the_layers_that_the_class_logits_are_made_with(self):
        torch.manual_seed(5)
        detector = Detector(4)
        head = SoftHead(detector.head.class_width)
        torch.nn.init.normal_(head.levels[0].weight)
        levels = detector.neck(detector.backbone(torch.rand(2, 3, 64, 64)))
        soft_loss(head(detector.head.class_features(levels)), self.scores(6)).backward()
        self.assertGreater(float(detector.head.classify[0][0].conv.weight.grad.abs().sum()), 0)
        self.assertGreater(float(detector.backbone.to_stride8[0].conv.weight.grad.abs().sum()), 0)
        self.assertIsNone(detector.head.classify[0][-1].weight.grad)


@needs_torch
@unittest.skipUnless(TEACHER.exists(), "needs ../shared/teacher/yolox_nano.onnx")
class FromYolox(unittest.TestCase):
    def pictures(self, side: int) -> "torch.Tensor":
        """The rendered demo street, upright and mirrored."""
        street = cv2.imread(str(ROOT / "models/demo/street.jpg"))[:, :, ::-1]
        square = cv2.resize(street, (side, side), interpolation=cv2.INTER_AREA)
        return torch.from_numpy(np.stack((square, square[:, ::-1])))

    def test_at_the_models_own_side_the_scores_are_the_models(self):
        pictures = self.pictures(416)
        own = Teacher(TEACHER)
        scores = SoftTeacher(TEACHER, 1)(pictures)
        for index, picture in enumerate(pictures.numpy()):
            canvas = picture[:, :, ::-1].transpose(2, 0, 1)[None].astype(np.float32)
            rows = own.session.run(None, {own.input: canvas})[0][0]
            flat = np.concatenate(
                [level[index].reshape(TEACHER_CLASSES, -1).numpy() for level in scores], 1
            )
            self.assertGreater(flat.max(), 0.1)
            np.testing.assert_allclose(flat.T, rows[:, 4:5] * rows[:, 5:], atol=1e-5)

    def test_large_pictures_have_a_map_per_level_too(self):
        scores = SoftTeacher(TEACHER, 1)(self.pictures(640))
        shapes = [tuple(level.shape) for level in scores]
        self.assertEqual(shapes, [(2, TEACHER_CLASSES, 640 // s, 640 // s) for s in STRIDES])
