import tempfile
import unittest
from pathlib import Path

import cv2
import numpy as np
import onnx
from onnx import TensorProto, helper

from quantize import Photos, first_convolutions, last_convolutions, letterboxed


def chain(*convolutions: tuple[str, int]) -> onnx.ModelProto:
    """Convolutions of 1 x 1 and so many channels, one after another."""
    nodes, weights, value, channels = [], [], "images", 3
    for name, wide in convolutions:
        shape = [wide, channels, 1, 1]
        weights.append(helper.make_tensor(f"{name}.w", TensorProto.FLOAT, shape,
                                          np.zeros(wide * channels)))  # fmt: skip
        nodes.append(helper.make_node("Conv", [value, f"{name}.w"], [f"{name}.out"], name))
        nodes.append(helper.make_node("Sigmoid", [f"{name}.out"], [f"{name}.act"], f"{name}.s"))
        value, channels = f"{name}.act", wide
    sides = ["batch", 3, "height", "width"]
    images = helper.make_tensor_value_info("images", TensorProto.FLOAT, sides)
    output = helper.make_tensor_value_info(value, TensorProto.FLOAT, None)
    return helper.make_model(helper.make_graph(nodes, "chain", [images], [output], weights))


class Graph(unittest.TestCase):
    def test_only_the_convolution_on_the_pixels_is_first(self):
        self.assertEqual(first_convolutions(chain(("a", 8), ("b", 8), ("c", 4))), ["a"])

    def test_the_convolution_nearest_to_the_output_is_last(self):
        self.assertEqual(last_convolutions(chain(("a", 8), ("b", 8), ("c", 4))), ["c"])

    def test_the_one_that_turns_bins_into_distances_does_not_hide_the_head(self):
        self.assertEqual(last_convolutions(chain(("a", 8), ("b", 64), ("bins", 1))), ["b", "bins"])


class Calibration(unittest.TestCase):
    def test_photos_are_letterboxed_and_unreadable_ones_passed_over(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            cv2.imwrite(str(folder / "a.png"), np.full((20, 40, 3), (0, 0, 255), np.uint8))
            (folder / "b.jpg").write_text("no photo")
            (folder / "notes.txt").write_text("")
            photo = letterboxed(folder / "a.png", 64)
            self.assertEqual(photo.shape, (1, 3, 64, 64))
            self.assertEqual(photo[0, :, 32, 32].tolist(), [1, 0, 0])
            self.assertAlmostEqual(float(photo[0, 0, 0, 0]), 114 / 255, 6)
            photos = Photos(folder, 10, 64, "images")
            self.assertIsNotNone(photos.get_next())
            self.assertIsNone(photos.get_next())
            self.assertEqual(photos.used, 1)
