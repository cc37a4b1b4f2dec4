"""Writes an 8-bit copy of a detector: explicit quantise/dequantise pairs, calibrated on photos.

    python quantize.py IN.onnx OUT.onnx --images DIR [DIR ...] --count 128

An engine computes convolution, activation and the rounding of their result in one kernel if nothing stands between
them. So each computed tensor is rounded once, where it is made: behind the activation, never between it and its
convolution. Nodes that only move numbers (Concat, Split, MaxPool, Resize) keep the 8 bits, if all tensors that meet
in one of them have one scale: it spans the widest of them.

Activations are uint8 with a zero point per tensor: SiLU reaches from -0.28 up, and a range about 0 would lose almost
half of the levels. Signed ones give wrong answers in OpenVINO's CPU plug-in (2026.4.1: every score near 0). A range
holds what three photos of four make of a tensor: that of the widest would coarsen all others.

A picture has 8 bits already: 0 to 1 in steps of 1/255. The input is rounded to just these and so loses nothing, the
first convolution is computed in 8 bits, and the engine can take the pixels as bytes.

Weights are int8 per output channel and use 7 of the 8 bits: CPUs without VNNI add two products in 16 bits, which 8
bits overflow. The error of the rounded weights has a mean, which the bias takes back.

The last convolutions before the boxes and scores stay as they are, since their outputs are the answer, and so do those
that move the scores by more than --most percent when they alone are in 8 bits; the program prints what each one costs.
No more than these: floats among 8 bits have to be converted on both sides.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper, version_converter
from onnxruntime.quantization.shape_inference import quant_pre_process

PHOTO_ENDINGS = {".jpg", ".jpeg", ".png", ".webp", ".bmp"}
GREY = 114
# Nodes whose outputs are numbers of their inputs, or between them.
MOVING = {"Concat", "Split", "MaxPool", "Resize", "Slice"}
LARGEST_WEIGHT = 63
LEVELS = 255
# Scale and zero point of a picture, whose levels the network gets as 0 to 1.
PIXELS = np.float32(1 / LEVELS), np.uint8(0)
# Percent of the photos that a range holds; each photo has a least and a greatest number of a tensor.
HELD = 75
# Photos that show what a convolution costs.
SHOWN = 4
# The first whose DequantizeLinear has a scale per channel.
LEAST_OPSET = 13


def letterboxed(path: Path, side: int) -> np.ndarray | None:
    """[1, 3, side, side] float32 RGB 0 to 1, the photo centred on grey; None when it cannot be read."""
    photo = cv2.imread(str(path), cv2.IMREAD_COLOR)
    if photo is None:
        return None
    scale = side / max(photo.shape[:2])
    width, height = (max(1, round(photo.shape[axis] * scale)) for axis in (1, 0))
    canvas = np.full((side, side, 3), GREY, np.uint8)
    top, left = (side - height) // 2, (side - width) // 2
    canvas[top : top + height, left : left + width] = cv2.resize(photo, (width, height))
    rgb = canvas[..., ::-1].transpose(2, 0, 1)[None]
    return np.ascontiguousarray(rgb, np.float32) / 255


def photos(folders: Iterable[Path], count: int, side: int) -> Iterator[np.ndarray]:
    """Letterboxed, an equal number of each folder, spread evenly over it in the order of the names."""
    folders = list(folders)
    for folder in folders:
        found = sorted(p for p in folder.rglob("*") if p.suffix.lower() in PHOTO_ENDINGS)
        wanted = min(-(-count // len(folders)), len(found))
        for index in np.linspace(0, len(found) - 1, wanted).astype(int):
            photo = letterboxed(found[index], side)
            if photo is not None:
                yield photo


class Network:
    """A graph with what makes each tensor."""

    def __init__(self, model: onnx.ModelProto):
        self.model = model
        self.makers = {output: node for node in model.graph.node for output in node.output}
        self.constants = {tensor.name: tensor for tensor in model.graph.initializer}
        self.inputs = {entry.name for entry in model.graph.input} - set(self.constants)

    def sources(self, name: str) -> list[str]:
        """The computed tensors whose numbers `name` holds."""
        node = self.makers.get(name)
        if node is None or node.op_type not in MOVING:
            return [name]
        moved = node.input if node.op_type == "Concat" else node.input[:1]
        return [source for each in moved for source in self.sources(each)]

    def weights(self, node: onnx.NodeProto) -> np.ndarray | None:
        """[outputs, inputs of a group, height, width]; None for what is no convolution of constant weights."""
        constant = self.constants.get(node.input[1]) if node.op_type == "Conv" else None
        return None if constant is None else numpy_helper.to_array(constant)

    def quantizable(self) -> list[onnx.NodeProto]:
        """The convolutions that may be computed in 8 bits: all but the last."""
        last = set(last_convolutions(self.model))
        return [
            node
            for node in self.model.graph.node
            if node.name not in last
            and (weights := self.weights(node)) is not None
            and weights.ndim == 4
            and self.constants.keys().isdisjoint(self.sources(node.input[0]))
        ]


def last_convolutions(model: onnx.ModelProto) -> list[str]:
    """Names of the convolutions from which an output is reached without passing another one."""
    network = Network(model)
    found: set[str] = set()
    seen: set[str] = set()
    waiting = [output.name for output in model.graph.output]
    while waiting:
        name = waiting.pop()
        node = network.makers.get(name)
        if node is None or name in seen:
            continue
        seen.add(name)
        if node.op_type == "Conv":
            found.add(node.name)
            # The one that turns bins into distances has 1 output channel; those before it end the head.
            weights = network.weights(node)
            if weights is None or len(weights) > 1:
                continue
        waiting += node.input
    return sorted(found)


@dataclass
class Seen:
    """What photos made of one tensor: the least and the greatest number of each, and the mean of each channel."""

    least: list[float] = field(default_factory=list)
    greatest: list[float] = field(default_factory=list)
    means: list[np.ndarray] = field(default_factory=list)

    def add(self, values: np.ndarray) -> None:
        self.least.append(float(values.min()))
        self.greatest.append(float(values.max()))
        self.means.append(values.mean((0, 2, 3)))


def calibrate(network: Network, pictures: Iterable[np.ndarray]) -> dict[str, Seen]:
    """By name: the inputs of all quantizable convolutions, and the tensors whose numbers they hold."""
    inputs = {node.input[0] for node in network.quantizable()}
    seen = {name: Seen() for read in inputs for name in (read, *network.sources(read))}
    shown = onnx.ModelProto()
    shown.CopyFrom(network.model)
    outputs = {entry.name for entry in shown.graph.output}
    for name in seen.keys() - outputs:
        shown.graph.output.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, None))
    session = onnxruntime.InferenceSession(shown.SerializeToString())
    for picture in pictures:
        values = session.run(list(seen), {session.get_inputs()[0].name: picture})
        for name, tensor in zip(seen, values, strict=True):
            seen[name].add(tensor)
    return seen


def scales(
    network: Network, convolutions: list[onnx.NodeProto], seen: dict[str, Seen]
) -> dict[str, tuple[np.float32, np.uint8]]:
    """Scale and zero point of each tensor that is read; the same for all that meet in one input."""
    groups: dict[str, set[str]] = {}
    for node in convolutions:
        sources = network.sources(node.input[0])
        merged = set(sources).union(*(groups.get(name, set()) for name in sources))
        groups |= {name: merged for name in merged}
    found = {}
    for name, group in groups.items():
        if group <= network.inputs:
            found[name] = PIXELS
            continue
        # 0 belongs to every range: it is what pads a picture.
        least = min(0.0, *(np.percentile(seen[each].least, 100 - HELD) for each in group))
        greatest = max(0.0, *(np.percentile(seen[each].greatest, HELD) for each in group))
        step = max(greatest - least, 1e-6) / LEVELS
        found[name] = np.float32(step), np.uint8(np.clip(round(-least / step), 0, LEVELS))
    return found


class Writer:
    """Writes the graph anew, node by node."""

    def __init__(self, network: Network, found: dict[str, tuple[np.float32, np.uint8]]):
        self.network = network
        self.found = found
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []
        self.renamed: dict[str, str] = {}

    def model(self, convolutions: list[onnx.NodeProto], seen: dict[str, Seen]) -> onnx.ModelProto:
        chosen = {node.name for node in convolutions}
        self._round_all(sorted(self.network.inputs))
        for node in self.network.model.graph.node:
            copy = onnx.NodeProto()
            copy.CopyFrom(node)
            for index, name in enumerate(copy.input):
                copy.input[index] = self.renamed.get(name, name)
            if node.name in chosen:
                self._quantize_weights(copy, node, seen[node.input[0]])
            self.nodes.append(copy)
            self._round_all(node.output)
        result = onnx.ModelProto()
        result.CopyFrom(self.network.model)
        read = {name for node in self.nodes for name in node.input}
        kept = [tensor for tensor in result.graph.initializer if tensor.name in read]
        del result.graph.node[:], result.graph.initializer[:]
        result.graph.node.extend(self.nodes)
        result.graph.initializer.extend(kept + self.constants)
        return result

    def _constant(self, name: str, values: np.ndarray | np.generic) -> str:
        self.constants.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def _round_all(self, names: Iterable[str]) -> None:
        for name in names:
            if name in self.found:
                self._round(name)

    def _round(self, name: str) -> None:
        scale, zero = self.found[name]
        how = [self._constant(f"{name}/scale", scale), self._constant(f"{name}/zero", zero)]
        rounded, again = f"{name}/rounded", f"{name}/again"
        self.nodes += [
            helper.make_node("QuantizeLinear", [name, *how], [rounded], f"{name}/Quantize"),
            helper.make_node("DequantizeLinear", [rounded, *how], [again], f"{name}/Dequantize"),
        ]
        self.renamed[name] = again

    def _quantize_weights(self, copy: onnx.NodeProto, node: onnx.NodeProto, read: Seen) -> None:
        weights = self.network.weights(node)
        rounded, scale = rounded_weights(weights)
        name = f"{node.name}/weights"
        constants = [
            self._constant(name, rounded),
            self._constant(f"{name}/scale", scale),
            self._constant(f"{name}/zero", np.zeros(len(scale), np.int8)),
        ]
        again = f"{name}/again"
        self.nodes.append(
            helper.make_node("DequantizeLinear", constants, [again], f"{name}/Dequantize", axis=0)
        )
        copy.input[1] = again
        error = rounded * scale.reshape(-1, 1, 1, 1) - weights
        shift = mean_error(error, np.mean(read.means, 0))
        bias = self.network.constants.get(node.input[2]) if len(node.input) > 2 else None
        before = 0 if bias is None else numpy_helper.to_array(bias)
        corrected = self._constant(f"{node.name}/bias", (before - shift).astype(np.float32))
        copy.input[:] = [*copy.input[:2], corrected]


def rounded_weights(weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """int8 of the same shape, and the float32 step of each output channel."""
    largest = np.abs(weights).reshape(len(weights), -1).max(1)
    scale = (np.maximum(largest, 1e-8) / LARGEST_WEIGHT).astype(np.float32)
    return np.rint(weights / scale.reshape(-1, 1, 1, 1)).astype(np.int8), scale


def mean_error(error: np.ndarray, means: np.ndarray) -> np.ndarray:
    """By output channel: what an error of the weights adds where each input channel has its mean."""
    outputs, inputs = error.shape[:2]
    groups = len(means) // inputs
    of_group = means.reshape(groups, inputs)[np.arange(outputs) // (outputs // groups)]
    return (error.sum((2, 3)) * of_group).sum(1)


def quantized(
    network: Network, convolutions: list[onnx.NodeProto], seen: dict[str, Seen]
) -> onnx.ModelProto:
    found = scales(network, convolutions, seen)
    return Writer(network, found).model(convolutions, seen)


def costs(
    network: Network, seen: dict[str, Seen], pictures: list[np.ndarray]
) -> list[tuple[str, float]]:
    """How far each convolution alone in 8 bits moves the scores, as a share of them; the worst first."""
    exact = _scores(network.model, pictures)
    found = []
    for node in network.quantizable():
        moved = _scores(quantized(network, [node], seen), pictures) - exact
        found.append((node.name, float(np.linalg.norm(moved) / np.linalg.norm(exact))))
    return sorted(found, key=lambda entry: -entry[1])


def _scores(model: onnx.ModelProto, pictures: list[np.ndarray]) -> np.ndarray:
    session = onnxruntime.InferenceSession(model.SerializeToString())
    name = session.get_inputs()[0].name
    outputs = [session.run(None, {name: picture})[0] for picture in pictures]
    # [1, 4 + classes, anchors]: the boxes come first. Others are taken as a whole.
    return np.stack([each[:, 4:] if each.shape[1] < each.shape[-1] else each for each in outputs])


def prepared(path: Path) -> onnx.ModelProto:
    """The model with constants folded and, where its file is older, with the nodes of a later opset."""
    with tempfile.TemporaryDirectory() as folder:
        folded = Path(folder) / "folded.onnx"
        quant_pre_process(str(path), str(folded), skip_symbolic_shape=True)
        model = onnx.load(folded)
    if not takes_plain_pixels(model.graph):
        raise SystemExit(
            f"{path.name} ends as RT-DETR, D-FINE, YOLOX or NanoDet-Plus: no 8-bit copies are made "
            "of these, whose pictures or pixels are others than those of the calibration"
        )
    opset = next(entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx"))
    if opset < LEAST_OPSET:
        model = version_converter.convert_version(model, LEAST_OPSET)
    if any(w.data_type == TensorProto.FLOAT16 for w in model.graph.initializer):
        raise SystemExit(f"{path.name} is a half-precision export; quantise the float32 one")
    return model


def takes_plain_pixels(graph: onnx.GraphProto) -> bool:
    """False for an output of boxes alone, as DETR has, and for grids that are joined and made rows of cells."""
    sides = [
        [side.dim_value for side in output.type.tensor_type.shape.dim] for output in graph.output
    ]
    if len(sides) > 1:
        return all(len(each) != 3 or each[2] != 4 for each in sides)
    makers = {name: node for node in graph.node for name in node.output}
    last = makers.get(graph.output[0].name)
    joined = makers.get(last.input[0]) if last is not None and last.op_type == "Transpose" else None
    has_rows = len(sides[0]) == 3 and sides[0][1] > sides[0][2] > 0
    return joined is None or joined.op_type != "Concat" or not has_rows


def default_side(model: onnx.ModelProto) -> int:
    metadata = {entry.key: entry.value for entry in model.metadata_props}
    sides = ast.literal_eval(metadata.get("imgsz", "[640, 640]"))
    return int(max(sides)) if isinstance(sides, (list, tuple)) else int(sides)


def described(result: onnx.ModelProto, path: Path, count: int) -> onnx.ModelProto:
    """With the metadata of the original, and what it was made of."""
    del result.metadata_props[:]
    entries = {entry.key: entry.value for entry in onnx.load(path).metadata_props}
    entries["quantized"] = f"int8, calibrated on {count} photos"
    entries["quantized_from"] = hashlib.sha256(path.read_bytes()).hexdigest()
    for key, value in entries.items():
        result.metadata_props.add(key=key, value=value)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument(
        "--images", type=Path, nargs="+", required=True, help="folders of photos to calibrate on"
    )
    parser.add_argument("--count", type=int, default=128, help="photos to use")
    parser.add_argument(
        "--most",
        type=float,
        default=3.0,
        help="percent of the scores: a convolution that alone moves them by more stays as it is",
    )
    options = parser.parse_args()
    network = Network(prepared(options.model))
    side = default_side(onnx.load(options.model))
    seen = calibrate(network, photos(options.images, options.count, side))
    count = max((len(each.least) for each in seen.values()), default=0)
    if count == 0:
        folders = ", ".join(str(folder) for folder in options.images)
        raise SystemExit(f"{folders} has no photo that can be read")
    ranking = costs(network, seen, list(photos(options.images, SHOWN, side)))
    kept = {name for name, cost in ranking if 100 * cost > options.most}
    print("moves the scores by  convolution, alone in 8 bits")
    for name, cost in ranking:
        print(f"{100 * cost:6.2f} %  {name}{' (stays)' if name in kept else ''}")
    chosen = [node for node in network.quantizable() if node.name not in kept]
    onnx.save(described(quantized(network, chosen, seen), options.model, count), options.out)
    print(f"calibrated on {count} photos")


if __name__ == "__main__":
    main()
