import unittest
from dataclasses import replace

import numpy as np

from added_labels import IGNORED
from augment import GREY, Strength, augment, letterbox
from backgrounds import empty_crop, rendered_background
from dataset import Photo

WHOLE = (0.0, 0.0, 0.0)
STILL = Strength(mosaics=WHOLE, scale=0, shift=0, hue=0, saturation=0, value=0, grey=0)
MOVING = Strength(hue=0, saturation=0, value=0, grey=0)


def marked_photo(random: np.random.Generator) -> Photo:
    """Black with one white rectangle, which is its labelled box."""
    height, width = random.integers(60, 200, 2)
    near = random.uniform(0.1, 0.4, 2)
    far = near + random.uniform(0.3, 0.5, 2)
    left, top = (near * (width, height)).astype(int)
    right, bottom = (far * (width, height)).astype(int)
    pixels = np.zeros((height, width, 3), np.uint8)
    pixels[top:bottom, left:right] = 255
    box = np.array([[left / width, top / height, right / width, bottom / height]], np.float32)
    return Photo(pixels, box, np.array([1]), True)


class Letterbox(unittest.TestCase):
    def test_fits_centres_and_says_how(self):
        random = np.random.default_rng(1)
        for _ in range(50):
            height, width = random.integers(1, 300, 2)
            canvas, scale, (left, top) = letterbox(np.zeros((height, width, 3), np.uint8), 128)
            self.assertEqual(canvas.shape, (128, 128, 3))
            picture = canvas[top : top + max(1, round(height * scale)), left : 128 - left or None]
            self.assertFalse(picture[:, : max(1, round(width * scale))].any())
            self.assertAlmostEqual(max(height, width) * scale, 128)
            if top:
                self.assertTrue((canvas[:top] == GREY).all())


class Augment(unittest.TestCase):
    def test_boxes_stay_on_what_they_mark(self):
        for seed in range(60):
            random = np.random.default_rng(seed)
            sample = augment([marked_photo(random)], 160, MOVING, random)
            white = sample.pixels.min(2) > 128
            if not len(sample.boxes):
                continue
            rows, columns = np.flatnonzero(white.any(1)), np.flatnonzero(white.any(0))
            seen = [columns[0], rows[0], columns[-1] + 1, rows[-1] + 1]
            with self.subTest(seed=seed):
                np.testing.assert_allclose(sample.boxes[0], seen, atol=2)

    def test_a_mosaic_keeps_the_boxes_of_its_photos(self):
        for count in (4, 9, 16):
            with self.subTest(count=count):
                self.assertGreater(self.boxes_kept(count), 20)

    def boxes_kept(self, count: int) -> int:
        kept = 0
        for seed in range(20):
            random = np.random.default_rng(seed)
            photos = [marked_photo(random) for _ in range(count)]
            sample = augment(photos, 160, MOVING, random)
            self.assertEqual(sample.pixels.shape, (160, 160, 3))
            self.assertTrue((sample.boxes >= 0).all() and (sample.boxes <= 160).all())
            for left, top, right, bottom in np.round(sample.boxes[sample.classes == 1]).astype(int):
                inner = sample.pixels[top + 2 : bottom - 2, left + 2 : right - 2]
                if inner.size:
                    self.assertGreater(inner.mean(), 200)
                    kept += 1
        return kept

    def test_a_window_shows_a_part_at_full_size(self):
        for seed in range(40):
            random = np.random.default_rng(seed)
            photo = marked_photo(random)
            sample = augment([photo], 96, replace(STILL, window=1.0), random, 160)
            longest = 160 / max(photo.pixels.shape[:2])
            whole = (photo.boxes[0, 2:] - photo.boxes[0, :2]) * photo.pixels.shape[1::-1] * longest
            white = sample.pixels.min(2) > 128
            self.assertEqual(sample.pixels.shape, (96, 96, 3))
            for left, top, right, bottom in np.round(sample.boxes).astype(int):
                with self.subTest(seed=seed):
                    self.assertTrue((np.array((right - left, bottom - top)) <= whole + 2).all())
                    self.assertGreater(white[top:bottom, left:right].mean(), 0.9)

    def test_vehicles_of_sixteen_photos_are_small(self):
        random = np.random.default_rng(4)
        photos = [marked_photo(random) for _ in range(16)]
        alone = augment(photos[:1], 160, STILL, random)
        among = augment(photos, 160, STILL, random)
        self.assertGreater(len(among.boxes), 4)
        longest = (among.boxes[:, 2:] - among.boxes[:, :2]).max()
        self.assertLess(longest, 0.5 * (alone.boxes[:, 2:] - alone.boxes[:, :2]).max())

    def test_what_is_hardly_seen_is_neither_taught_nor_denied(self):
        photo = marked_photo(np.random.default_rng(3))
        height, width = photo.pixels.shape[:2]
        tiny = np.array([[0.5, 0.5, 0.5 + 2 / width, 0.5 + 2 / height]], np.float32)
        sample = augment([replace(photo, boxes=tiny)], max(height, width), STILL,
                         np.random.default_rng(1))  # fmt: skip
        self.assertEqual(sample.classes.tolist(), [IGNORED])

    def test_the_same_random_numbers_give_the_same_sample(self):
        photo = marked_photo(np.random.default_rng(3))
        one, two = (augment([photo], 96, Strength(), np.random.default_rng(8)) for _ in range(2))
        np.testing.assert_array_equal(one.pixels, two.pixels)
        np.testing.assert_array_equal(one.boxes, two.boxes)

    def test_without_strength_only_the_mirror_is_left(self):
        photo = marked_photo(np.random.default_rng(3))
        for seed in range(6):
            sample = augment([photo], 128, STILL, np.random.default_rng(seed))
            width = (sample.boxes[:, 2] - sample.boxes[:, 0]) / max(photo.pixels.shape[:2])
            wanted = (photo.boxes[:, 2] - photo.boxes[:, 0]) * photo.pixels.shape[1]
            np.testing.assert_allclose(
                width * max(photo.pixels.shape[:2]) ** 2 / 128, wanted, atol=2
            )


class Backgrounds(unittest.TestCase):
    def test_a_crop_holds_no_part_of_a_vehicle(self):
        crops = 0
        for seed in range(60):
            random = np.random.default_rng(seed)
            crop = empty_crop(marked_photo(random), random)
            if crop is not None:
                crops += 1
                self.assertFalse(crop.pixels.any())
                self.assertEqual(len(crop.boxes), 0)
        self.assertGreater(crops, 10)

    def test_a_photo_full_of_vehicle_has_none(self):
        photo = marked_photo(np.random.default_rng(1))
        full = Photo(photo.pixels, np.array([[0, 0, 1, 1]], np.float32), photo.classes, True)
        self.assertIsNone(empty_crop(full, np.random.default_rng(1)))

    def test_a_rendered_one_is_complete(self):
        photo = rendered_background(96, np.random.default_rng(2))
        self.assertEqual(photo.pixels.shape, (96, 96, 3))
        self.assertTrue(photo.complete)
