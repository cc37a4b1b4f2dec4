import tempfile
import unittest
from pathlib import Path

import cv2
import numpy as np

from dataset import PhotoStore, Source, read_labels, read_photo, refuse_held_out


def write_photo(path: Path, seed: int, size: tuple[int, int] = (40, 60)) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    cv2.imwrite(str(path), np.random.default_rng(seed).integers(0, 256, (*size, 3), np.uint8))


class Dataset(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def test_labels_become_corners_clipped_to_the_photo(self):
        path = self.folder / "a.txt"
        path.write_text("2 0.5 0.5 0.2 0.4\n\n0 0.05 0.5 0.2 0.2\n")
        boxes, classes = read_labels(path)
        np.testing.assert_allclose(boxes, [[0.4, 0.3, 0.6, 0.7], [0, 0.4, 0.15, 0.6]], atol=1e-6)
        self.assertEqual(classes.tolist(), [2, 0])

    def test_no_file_means_no_vehicles(self):
        boxes, classes = read_labels(self.folder / "none.txt")
        self.assertEqual((boxes.shape, classes.shape), ((0, 4), (0,)))

    def test_lines_of_another_form_are_refused(self):
        for line in ("0 0.5 0.5 0.2", "4 0.5 0.5 0.2 0.2", "-1 0.5 0.5 0.2 0.2"):
            (self.folder / "bad.txt").write_text(line)
            with self.subTest(line), self.assertRaises(ValueError):
                read_labels(self.folder / "bad.txt")

    def test_photos_are_rgb_and_made_smaller_only(self):
        path = self.folder / "red.png"
        cv2.imwrite(str(path), np.full((40, 80, 3), (0, 0, 255), np.uint8))
        self.assertEqual(read_photo(path, 40).shape, (20, 40, 3))
        self.assertEqual(read_photo(path, 400).shape, (40, 80, 3))
        self.assertEqual(read_photo(path)[0, 0].tolist(), [255, 0, 0])

    def test_a_training_photo_that_is_held_out_stops_the_run(self):
        write_photo(self.folder / "images/train/a.png", 1)
        write_photo(self.folder / "images/valid/b.png", 2)
        source = Source("set", self.folder, 1.0, False)
        refuse_held_out([source], source.photos("train"))
        write_photo(self.folder / "images/train/copy.png", 2)
        with self.assertRaisesRegex(ValueError, "copy.png is also a held-out photo"):
            refuse_held_out([source], source.photos("train"))

    def test_weights_say_how_often_an_epoch_draws_a_photo(self):
        for index in range(4):
            write_photo(self.folder / f"twice/images/train/{index}.png", index)
            write_photo(self.folder / f"half/images/train/{index}.png", 10 + index)
        sources = [
            Source("twice", self.folder / "twice", 2.0, False),
            Source("half", self.folder / "half", 0.5, False),
        ]
        store = PhotoStore(sources, 64)
        random = np.random.default_rng(5)
        turns = sum(np.bincount(store.epoch_order(random), minlength=8) for _ in range(400))
        np.testing.assert_array_equal(turns[:4], 800)
        np.testing.assert_allclose(turns[4:], 200, atol=40)
