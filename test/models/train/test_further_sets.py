import tempfile
import unittest
from pathlib import Path

import cv2
import numpy as np

from dataset import read_labels
from further_sets import (
    FurtherSet,
    convert,
    originals,
    photo_hash,
    read_export_labels,
    without_border,
)

NOTHING_HELD_OUT = np.zeros((0, 256), bool)


def picture(seed: int, size: tuple[int, int] = (90, 120)) -> np.ndarray:
    """Smooth patches, so that JPEG changes little. RGB."""
    cells = np.random.default_rng(seed).integers(60, 256, (12, 12, 3), np.uint8)
    return cv2.resize(cells, size[::-1], interpolation=cv2.INTER_LINEAR)


class FurtherSets(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)
        for part in ("images/train", "labels/train"):
            (self.folder / "out" / part).mkdir(parents=True)

    def write(self, name: str, pixels: np.ndarray, label: str = "") -> Path:
        path = self.folder / "set/train/images" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        cv2.imwrite(str(path), pixels[..., ::-1])
        labels = self.folder / "set/train/labels" / f"{path.stem}.txt"
        labels.parent.mkdir(parents=True, exist_ok=True)
        labels.write_text(label)
        return path

    def test_of_copies_the_one_with_the_least_noise_is_taken(self):
        clean, other = picture(1), picture(2)
        noisy = clean.copy()
        noisy[np.random.default_rng(3).random(clean.shape[:2]) < 0.05] = 255
        self.write("a.rf.1.png", noisy)
        best = self.write("a.rf.2.png", clean)
        alone = self.write("b.rf.1.png", other)
        found = originals(self.folder, FurtherSet("set", ("train",), {}))
        self.assertEqual(list(found), [best, alone])

    def test_boxes_and_outlines_are_read_and_other_classes_left_out(self):
        path = self.write(
            "a.png", picture(1), "1 0.5 0.5 0.2 0.4\n0 0.1 0.1 0.1 0.1\n2 0.1 0.2 0.5 0.2 0.4 0.6\n"
        )
        rows = read_export_labels(path, {"1": 0, "2": 3}, (120, 90))
        self.assertEqual([label for label, _ in rows], [0, 3])
        np.testing.assert_allclose(rows[0][1], [0.4, 0.3, 0.6, 0.7])
        np.testing.assert_allclose(rows[1][1], [0.1, 0.2, 0.5, 0.6])

    def test_corners_in_pixels_are_read_after_a_word(self):
        path = self.write("a.png", picture(1), "car 12 9 60 45\nperson 0 0 50 50\n")
        ((label, box),) = read_export_labels(path, {"car": 0}, (120, 90))
        self.assertEqual(label, 0)
        np.testing.assert_allclose(box, [0.1, 0.1, 0.5, 0.5])

    def test_a_black_border_is_cut_off_and_boxes_move_with_the_photo(self):
        pixels = np.zeros((150, 120, 3), np.uint8)
        pixels[30:120] = picture(1)
        # 12 to 60 across and 48 to 84 down, of which the border above takes 30.
        path = self.write("a.png", pixels, "5 0.3 0.44 0.4 0.24\n")
        self.assertEqual(without_border(pixels)[1], (0, 30))
        self.assertTrue(convert(path, self.folder / "out", {"5": 2}, NOTHING_HELD_OUT))
        written = cv2.imread(str(self.folder / "out/images/train/a.jpg"))
        self.assertEqual(written.shape[:2], (90, 120))
        boxes, classes = read_labels(self.folder / "out/labels/train/a.txt")
        self.assertEqual(classes.tolist(), [2])
        np.testing.assert_allclose(boxes, [[0.1, 0.2, 0.5, 0.6]], atol=1e-5)

    def test_a_photo_like_a_held_out_one_is_left_out(self):
        pixels = picture(1, (360, 480))
        held_out = np.stack([photo_hash(pixels)])
        smaller = cv2.resize(pixels, (200, 150), interpolation=cv2.INTER_AREA)
        out = self.folder / "out"
        self.assertFalse(convert(self.write("same.png", smaller), out, {}, held_out))
        self.assertTrue(convert(self.write("other.png", picture(2)), out, {}, held_out))
        self.assertEqual([p.name for p in (out / "images/train").iterdir()], ["other.jpg"])


if __name__ == "__main__":
    unittest.main()
