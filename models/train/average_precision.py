"""AP50 as COCO defines it: 101 recall points, each labelled box found once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

RECALL_POINTS = np.linspace(0, 1, 101)


@dataclass(frozen=True)
class Detections:
    """Boxes [n, 4] x1, y1, x2, y2 in photo pixels, scores [n] falling, classes [n]."""

    boxes: np.ndarray
    scores: np.ndarray
    classes: np.ndarray


@dataclass(frozen=True)
class Truth:
    """Labelled boxes [n, 4] in photo pixels, classes [n]."""

    boxes: np.ndarray
    classes: np.ndarray


def iou_table(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Overlaps of [n, 4] with [m, 4] -> [n, m]."""
    near = np.maximum(a[:, None, :2], b[None, :, :2])
    far = np.minimum(a[:, None, 2:], b[None, :, 2:])
    shared = (far - near).clip(0).prod(2)
    area_a, area_b = (a[:, 2:] - a[:, :2]).prod(1), (b[:, 2:] - b[:, :2]).prod(1)
    return shared / (area_a[:, None] + area_b[None] - shared + 1e-9)


def average_precision(
    pairs: Iterable[tuple[Detections, Truth]], label: int, overlap: float = 0.5
) -> float | None:
    """AP of one class over photos: 101 recall points, as COCO. None when no photo has the class.

    Detections are taken by falling score; each takes the free labelled box it overlaps most, if at
    least `overlap`.
    """
    scores: list[np.ndarray] = []
    hits: list[np.ndarray] = []
    total = 0
    for found, truth in pairs:
        mine = found.classes == label
        wanted = truth.boxes[truth.classes == label]
        total += len(wanted)
        scores.append(found.scores[mine])
        hits.append(_matched(found.boxes[mine], wanted, overlap))
    if total == 0:
        return None
    order = np.argsort(-np.concatenate(scores), kind="stable")
    right = np.concatenate(hits)[order].cumsum()
    recall = right / total
    precision = right / np.arange(1, len(right) + 1)
    envelope = np.append(np.maximum.accumulate(precision[::-1])[::-1], 0.0)
    return float(envelope[np.searchsorted(recall, RECALL_POINTS)].mean())


def _matched(boxes: np.ndarray, wanted: np.ndarray, overlap: float) -> np.ndarray:
    """[n] bool for boxes in falling order of score."""
    table = iou_table(boxes, wanted)
    hit = np.zeros(len(boxes), bool)
    for row in range(len(boxes)):
        if table.shape[1] and table[row].max() >= overlap:
            hit[row] = True
            table[:, table[row].argmax()] = -1
    return hit
