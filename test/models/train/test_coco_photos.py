import tempfile
import unittest
from pathlib import Path

from coco_photos import label_lines, usable


class CocoPhotos(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def photo(self, number: int, licence: int, stored: bool = True) -> dict:
        name = f"{number:012d}.jpg"
        if stored:
            (self.folder / name).touch()
        return {"id": number, "file_name": name, "license": licence, "width": 200, "height": 100}

    def numbers(self, photos: list, annotations: list, only: set | None = None) -> list[int]:
        instances = {"images": photos, "annotations": annotations}
        return [photo["id"] for photo in usable(instances, self.folder, only)]

    def test_only_photos_that_everyone_may_use_are_taken(self):
        photos = [self.photo(number, number) for number in range(1, 9)]
        self.assertEqual(self.numbers(photos, []), [4, 7, 8])

    def test_photos_that_are_not_there_or_not_listed_are_left_out(self):
        photos = [self.photo(1, 4), self.photo(2, 4, stored=False), self.photo(3, 4)]
        self.assertEqual(self.numbers(photos, []), [1, 3])
        self.assertEqual(self.numbers(photos, [], {photos[2]["file_name"]}), [3])

    def test_a_crowd_of_cars_leaves_its_photo_out_and_a_crowd_of_people_does_not(self):
        photos = [self.photo(1, 4), self.photo(2, 4)]
        crowds = [
            {"image_id": 1, "category_id": 3, "iscrowd": 1},
            {"image_id": 2, "category_id": 1, "iscrowd": 1},
        ]
        self.assertEqual(self.numbers(photos, crowds), [2])

    def test_the_four_classes_become_labels(self):
        found = [
            {"category_id": category, "bbox": [20.0, 10.0, 40.0, 20.0]} for category in range(1, 10)
        ]
        place = "0.200000 0.200000 0.200000 0.200000"
        self.assertEqual(
            label_lines(self.photo(1, 4), found), [f"{number} {place}" for number in (0, 1, 2, 3)]
        )
