import tempfile
import unittest
from pathlib import Path

import cv2
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

from quantize import (
    LARGEST_WEIGHT,
    Network,
    calibrate,
    costs,
    described,
    last_convolutions,
    letterboxed,
    mean_error,
    photos,
    prepared,
    quantized,
    rounded_weights,
    takes_plain_pixels,
)


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
    def test_the_convolution_nearest_to_the_output_is_last(self):
        self.assertEqual(last_convolutions(chain(("a", 8), ("b", 8), ("c", 4))), ["c"])

    def test_networks_of_other_pixels_are_known_by_their_end(self):
        def ends(outputs: dict[str, list[int | str]], *nodes: onnx.NodeProto) -> bool:
            graph = chain(("a", 8), ("b", 4)).graph
            graph.node.extend(nodes)
            del graph.output[:]
            for name, sides in outputs.items():
                graph.output.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, sides))
            return takes_plain_pixels(graph)

        joined = [
            helper.make_node("Concat", ["b.act", "b.act"], ["joined"], axis=2),
            helper.make_node("Transpose", ["joined"], ["rows"], perm=[0, 2, 1]),
        ]
        self.assertTrue(ends({"b.act": [1, 4, 20, 20]}))
        self.assertTrue(ends({"rows": ["batch", 84, "anchors"]}, *joined))
        self.assertTrue(ends({"rows": [1, 84, 8400]}, *joined))
        self.assertTrue(ends({"b.act": [1, 116, 8400], "a.act": [1, 32, 160, 160]}), "of masks")
        self.assertFalse(ends({"rows": [1, 3549, 85]}, *joined), "YOLOX")
        self.assertFalse(ends({"a.act": ["batch", 300, 80], "b.act": ["batch", 300, 4]}), "DETR")

    def test_the_one_that_turns_bins_into_distances_does_not_hide_the_head(self):
        self.assertEqual(last_convolutions(chain(("a", 8), ("b", 64), ("bins", 1))), ["b", "bins"])


def convolution(name: str, read: str, inputs: int, outputs: int, seed: int):
    """Nodes and constants of a convolution of 3 x 3 with its SiLU, `<name>.silu`."""
    weights = np.random.default_rng(seed).normal(0, 0.2, (outputs, inputs, 3, 3))
    nodes = [
        helper.make_node(
            "Conv", [read, f"{name}.w", f"{name}.b"], [f"{name}.out"], name, pads=[1] * 4
        ),
        helper.make_node("Sigmoid", [f"{name}.out"], [f"{name}.sigmoid"], f"{name}.s"),
        helper.make_node("Mul", [f"{name}.out", f"{name}.sigmoid"], [f"{name}.silu"], f"{name}.m"),
    ]
    constants = [
        numpy_helper.from_array(weights.astype(np.float32), f"{name}.w"),
        numpy_helper.from_array(np.zeros(outputs, np.float32), f"{name}.b"),
    ]
    return nodes, constants


def block(opset: int = 17) -> onnx.ModelProto:
    """As detectors have them: a tensor that is split, computed on in part, and joined again."""
    parts = [
        convolution("first", "images", 3, 8, 1),
        convolution("enter", "first.silu", 8, 8, 2),
        convolution("inner", "right", 4, 4, 3),
        convolution("leave", "joined", 12, 8, 4),
        convolution("last", "leave.silu", 8, 5, 5),
    ]
    split = helper.make_node("Split", ["enter.silu"], ["left", "right"], "split", axis=1)
    if opset >= 18:
        split.attribute.append(helper.make_attribute("num_outputs", 2))
    joined = helper.make_node("Concat", ["left", "right", "inner.silu"], ["joined"], "join", axis=1)
    nodes = [node for made, _ in parts for node in made]
    nodes.insert(6, split)
    nodes.insert(10, joined)
    constants = [constant for _, made in parts for constant in made]
    images = helper.make_tensor_value_info("images", TensorProto.FLOAT, [1, 3, 32, 32])
    output = helper.make_tensor_value_info("last.out", TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "block", [images], [output], constants)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


