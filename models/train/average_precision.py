"""Average precision as COCO defines it: 101 recall points, each labelled box found once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

RECALL_POINTS = np.linspace(0, 1, 101)
# The overlaps whose mean is mAP50-95.
OVERLAPS = tuple(np.arange(50, 100, 5) / 100)
ANY_SIZE = (0.0, np.inf)


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
    pairs: Iterable[tuple[Detections, Truth]],
    label: int,
    overlap: float = 0.5,
    sizes: tuple[float, float] = ANY_SIZE,
) -> float | None:
    """AP of one class over photos: 101 recall points, as COCO. None when no photo has the class.

    Detections are taken by falling score; each takes the free labelled box it overlaps most, if at
    least `overlap`. sizes: least side and the side above it, in pixels of a square of the box's
    area. Labelled boxes of other sizes, what finds them and other finds of other sizes do not
    count.
    """
    scores, hits, total = _finds(pairs, label, overlap, sizes)
    if total == 0:
        return None
    order = np.argsort(-scores, kind="stable")
    right = hits[order].cumsum()
    recall = right / total
    precision = right / np.arange(1, len(right) + 1)
    envelope = np.append(np.maximum.accumulate(precision[::-1])[::-1], 0.0)
    return float(envelope[np.searchsorted(recall, RECALL_POINTS)].mean())


def precision_and_recall(
    pairs: Iterable[tuple[Detections, Truth]], label: int, threshold: float
) -> tuple[float | None, float | None]:
    """Of the finds of one class at or above a score. None where nothing was found, or labelled."""
    scores, hits, total = _finds(pairs, label, 0.5, ANY_SIZE)
    hits = hits[scores >= threshold]
    return (
        float(hits.mean()) if len(hits) else None,
        float(hits.sum() / total) if total else None,
    )


def _finds(
    pairs: Iterable[tuple[Detections, Truth]],
    label: int,
    overlap: float,
    sizes: tuple[float, float],
) -> tuple[np.ndarray, np.ndarray, int]:
    """Scores of the finds that count, whether each is right, and how many labelled boxes count."""
    scores, hits, total = [], [], 0
    for found, truth in pairs:
        mine = found.classes == label
        wanted = truth.boxes[truth.classes == label]
        counts = _has_size(wanted, sizes)
        boxes = found.boxes[mine]
        hit, elsewhere = _matched(boxes, wanted, counts, overlap)
        kept = hit | (~elsewhere & _has_size(boxes, sizes))
        total += int(counts.sum())
        scores.append(found.scores[mine][kept])
        hits.append(hit[kept])
    if not scores:
        return np.zeros(0), np.zeros(0, bool), 0
    return np.concatenate(scores), np.concatenate(hits), total


def _has_size(boxes: np.ndarray, sizes: tuple[float, float]) -> np.ndarray:
    areas = (boxes[:, 2:] - boxes[:, :2]).prod(1)
    return (areas >= sizes[0] ** 2) & (areas < sizes[1] ** 2)


def _matched(
    boxes: np.ndarray, wanted: np.ndarray, counts: np.ndarray, overlap: float
) -> tuple[np.ndarray, np.ndarray]:
    """For boxes in falling order of score: [n] bool whether each finds a box that counts, and
    whether it finds one that does not.
    """
    table = iou_table(boxes, wanted)
    hit, elsewhere = np.zeros(len(boxes), bool), np.zeros(len(boxes), bool)
    for row in range(len(boxes)):
        for chosen, result in ((counts, hit), (~counts, elsewhere)):
            overlaps = np.where(chosen, table[row], -1.0)
            if len(overlaps) and overlaps.max() >= overlap:
                result[row] = True
                table[:, overlaps.argmax()] = -1
                break
    return hit, elsewhere
