import tempfile
import unittest
from pathlib import Path

import cv2
import numpy as np

from added_labels import IGNORED, AddedBoxes, read_added, write_added
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

    def test_companions_are_drawn_as_often_as_the_weights_say(self):
        for name in ("twice", "half"):
            write_photo(self.folder / name / "images/train/a.png", 1)
        sources = [Source(n, self.folder / n, w, False) for n, w in (("twice", 2.0), ("half", 0.5))]
        drawn = PhotoStore(sources, 64).draw(10_000, np.random.default_rng(5))
        self.assertAlmostEqual((drawn == 0).mean(), 0.8, delta=0.02)

    def test_where_the_teacher_is_not_taught_its_finds_are_left_out_of_the_loss(self):
        write_photo(self.folder / "images/train/a.png", 1)
        finds = AddedBoxes(np.array([[0.1, 0.1, 0.2, 0.2]], np.float32), np.array([1]))
        for taught, label in ((True, 1), (False, IGNORED)):
            source = Source("set", self.folder, 1.0, False, taught)
            store = PhotoStore([source], 64, added={"set/a": finds})
            self.assertEqual(store.photos[0].classes.tolist(), [label])

    def test_one_in_twenty_training_photos_is_held_back_with_its_copies(self):
        for index in range(200):
            write_photo(self.folder / f"images/train/{index}.rf.a.png", 1, (2, 2))
            write_photo(self.folder / f"images/train/{index}.rf.b.png", 1, (2, 2))
        source = Source("set", self.folder, 1.0, False)
        parts = [{p.name for p in source.photos(part)} for part in ("train", "held-back")]
        self.assertEqual(len(parts[0]) + len(parts[1]), 400)
        self.assertFalse(parts[0] & parts[1])
        self.assertTrue(4 <= len(parts[1]) <= 40)
        for name in parts[1]:
            self.assertIn(name.replace(".a.", ".b."), parts[1])
        complete = Source("set", self.folder, 1.0, True)
        self.assertEqual(len(complete.photos("train")), 400)

    def test_added_boxes_come_back_from_their_file(self):
        random = np.random.default_rng(1)
        added = {
            f"set/{index}": AddedBoxes(
                random.random((index, 4)).round(4), random.integers(IGNORED, 4, index)
            )
            for index in range(5)
        }
        write_added(self.folder / "added.txt", added)
        back = read_added(self.folder / "added.txt")
        self.assertEqual(list(back), list(added))
        for name, boxes in added.items():
            np.testing.assert_allclose(back[name].boxes, boxes.boxes, atol=1e-6)
            np.testing.assert_array_equal(back[name].classes, boxes.classes)

    def test_an_added_line_of_another_form_is_refused(self):
        for text in ("0 1 2 3 4\n", "# set/a\n0 1 2 3\n"):
            (self.folder / "bad.txt").write_text(text)
            with self.subTest(text), self.assertRaisesRegex(ValueError, r"bad.txt:\d"):
                read_added(self.folder / "bad.txt")

    def test_added_boxes_join_the_labels_and_other_photos_are_left_out(self):
        for name in ("a", "b"):
            write_photo(self.folder / f"images/train/{name}.png", ord(name))
        (self.folder / "labels/train").mkdir(parents=True)
        (self.folder / "labels/train/a.txt").write_text("2 0.5 0.5 0.2 0.4\n")
        added = {"set/a": AddedBoxes(np.array([[0.1, 0.1, 0.2, 0.2]]), np.array([IGNORED]))}
        store = PhotoStore([Source("set", self.folder, 1.0, False)], 64, added=added)
        self.assertEqual(len(store), 1)
        self.assertEqual(store.photos[0].classes.tolist(), [2, IGNORED])
