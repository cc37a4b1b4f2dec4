import json
import tempfile
import unittest
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np

from torch_tests import needs_torch, torch

if torch:
    from checkpoint import read_checkpoint
    from dataset import Source
    from distillation import TEACHER_CLASSES
    from model import STRIDES
    from threads import ThreadCount
    from train import Plan, Training

    PLAN = Plan(epochs=2, size=64, batch=4, warm_up_epochs=0.5, judge_every=100)


def bright_is_class_2(images):
    """A teacher that sees class 2 wherever a picture is bright."""
    bright = (images.permute(0, 3, 1, 2).float().mean(1, keepdim=True) > 128).float()
    levels = [torch.zeros(len(images), TEACHER_CLASSES, 64 // s, 64 // s) for s in STRIDES]
    for level, stride in zip(levels, STRIDES, strict=True):
        level[:, 2:3] = torch.nn.functional.avg_pool2d(bright, stride)
    return levels


@needs_torch
class Train(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)
        for part in ("images/train", "labels/train"):
            (self.folder / "set" / part).mkdir(parents=True)
        random = np.random.default_rng(1)
        for index in range(8):
            pixels = random.integers(0, 80, (60, 64, 3), np.uint8)
            pixels[20:40, 16:48] = 250
            cv2.imwrite(str(self.folder / f"set/images/train/{index}.png"), pixels)
            label = self.folder / f"set/labels/train/{index}.txt"
            label.write_text("0 0.5 0.5 0.5 0.33\n")

    def training(self, name: str, plan, teacher=None) -> "Training":
        (self.folder / name).mkdir(exist_ok=True)
        sources = [Source("set", self.folder / "set", 1.0, True)]
        threads = ThreadCount(1, False)
        device = torch.device("cpu")
        return Training(plan, sources, self.folder / name, device, threads, {}, teacher)

    def weights(self, name: str) -> dict:
        return read_checkpoint(self.folder / name / "last.pt")["average"]

    def test_a_run_cut_after_an_epoch_and_resumed_ends_with_the_same_weights(self):
        self.training("whole", PLAN).run()
        cut = self.training("cut", PLAN)
        save = cut.save

        def save_and_stop():
            save()
            raise InterruptedError

        cut.save = save_and_stop
        with self.assertRaises(InterruptedError):
            cut.run()
        resumed = self.training("cut", PLAN)
        resumed.restore(read_checkpoint(self.folder / "cut/last.pt"))
        self.assertEqual(resumed.epoch, 1)
        resumed.run()
        again = self.weights("cut")
        for name, value in self.weights("whole").items():
            torch.testing.assert_close(again[name], value, rtol=0, atol=0)

    def test_a_run_is_not_resumed_without_its_teacher(self):
        self.training("soft", replace(PLAN, epochs=1), bright_is_class_2).run()
        with self.assertRaisesRegex(ValueError, "give the same .*--teacher"):
            self.training("soft", PLAN).restore(read_checkpoint(self.folder / "soft/last.pt"))

    def test_frozen_layers_stay_as_they_are_and_the_others_learn(self):
        training = self.training("frozen", replace(PLAN, frozen=5, epochs=1))
        before = {name: value.clone() for name, value in training.model.state_dict().items()}
        training.run()
        after = training.model.state_dict()
        moved = {name for name, value in before.items() if not torch.equal(value, after[name])}
        self.assertFalse([name for name in moved if name.startswith("backbone.to_stride8")])
        for part in ("backbone.to_stride16", "neck", "head.classify", "head.box"):
            self.assertTrue([name for name in moved if name.startswith(part)], part)

    def test_soft_labels_are_learned_and_the_layers_for_them_are_kept_for_a_resumed_run(self):
        training = self.training("soft", replace(PLAN, epochs=12, rate=0.003), bright_is_class_2)
        self.learns_soft_labels(training)
        again = self.training("soft", PLAN, bright_is_class_2)
        again.restore(read_checkpoint(self.folder / "soft/last.pt"))
        for one, other in zip(
            training.soft_head.parameters(), again.soft_head.parameters(), strict=True
        ):
            torch.testing.assert_close(one, other, rtol=0, atol=0)

    def test_soft_labels_are_learned_with_and_without_bf16(self):
        for bf16 in (False, True):
            with self.subTest(bf16=bf16):
                plan = replace(PLAN, epochs=6, rate=0.003)
                training = self.training(f"soft-{bf16}", plan, bright_is_class_2)
                training.bf16 = bf16
                self.learns_soft_labels(training)

    def learns_soft_labels(self, training) -> None:
        training.run()
        log = [json.loads(x) for x in (training.out / "log.jsonl").read_text().splitlines()]
        self.assertLess(log[-1]["soft"], log[0]["soft"] / 2)
