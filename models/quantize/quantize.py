"""Writes an INT8 copy of a v8-layout detector: explicit quantise/dequantise pairs, calibrated on photos.

    python quantize.py IN.onnx OUT.onnx --images DIR --count 128

Weights per output channel, int8; activations per tensor, uint8 about 128. That is int8 about 0 shifted by 128,
so an engine that takes signed activations only needs the zero points changed, while OpenVINO's CPU plug-in gives
wrong answers for signed ones (2026.4.1: every score near 0). The last convolutions before the boxes and scores
stay as they are, since their outputs are the answer, and so does the first: pixels, 0 to 1, would have 7 of the
8 bits. Ranges are averages over the photos: a single bright outlier would coarsen all others.
"""

from __future__ import annotations

import argparse
import ast
import tempfile
from pathlib import Path

import cv2
import numpy as np
import onnx
from onnxruntime.quantization import (
    CalibrationDataReader,
    CalibrationMethod,
    QuantFormat,
    QuantType,
    quantize_static,
)
from onnxruntime.quantization.shape_inference import quant_pre_process

PHOTO_ENDINGS = {".jpg", ".jpeg", ".png", ".webp", ".bmp"}
GREY = 114


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


class Photos(CalibrationDataReader):
    """Photos spread evenly over the folder, in the order of their names."""

    def __init__(self, folder: Path, count: int, side: int, input_name: str):
        found = sorted(p for p in folder.rglob("*") if p.suffix.lower() in PHOTO_ENDINGS)
        picked = np.linspace(0, len(found) - 1, min(count, len(found))).astype(int)
        self.paths = iter([found[i] for i in picked])
        self.side = side
        self.input_name = input_name
        self.used = 0

    def get_next(self) -> dict[str, np.ndarray] | None:
        for path in self.paths:
            photo = letterboxed(path, self.side)
            if photo is not None:
                self.used += 1
                return {self.input_name: photo}
        return None


def last_convolutions(model: onnx.ModelProto) -> list[str]:
    """Names of the convolutions from which an output is reached without passing another one."""
    makers = {output: node for node in model.graph.node for output in node.output}
    found: set[str] = set()
    seen: set[str] = set()
    waiting = [output.name for output in model.graph.output]
    while waiting:
        name = waiting.pop()
        node = makers.get(name)
        if node is None or name in seen:
            continue
        seen.add(name)
        if node.op_type == "Conv":
            found.add(node.name)
            # The one that turns bins into distances has 1 output channel; those before it end the head.
            if _channels(model, node) > 1:
                continue
        waiting += node.input
    return sorted(found)


def first_convolutions(model: onnx.ModelProto) -> list[str]:
    """Names of the convolutions that read an input of the graph."""
    inputs = {entry.name for entry in model.graph.input}
    return [n.name for n in model.graph.node if n.op_type == "Conv" and n.input[0] in inputs]


def _channels(model: onnx.ModelProto, node: onnx.NodeProto) -> int:
    weights = next((w for w in model.graph.initializer if w.name == node.input[1]), None)
    return weights.dims[0] if weights is not None else 2


def default_side(model: onnx.ModelProto) -> int:
    metadata = {entry.key: entry.value for entry in model.metadata_props}
    sides = ast.literal_eval(metadata.get("imgsz", "[640, 640]"))
    return int(max(sides)) if isinstance(sides, (list, tuple)) else int(sides)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument(
        "--images", type=Path, required=True, help="folder of photos to calibrate on"
    )
    parser.add_argument("--count", type=int, default=128, help="photos to use")
    options = parser.parse_args()
    original = onnx.load(options.model)
    with tempfile.TemporaryDirectory() as folder:
        prepared = Path(folder) / "prepared.onnx"
        quant_pre_process(str(options.model), str(prepared), skip_symbolic_shape=True)
        graph = onnx.load(prepared)
        photos = Photos(
            options.images, options.count, default_side(original), graph.graph.input[0].name
        )
        quantize_static(
            str(prepared),
            str(options.out),
            photos,
            quant_format=QuantFormat.QDQ,
            op_types_to_quantize=["Conv"],
            per_channel=True,
            activation_type=QuantType.QUInt8,
            weight_type=QuantType.QInt8,
            nodes_to_exclude=first_convolutions(graph) + last_convolutions(graph),
            calibrate_method=CalibrationMethod.MinMax,
            extra_options={
                "ActivationSymmetric": True,
                "WeightSymmetric": True,
                "CalibMovingAverage": True,
            },
        )
    if photos.used == 0:
        options.out.unlink(missing_ok=True)
        raise SystemExit(f"{options.images} has no photo that can be read")
    result = onnx.load(options.out)
    del result.metadata_props[:]
    for entry in original.metadata_props:
        result.metadata_props.add(key=entry.key, value=entry.value)
    result.metadata_props.add(key="quantized", value=f"int8, calibrated on {photos.used} photos")
    onnx.save(result, options.out)
    print(f"calibrated on {photos.used} photos")


if __name__ == "__main__":
    main()
