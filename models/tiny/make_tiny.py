"""Makes the bundled test-pattern detector and the picture that it recognises.

    python -m pip install -r models/tiny/requirements.txt
    python models/tiny/make_tiny.py

Writes tiny-v8.onnx beside this script, shapes.png and shapes.json in models/demo, and the checksum
in models/manifest.json. Deterministic: the same pinned libraries write the same bytes.

The network has the layout of a public v8 export but hand-set weights. Each class is a flat colour of a
fixed size; a matched filter (mean colour match inside the box less the mean in a thin ring around it)
peaks where such a rectangle is centred on an anchor. It is no detector for photographs.
"""

import hashlib
import json
import math
import re
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper
from PIL import Image, ImageDraw

HERE = Path(__file__).resolve().parent
MODELS = HERE.parent
INPUT = 640
CELL = 4  # pixels averaged before colours are compared

# name, body colour, width, height, stride of the level that finds it
CLASSES = [
    ("car", (220, 40, 40), 96, 64, 8),
    ("motorcycle", (230, 210, 40), 48, 48, 8),
    ("bus", (40, 180, 60), 224, 128, 32),
    ("truck", (40, 60, 220), 160, 96, 16),
]
STRIDES = (8, 16, 32)
COLOUR_RADIUS = 0.4  # L1 distance in 0..1 RGB at which a colour no longer matches
SLOPE = 20.0
THRESHOLD = 0.72  # matched-filter response that scores 0.5; a flat rectangle responds with 1
OTHER_CLASS = -20.0  # logit of classes that a level does not serve

# class, centre x, centre y, shade added to the body colour; centres lie on anchors once the
# picture is padded from 480 to 640 rows.
PAD_TOP = (INPUT - 480) // 2
VEHICLES = [
    ("bus", 176, 96, 0),
    ("truck", 488, 104, 0),
    ("car", 108, 284, 0),
    ("car", 316, 284, 3),
    ("motorcycle", 476, 292, 0),
    ("car", 204, 412, -2),
]
BACKGROUND = (128, 128, 128)
LANE = (225, 225, 225)
WINDOW = (200, 215, 225)
WHEEL = (40, 40, 40)


class Graph:
    """Nodes and constants of the network in the making."""

    def __init__(self):
        self.nodes = []
        self.constants = []

    def constant(self, name, values):
        array = np.asarray(values)
        if array.dtype == np.float64:
            array = array.astype(np.float32)
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def add(self, operator, inputs, name, **attributes):
        self.nodes.append(helper.make_node(operator, inputs, [name], name, **attributes))
        return name


def add_colour_match(graph):
    """[batch,3,640,640] -> [batch,4,160,160]: 1 where a cell has the class's colour, 0 where far off."""
    cells = graph.add(
        "AveragePool", ["images"], "cells", kernel_shape=[CELL, CELL], strides=[CELL, CELL]
    )
    # |x| as ReLU(x) + ReLU(-x), for each class and colour channel.
    weight = np.zeros((6 * len(CLASSES), 3, 1, 1))
    bias = np.zeros(6 * len(CLASSES))
    gather = np.zeros((len(CLASSES), 6 * len(CLASSES), 1, 1))
    for number, (_, colour, *_) in enumerate(CLASSES):
        for channel in range(3):
            for side, sign in enumerate((1, -1)):
                row = 6 * number + 2 * channel + side
                weight[row, channel] = sign
                bias[row] = -sign * colour[channel] / 255
                gather[number, row] = -1 / COLOUR_RADIUS
    distances = graph.add(
        "Conv",
        [cells, graph.constant("colour.w", weight), graph.constant("colour.b", bias)],
        "distances",
    )
    absolute = graph.add("Relu", [distances], "absolute")
    near = graph.add(
        "Conv",
        [
            absolute,
            graph.constant("near.w", gather),
            graph.constant("near.b", np.ones(len(CLASSES))),
        ],
        "near",
    )
    return graph.add("Relu", [near], "match")


