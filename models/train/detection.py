"""From level maps to final boxes: threshold, non-maximum suppression, back to photo pixels."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from augment import letterbox
from average_precision import Detections
from boxes import anchor_points, distances_to_boxes, expected_distances, flatten_maps
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

    @torch.inference_mode()
    def detect(self, pixels: np.ndarray) -> Detections:
        """pixels: [H, W, 3] uint8 RGB of any size."""
        height, width = pixels.shape[:2]
        canvas, scale, margin = letterbox(pixels, self.side)
        device = next(self.model.parameters()).device
        image = torch.from_numpy(canvas).to(device).permute(2, 0, 1)[None].float() / 255
        boxes, scores = (t[0].cpu() for t in decode(self.model(image)))
        best, classes = scores.max(1)
        likely = (best > self.threshold).nonzero()[:, 0]
        likely = likely[best[likely].argsort(descending=True, stable=True)[:3000]]
        found = (boxes[likely].numpy() - np.tile(margin, 2)) / scale
        found = found.clip(0, (width, height, width, height))
        best_np, classes_np = best[likely].numpy(), classes[likely].numpy()
        kept = suppress(found, best_np, classes_np, self.overlap)[:300]
        return Detections(found[kept], best_np[kept], classes_np[kept])