class EightBits(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.network = Network(block())
        random = np.random.default_rng(0)
        cls.pictures = [random.random((1, 3, 32, 32), np.float32) for _ in range(4)]
        cls.seen = calibrate(cls.network, cls.pictures)
        cls.made = quantized(cls.network, cls.network.quantizable(), cls.seen)
        cls.constants = {t.name: numpy_helper.to_array(t) for t in cls.made.graph.initializer}

    def readers(self, name: str) -> list[onnx.NodeProto]:
        return [node for node in self.made.graph.node if name in node.input]

    def test_the_last_convolutions_stay(self):
        found = [node.name for node in self.network.quantizable()]
        self.assertEqual(found, ["first", "enter", "inner", "leave"])
        (last,) = (node for node in self.made.graph.node if node.name == "last")
        self.assertEqual(last.input[1], "last.w")

    def test_a_picture_keeps_its_levels(self):
        (reader,) = self.readers("images")
        self.assertEqual(reader.op_type, "QuantizeLinear")
        self.assertEqual(self.constants["images/scale"], np.float32(1 / 255))
        self.assertEqual(self.constants["images/zero"], 0)
        self.assertEqual(self.constants["images/zero"].dtype, np.uint8)

    def test_nothing_stands_between_a_convolution_and_its_activation(self):
        for name in ("first", "enter", "inner", "leave"):
            self.assertEqual({n.op_type for n in self.readers(f"{name}.out")}, {"Sigmoid", "Mul"})
        rounded = [n.input[0] for n in self.made.graph.node if n.op_type == "QuantizeLinear"]
        self.assertEqual(sorted(rounded), ["enter.silu", "first.silu", "images", "inner.silu"])

    def test_what_meets_in_a_concatenation_has_one_scale(self):
        for what in ("scale", "zero"):
            entering, inner = (self.constants[f"{n}.silu/{what}"] for n in ("enter", "inner"))
            self.assertEqual(entering, inner)
        self.assertNotEqual(self.constants["first.silu/scale"], self.constants["enter.silu/scale"])
        # SiLU is negative down to -0.28: the zero point is not that of a range about 0, nor 0.
        self.assertTrue(0 < self.constants["enter.silu/zero"] < 64)

    def test_it_computes_nearly_the_same(self):
        exact, rounded = self.outputs(self.network.model), self.outputs(self.made)
        self.assertLess(np.abs(rounded - exact).max(), 0.05 * np.abs(exact).max())
        self.assertGreater(np.abs(rounded - exact).max(), 0)

    def outputs(self, model: onnx.ModelProto) -> np.ndarray:
        session = onnxruntime.InferenceSession(model.SerializeToString())
        return np.stack([session.run(None, {"images": p})[0] for p in self.pictures])

    def test_each_convolution_has_its_cost_the_worst_first(self):
        found = costs(self.network, self.seen, self.pictures)
        self.assertEqual({name for name, _ in found}, {"first", "enter", "inner", "leave"})
        self.assertEqual([cost for _, cost in found], sorted((c for _, c in found), reverse=True))
        self.assertTrue(all(0 < cost < 0.1 for _, cost in found))

    def test_the_copy_names_its_model(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "block.onnx"
            model = block()
            model.metadata_props.add(key="names", value="{0: 'car'}")
            onnx.save(model, path)
            copy = described(self.made, path, 4)
            metadata = {entry.key: entry.value for entry in copy.metadata_props}
            self.assertEqual(metadata["names"], "{0: 'car'}")
            self.assertEqual(metadata["quantized"], "int8, calibrated on 4 photos")
            self.assertEqual(len(metadata["quantized_from"]), 64)

    def test_older_files_are_raised_and_half_precision_is_refused(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "block.onnx"
            onnx.save(block(opset=11), path)
            self.assertEqual(prepared(path).opset_import[0].version, 13)
            model = block()
            for tensor in model.graph.initializer:
                half = numpy_helper.to_array(tensor).astype(np.float16)
                tensor.CopyFrom(numpy_helper.from_array(half, tensor.name))
            model.graph.input[0].type.tensor_type.elem_type = TensorProto.FLOAT16
            model.graph.output[0].type.tensor_type.elem_type = TensorProto.FLOAT16
            onnx.save(model, path)
            with self.assertRaisesRegex(SystemExit, "half-precision"):
                prepared(path)


class Weights(unittest.TestCase):
    def test_use_seven_bits_a_channel_at_a_time(self):
        weights = np.array([[[[1.0, -0.6]]], [[[0.01, 0.004]]]], np.float32)
        rounded, scale = rounded_weights(weights)
        self.assertEqual(rounded.reshape(2, 2).tolist(), [[63, -38], [63, 25]])
        self.assertLess(np.abs(rounded * scale.reshape(2, 1, 1, 1) - weights).max(), 0.01)
        self.assertEqual(int(np.abs(rounded).max()), LARGEST_WEIGHT)

    def test_a_channel_of_zeros_stays_one(self):
        rounded, scale = rounded_weights(np.zeros((1, 2, 3, 3), np.float32))
        self.assertFalse(rounded.any())
        self.assertGreater(float(scale[0]), 0)

    def test_the_mean_of_their_error_follows_the_groups(self):
        error = np.zeros((4, 2, 1, 1), np.float32)
        error[:, 0] = 1
        self.assertEqual(mean_error(error, np.array([1.0, 2, 3, 4])).tolist(), [1, 1, 3, 3])
        whole = np.ones((1, 4, 1, 2), np.float32)
        self.assertEqual(mean_error(whole, np.array([1.0, 2, 3, 4])).tolist(), [20])


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
            self.assertEqual(len(list(photos([folder], 10, 64))), 1)
            self.assertEqual(len(list(photos([folder, folder], 2, 64))), 2)
            self.assertEqual(list(photos([folder / "none"], 2, 64)), [])
