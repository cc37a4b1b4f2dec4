"""Boxes and labels in pictures, and where the pixels come from. Needs Pillow."""

from __future__ import annotations

import tempfile
import unittest
from pathlib import Path

from PIL import Image

from lattice_edge.drawing import colour_of, draw, local_picture
from lattice_edge.edge import Edge
from lattice_edge.faults import SetupError
from lattice_edge.settings import Settings

GREY = (90, 90, 90)
CAR = {"class": "car", "confidence": 0.91, "box": [40, 50, 160, 130]}


def rgb(colour: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(colour[1:]))


class Drawing(unittest.TestCase):
    def setUp(self) -> None:
        self.picture = Image.new("RGB", (320, 240), GREY)

    def test_the_box_is_where_the_detection_is_and_the_original_stays(self) -> None:
        drawn = draw(self.picture, [CAR])
        colour = rgb(colour_of("car"))
        for corner in ((40, 90), (160, 90), (100, 130), (160, 130)):
            self.assertEqual(drawn.getpixel(corner), colour)
        self.assertEqual(drawn.getpixel((100, 90)), GREY)
        self.assertEqual(drawn.getpixel((200, 200)), GREY)
        self.assertEqual(self.picture.getcolors(), [(320 * 240, GREY)])

    def test_labels_stay_in_the_picture(self) -> None:
        for box in ([0, 0, 20, 20], [310, 0, 320, 8], [300, 230, 320, 240], [0, 0, 320, 240]):
            drawn = draw(self.picture, [{**CAR, "box": box}])
            self.assertEqual(drawn.size, self.picture.size)
            shades = drawn.convert("L").histogram()
            self.assertGreater(sum(shades[:50]), 20, f"the text of {box} is not to be seen")

    def test_classes_keep_their_colour(self) -> None:
        self.assertEqual(colour_of("Car"), colour_of("car"))
        self.assertEqual(colour_of("train"), colour_of("train"))
        named = {colour_of(name) for name in ("car", "motorcycle", "bus", "truck")}
        self.assertEqual(len(named), 4)

    def test_grey_and_transparent_pictures_are_drawn_in_colour(self) -> None:
        for mode in ("L", "RGBA", "P", "CMYK"):
            drawn = draw(Image.new(mode, (320, 240)), [CAR])
            self.assertEqual(drawn.getpixel((160, 90)), rgb(colour_of("car")))


class Pixels(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name) / "photos"
        self.folder.mkdir()
        exif = Image.Exif()
        exif[0x0112] = 6  # turned by 90 degrees
        Image.new("RGB", (40, 20), GREY).save(self.folder / "turned.jpg", exif=exif)
        Image.new("RGB", (40, 20), GREY).save(self.folder.parent / "outside.jpg")

    def found(self, path: str, width: int, height: int) -> dict[str, object]:
        size = {"width": width, "height": height}
        return {"image_path": path, "image": size, "detections": [{**CAR, "box": [2, 2, 9, 9]}]}

    def test_a_local_copy_is_turned_upright_as_the_boxes_are(self) -> None:
        picture = local_picture(self.folder, self.found("turned.jpg", 20, 40))
        assert picture is not None
        self.assertEqual(picture.size, (20, 40))

    def test_another_picture_of_that_name_is_refused(self) -> None:
        with self.assertRaisesRegex(
            SetupError, "has 20 x 40 pixels, but the service saw 640 x 480"
        ):
            local_picture(self.folder, self.found("turned.jpg", 640, 480))

    def test_nothing_outside_the_folder_is_read(self) -> None:
        outside = str(self.folder.parent / "outside.jpg")
        for path in ("../outside.jpg", outside, "absent.jpg", "."):
            self.assertIsNone(local_picture(self.folder, self.found(path, 40, 20)), path)
        self.assertIsNone(local_picture(None, self.found("turned.jpg", 20, 40)))

    def test_without_pixels_it_says_how_to_get_them(self) -> None:
        edge = Edge(Settings(service="http://127.0.0.1:9", images=self.folder))
        with self.assertRaisesRegex(SetupError, "annotate=True, or set LATTICE_EDGE_IMAGES"):
            edge.drawn(self.found("absent.jpg", 40, 20))


if __name__ == "__main__":
    unittest.main()
