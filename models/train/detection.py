"""From level maps to final boxes: threshold, non-maximum suppression, back to photo pixels."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import onnxruntime
import torch
from torch import Tensor

from augment import letterbox
from average_precision import Detections
from boxes import anchor_points, distances_to_boxes, expected_distances, flatten_maps
from dataset import CLASS_NAMES
from model import Detector


def decode(maps: list[Tensor]) -> tuple[Tensor, Tensor]:
    """Level maps -> boxes [B, A, 4] in input pixels, scores [B, A, classes]."""
    points, strides = anchor_points(maps)
    distances, logits = flatten_maps(maps)
    boxes = distances_to_boxes(expected_distances(distances), points, strides)
    return boxes, logits.sigmoid()


def suppress(boxes: np.ndarray, scores: np.ndarray, classes: np.ndarray, limit: float) -> list[int]:
    """Greedy suppression within each class, highest score first.

    Returns the kept indices in that order.
    """
    order = np.argsort(-scores, kind="stable")
    areas = (boxes[:, 2:] - boxes[:, :2]).clip(0).prod(1)
    kept: list[int] = []
    while order.size:
        best, order = order[0], order[1:]
        kept.append(int(best))
        near = np.maximum(boxes[best, :2], boxes[order, :2])
        far = np.minimum(boxes[best, 2:], boxes[order, 2:])
        shared = (far - near).clip(0).prod(1)
        overlap = shared / (areas[best] + areas[order] - shared + 1e-9)
        order = order[(overlap <= limit) | (classes[order] != classes[best])]
    return kept


class PhotoDetector:
    """Runs a detector on single photos by the reference rules.

    Letterbox, threshold, suppression within each class, at most 300 boxes.
    """

    def __init__(self, model: Detector, side: int, threshold: float = 0.001, overlap: float = 0.7):
        self.model = model.eval()
        self.side = side
        self.threshold = threshold
        self.overlap = overlap

    def detect(self, pixels: np.ndarray) -> Detections:
        """pixels: [H, W, 3] uint8 RGB of any size."""
        height, width = pixels.shape[:2]
        canvas, scale, margin = letterbox(pixels, self.side)
        boxes, scores = self.anchors(canvas)
        best, classes = scores.max(1), scores.argmax(1)
        likely = np.flatnonzero(best > self.threshold)
        likely = likely[np.argsort(-best[likely], kind="stable")[:3000]]
        found = (boxes[likely] - np.tile(margin, 2)) / scale
        found = found.clip(0, (width, height, width, height))
        kept = suppress(found, best[likely], classes[likely], self.overlap)[:300]
        return Detections(found[kept], best[likely][kept], classes[likely][kept])

    @torch.inference_mode()
    def anchors(self, canvas: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """[side, side, 3] uint8 RGB -> boxes [A, 4] x1, y1, x2, y2 in its pixels, scores
        [A, classes].
        """
        device = next(self.model.parameters()).device
        image = torch.from_numpy(canvas).to(device).permute(2, 0, 1)[None].float() / 255
        boxes, scores = (t[0].cpu().numpy() for t in decode(self.model(image)))
        return boxes, scores


class ExportDetector(PhotoDetector):
    """The same for an exported file of this or a public model whose `names` include the vehicles."""

    def __init__(self, path: Path, side: int, threads: int, threshold: float = 0.001):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        self.session = onnxruntime.InferenceSession(
            str(path), options, providers=["CPUExecutionProvider"]
        )
        self.side = side
        self.threshold = threshold
        self.overlap = 0.7
        names = ast.literal_eval(self.session.get_modelmeta().custom_metadata_map["names"])
        numbers = {name: number for number, name in names.items()}
        self.vehicles = [numbers[name] for name in CLASS_NAMES]

    def anchors(self, canvas: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        image = canvas.transpose(2, 0, 1)[None].astype(np.float32) / 255
        rows = self.session.run(None, {self.session.get_inputs()[0].name: image})[0][0].T
        centre, half, scores = rows[:, :2], rows[:, 2:4] / 2, rows[:, 4:]
        # An anchor that scores higher for another class, such as person, is no vehicle.
        scores = np.where(scores == scores.max(1, keepdims=True), scores, 0)[:, self.vehicles]
        return np.concatenate((centre - half, centre + half), 1), scores
