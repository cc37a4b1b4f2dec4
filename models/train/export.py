"""Writes a checkpoint's averaged weights as ONNX.

The same checkpoint and libraries give the same bytes each time.

    python models/train/export.py OUT/last.pt models/vehicles-v8n.onnx --half

Input `images` [batch, 3, height, width], RGB 0 to 1, all sides open, height and width multiples of
32. Output `output0` [batch, 4 + classes, anchors]: centre x, centre y, width, height in input
pixels, class scores 0 to 1.
"""

from __future__ import annotations

import argparse
import hashlib
import io
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import numpy_helper
from torch import Tensor, nn

from checkpoint import averaged_detector, read_checkpoint
from detection import decode
from model import STRIDES, Detector

LICENCE = "Apache-2.0"
DATA = (
    'Contains photos and labels from "nepali-vehicle-annotation" by ai-protocol '
    "(Roboflow Universe), CC BY 4.0; "
    '"Vehicles-OpenImages" by Jacob Solawetz / Roboflow, derived from Open Images, CC BY 4.0; '
    '"vehicles" (RF100) by Yudha Bhakti Nugraha and Kris, CC BY 4.0; all modified.'
)
TEACHER = (
    " Some labels were added by YOLOX-nano (Megvii, Apache-2.0), itself trained on COCO train2017."
)


class ExportedDetector(nn.Module):
    """The detector with its decoding, in the public exports' output form."""

    def __init__(self, model: Detector):
        super().__init__()
        self.model = model

    def forward(self, images: Tensor) -> Tensor:
        boxes, scores = decode(self.model(images))
        near, far = boxes.chunk(2, 2)
        rows = torch.cat(((near + far) / 2, far - near, scores), 2)
        return rows.transpose(1, 2)


def to_onnx(model: Detector, size: int) -> onnx.ModelProto:
    """Traces the model with open sides, folding its norms; `size` shapes only the example."""
    exported = ExportedDetector(model.fold_norms()).eval()
    file = io.BytesIO()
    torch.onnx.export(
        exported,
        (torch.zeros(1, 3, size, size),),
        file,
        input_names=["images"],
        output_names=["output0"],
        dynamic_axes={
            "images": {0: "batch", 2: "height", 3: "width"},
            "output0": {0: "batch", 2: "anchors"},
        },
        opset_version=17,
        dynamo=False,
    )
    graph = onnx.load_from_string(file.getvalue())
    for node in graph.graph.node:
        node.doc_string = ""
    rows = graph.graph.output[0].type.tensor_type.shape.dim[1]
    rows.dim_value = 4 + model.classes
    return graph


def store_weights_as_half(model: onnx.ModelProto) -> None:
    """Stores large weights as float16 followed by a Cast.

    Arithmetic stays float32 at half the file size.
    """
    casts = []
    for tensor in model.graph.initializer:
        if tensor.data_type != onnx.TensorProto.FLOAT or np.prod(tensor.dims) < 256:
            continue
        name = tensor.name
        half = numpy_helper.to_array(tensor).astype(np.float16)
        tensor.CopyFrom(numpy_helper.from_array(half, f"{name}.half"))
        casts.append(
            onnx.helper.make_node(
                "Cast", [f"{name}.half"], [name], f"{name}.cast", to=onnx.TensorProto.FLOAT
            )
        )
    nodes = [*casts, *model.graph.node]
    del model.graph.node[:]
    model.graph.node.extend(nodes)


def describe(model: onnx.ModelProto, state: dict, size: int, version: str) -> None:
    """Adds the metadata that readers of public exports expect, licence and data sources."""
    data = DATA + TEACHER if state.get("taught") else DATA
    entries = {
        "description": "Vehicle detector, v8 layout, n size",
        "version": version,
        "license": LICENCE,
        "data": data,
        "task": "detect",
        "stride": str(max(STRIDES)),
        "batch": "1",
        "channels": "3",
        "imgsz": str([size, size]),
        "names": str(dict(enumerate(state["names"]))),
    }
    onnx.helper.set_model_props(model, entries)


def worst_difference(file: Path, model: Detector) -> float:
    """Largest difference from PyTorch over three input shapes, boxes in pixels / 100 and scores
    alike.
    """
    session = onnxruntime.InferenceSession(str(file), providers=["CPUExecutionProvider"])
    exported = ExportedDetector(model).eval()
    random = torch.Generator().manual_seed(1)
    worst = 0.0
    for batch, height, width in ((1, 640, 640), (2, 320, 352), (3, 96, 64)):
        images = torch.rand(batch, 3, height, width, generator=random)
        with torch.inference_mode():
            wanted = exported(images).numpy()
        (got,) = session.run(["output0"], {"images": images.numpy()})
        difference = np.abs(got - wanted)
        difference[:, :4] /= 100
        worst = max(worst, float(difference.max()))
    return worst


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("onnx", type=Path)
    parser.add_argument("--size", type=int, default=640, help="default side for readers, in pixels")
    parser.add_argument("--half", action="store_true", help="store weights as float16")
    parser.add_argument("--version", default="1.0.0", help="version of the weights")
    options = parser.parse_args()
    state = read_checkpoint(options.checkpoint)
    model = averaged_detector(state)
    graph = to_onnx(model, options.size)
    if options.half:
        store_weights_as_half(graph)
    describe(graph, state, options.size, options.version)
    onnx.checker.check_model(graph, full_check=True)
    content = graph.SerializeToString(deterministic=True)
    options.onnx.write_bytes(content)
    difference = worst_difference(options.onnx, model)
    print(f"{options.onnx}: {len(content)} bytes, sha256 {hashlib.sha256(content).hexdigest()}")
    print(f"largest difference from PyTorch {difference:.2g}")
    if difference > (0.05 if options.half else 1e-3):
        raise SystemExit("the export does not compute what the checkpoint computes")


if __name__ == "__main__":
    main()
