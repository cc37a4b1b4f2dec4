"""A teacher's class scores at every place of a picture, as soft labels beside the own ones.

The teacher knows 80 classes; the detector learns to give its scores from the features that its own
class logits are made of (knowledge distillation, Hinton et al. 2015). So it learns what people,
animals and furniture look like, and vehicles of places that its own photos do not show. The layers
that answer the teacher are dropped after training.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from model import STRIDES

TEACHER_CLASSES = 80
# Log-odds at the start: the teacher sees next to nothing in most places.
_RARE = -8.0
# Sides from here on are looked at in half size, too: the teacher learned vehicles that fill a
# picture at 416 pixels, and at 640 it misses half of them.
_LARGE = 512


class SoftTeacher:
    """YOLOX from its ONNX file, with pictures of any number and of sides that 32 divides."""

    def __init__(self, path: Path, threads: int):
        import onnxruntime  # needed by runs with a teacher only

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        options.log_severity_level = 3
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        self.session = onnxruntime.InferenceSession(
            _level_maps(path), options, providers=["CPUExecutionProvider"]
        )
        self.input = self.session.get_inputs()[0].name

    def __call__(self, images: Tensor) -> list[Tensor]:
        """images: [B, S, S, 3] uint8 RGB -> scores 0 to 1 of each level of the detector,
        [B, TEACHER_CLASSES, S/stride, S/stride].
        """
        pixels = images.permute(0, 3, 1, 2).flip(1).float()
        at8, at16, at32 = self._scores(pixels)
        if pixels.shape[-1] < _LARGE:
            return [at8, at16, at32]
        half8, half16, half32 = self._scores(functional.avg_pool2d(pixels, 2))
        half32 = functional.interpolate(half32, scale_factor=2.0, mode="nearest")
        return [at8, (at16 + half8) / 2, torch.maximum(half16, half32)]

    def _scores(self, pixels: Tensor) -> list[Tensor]:
        """Objectness times class scores at the strides of the detector."""
        maps = self.session.run(None, {self.input: np.ascontiguousarray(pixels.numpy())})
        return [torch.from_numpy(level[:, 4:5] * level[:, 5:]) for level in maps]


def _level_maps(path: Path) -> bytes:
    """The model up to its three maps, with a free batch size and free sides."""
    import onnx

    model = onnx.load(path)
    graph = model.graph
    maps = [node.input[0] for node in graph.node if node.op_type == "Reshape"]
    shape = graph.input[0].type.tensor_type.shape
    for place, name in ((0, "batch"), (2, "height"), (3, "width")):
        shape.dim[place].dim_param = name
    last = next(i for i, node in enumerate(graph.node) if node.op_type == "Reshape")
    nodes = graph.node[:last]
    del graph.node[:], graph.output[:], graph.value_info[:]
    graph.node.extend(nodes)
    graph.output.extend(
        onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, ["batch", 85, None, None])
        for name in maps
    )
    return model.SerializeToString()


class SoftHead(nn.Module):
    """One layer per level from the class features to logits of the teacher's classes."""

    def __init__(self, width: int):
        super().__init__()
        self.levels = nn.ModuleList(nn.Conv2d(width, TEACHER_CLASSES, 1) for _ in STRIDES)
        for level in self.levels:
            nn.init.zeros_(level.weight)
            nn.init.constant_(level.bias, _RARE)

    def forward(self, class_features: list[Tensor]) -> list[Tensor]:
        return [level(x) for level, x in zip(self.levels, class_features, strict=True)]


def soft_loss(logits: list[Tensor], scores: list[Tensor]) -> Tensor:
    """Binary cross-entropy above the least possible one, per unit of the teacher's scores."""
    difference, total = 0.0, 0.0
    for level, wanted in zip(logits, scores, strict=True):
        wanted = wanted.to(level.device)
        entropy = functional.binary_cross_entropy(wanted, wanted, reduction="sum")
        cross = functional.binary_cross_entropy_with_logits(level.float(), wanted, reduction="sum")
        difference = difference + cross - entropy
        total = total + wanted.sum()
    return difference / torch.clamp(total, min=1)