def box_kernel(width, height, channel):
    """+1/inside area in the box, -1/ring area in the one-cell ring around it; sees one channel only."""
    columns, rows = width // CELL, height // CELL
    ring = (columns + 2) * (rows + 2) - columns * rows
    kernel = np.zeros((1, len(CLASSES), rows + 2, columns + 2))
    kernel[0, channel] = -1 / ring
    kernel[0, channel, 1:-1, 1:-1] = 1 / (columns * rows)
    return kernel


def add_response(graph, match, number, side):
    """[batch,1,side,side]: logit of one class at every anchor of its level."""
    name, _, width, height, stride = CLASSES[number]
    step = stride // CELL
    kernel = box_kernel(width, height, number)
    pads = [(length - step) // 2 for length in kernel.shape[2:]]
    # An anchor's centre is the middle of `step` cells, so kernels of even length are symmetric there.
    assert all((length - step) % 2 == 0 for length in kernel.shape[2:])
    response = graph.add(
        "Conv",
        [
            match,
            graph.constant(f"{name}.w", kernel * SLOPE),
            graph.constant(f"{name}.b", [-SLOPE * THRESHOLD]),
        ],
        f"{name}.logit",
        kernel_shape=list(kernel.shape[2:]),
        strides=[step, step],
        pads=pads + pads,
    )
    assert side == INPUT // stride
    return response


def add_level(graph, match, stride):
    """[batch,8,side*side] of one stride: centres of the anchors, size by class, sigmoid scores."""
    side = INPUT // stride
    served = [number for number, entry in enumerate(CLASSES) if entry[4] == stride]
    found = {number: add_response(graph, match, number, side) for number in served}
    silent = graph.add(
        "Mul", [found[served[0]], graph.constant(f"zero{stride}", [0.0])], f"zeros{stride}"
    )
    absent = graph.add(
        "Add", [silent, graph.constant(f"absent{stride}", [OTHER_CLASS])], f"absent_logit{stride}"
    )
    logits = graph.add(
        "Concat",
        [found.get(number, absent) for number in range(len(CLASSES))],
        f"logits{stride}",
        axis=1,
    )
    scores = graph.add("Sigmoid", [logits], f"scores{stride}")
    # The size is the softmax-weighted size of the classes: the winner's as soon as one stands out.
    weights = graph.add("Softmax", [logits], f"weights{stride}", axis=1)
    sizes = np.array([[entry[2], entry[3]] for entry in CLASSES], dtype=float).T
    size = graph.add(
        "Conv",
        [weights, graph.constant(f"size{stride}.w", sizes[:, :, None, None])],
        f"size{stride}",
    )
    centres = (np.arange(side) + 0.5) * stride
    across = graph.constant(f"x{stride}", centres[None, None, None, :])
    down = graph.constant(f"y{stride}", centres[None, None, :, None])
    x = graph.add("Add", [silent, across], f"cx{stride}")
    y = graph.add("Add", [silent, down], f"cy{stride}")
    level = graph.add("Concat", [x, y, size, scores], f"level{stride}", axis=1)
    # 0 copies the batch dimension.
    shape = graph.constant(f"flat{stride}", np.array([0, 4 + len(CLASSES), -1], dtype=np.int64))
    return graph.add("Reshape", [level, shape], f"anchors{stride}")


def build_model():
    graph = Graph()
    match = add_colour_match(graph)
    levels = [add_level(graph, match, stride) for stride in STRIDES]
    graph.add("Concat", levels, "output0", axis=2)
    anchors = sum((INPUT // stride) ** 2 for stride in STRIDES)
    network = helper.make_graph(
        graph.nodes,
        "tiny-v8",
        [helper.make_tensor_value_info("images", TensorProto.FLOAT, ["batch", 3, INPUT, INPUT])],
        [
            helper.make_tensor_value_info(
                "output0", TensorProto.FLOAT, ["batch", 4 + len(CLASSES), anchors]
            )
        ],
        graph.constants,
    )
    model = helper.make_model(
        network, producer_name="lattice-core", opset_imports=[helper.make_opsetid("", 17)]
    )
    model.ir_version = 8
    names = ", ".join(f"{number}: '{entry[0]}'" for number, entry in enumerate(CLASSES))
    metadata = {
        "description": "Test-pattern detector: finds the drawn vehicles of shapes.png, nothing in photographs",
        "author": "lattice-core",
        "version": "1.0.0",
        "license": "Apache-2.0",
        "stride": "32",
        "task": "detect",
        "batch": "1",
        "imgsz": f"[{INPUT}, {INPUT}]",
        "names": "{" + names + "}",
    }
    helper.set_model_props(model, metadata)
    onnx.checker.check_model(model, full_check=True)
    return model


def draw_vehicle(draw, name, box, colour):
    """A flat body that fills the box to its edges; windows and wheels cover about a tenth of it."""
    left, top, right, bottom = box
    width, height = right - left, bottom - top
    draw.rectangle((left, top, right - 1, bottom - 1), fill=colour)
    panes = {"car": 2, "motorcycle": 1, "bus": 5, "truck": 1}[name]
    pane = 0.06 * width * height / panes / (0.22 * height)
    span = width if name != "truck" else 0.4 * width
    for number in range(panes):
        x = left + (number + 0.5) * span / panes
        y = top + 0.16 * height
        draw.rectangle(
            (round(x - pane / 2), round(y), round(x + pane / 2) - 1, round(y + 0.22 * height) - 1),
            fill=WINDOW,
        )
    radius = math.sqrt(0.02 * width * height / math.pi)
    for x in (left + 0.22 * width, right - 0.22 * width):
        y = bottom - radius - 1
        draw.ellipse((x - radius, y - radius, x + radius, y + radius), fill=WHEEL)


def draw_picture():
    picture = Image.new("RGB", (640, 480), BACKGROUND)
    draw = ImageDraw.Draw(picture)
    for y in (204, 348):
        for x in range(16, 640, 80):
            draw.rectangle((x, y, x + 39, y + 5), fill=LANE)
    by_name = {entry[0]: entry for entry in CLASSES}
    boxes = []
    for name, x, y, shade in VEHICLES:
        _, colour, width, height, stride = by_name[name]
        assert (x - stride // 2) % stride == 0 and (y + PAD_TOP - stride // 2) % stride == 0
        box = [x - width // 2, y - height // 2, x + width // 2, y + height // 2]
        draw_vehicle(draw, name, box, tuple(value + shade for value in colour))
        boxes.append({"class": name, "box": box})
    return picture, boxes


def main():
    model = build_model().SerializeToString(deterministic=True)
    (HERE / "tiny-v8.onnx").write_bytes(model)
    picture, boxes = draw_picture()
    picture.save(MODELS / "demo" / "shapes.png", optimize=True)
    lines = ",\n".join(
        f'    {{ "class": "{box["class"]}", "box": {json.dumps(box["box"])} }}' for box in boxes
    )
    (MODELS / "demo" / "shapes.json").write_text(
        '{\n  "image": "shapes.png",\n  "width": 640,\n  "height": 480,\n'
        f'  "boxes": [\n{lines}\n  ]\n}}\n'
    )
    manifest_path = MODELS / "manifest.json"
    manifest = manifest_path.read_text()
    known = r'("file": "tiny/tiny-v8.onnx",\s+"sha256": )"[0-9a-f]*"'
    checksum = hashlib.sha256(model).hexdigest()
    # Text in, text out: the file keeps the layout that the formatter gave it.
    manifest_path.write_text(re.sub(known, rf'\g<1>"{checksum}"', manifest))
    print(f"tiny-v8.onnx {len(model)} bytes, {len(boxes)} vehicles in shapes.png")


if __name__ == "__main__":
    main()
