"""Anchor points, box decoding and overlap measures.

All boxes are x1, y1, x2, y2 in pixels of the network input.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor

from model import DISTANCE_BINS, STRIDES


def anchor_points(maps: list[Tensor]) -> tuple[Tensor, Tensor]:
    """Cell centres of all levels, finest level first, row by row.

    Returns points [A, 2] as x, y in pixels and strides [A, 1] in pixels.
    """
    points, strides = [], []
    for level, stride in zip(maps, STRIDES, strict=True):
        height, width = level.shape[2], level.shape[3]
        ys = (torch.arange(height, device=level.device) + 0.5) * stride
        xs = (torch.arange(width, device=level.device) + 0.5) * stride
        grid_y, grid_x = torch.meshgrid(ys, xs, indexing="ij")
        points.append(torch.stack((grid_x, grid_y), -1).reshape(-1, 2))
        strides.append(torch.full((height * width, 1), float(stride), device=level.device))
    return torch.cat(points), torch.cat(strides)


def flatten_maps(maps: list[Tensor]) -> tuple[Tensor, Tensor]:
    """Level maps -> the anchors' logits in float32.

    Returns distance logits [B, A, 4 * DISTANCE_BINS] and class logits [B, A, classes].
    """
    rows = torch.cat([level.flatten(2) for level in maps], 2).float()
    classes = maps[0].shape[1] - 4 * DISTANCE_BINS
    distance_rows, class_rows = rows.split((4 * DISTANCE_BINS, classes), 1)
    return distance_rows.transpose(1, 2), class_rows.transpose(1, 2)


def expected_distances(logits: Tensor) -> Tensor:
    """Mean of the bin distribution.

    [..., 4 * DISTANCE_BINS] -> left, top, right, bottom [..., 4] in strides.
    """
    bins = torch.arange(DISTANCE_BINS, dtype=logits.dtype, device=logits.device)
    return logits.unflatten(-1, (4, DISTANCE_BINS)).softmax(-1) @ bins


def distances_to_boxes(distances: Tensor, points: Tensor, strides: Tensor) -> Tensor:
    """Inverse of boxes_to_distances.

    Distances [..., A, 4] in strides, points [A, 2], strides [A, 1] -> boxes [..., A, 4] in pixels.
    """
    near, far = (distances * strides).chunk(2, -1)
    return torch.cat((points - near, points + far), -1)


def boxes_to_distances(boxes: Tensor, points: Tensor, strides: Tensor) -> Tensor:
    """Inverse of distances_to_boxes, limited to what the bins can express."""
    near, far = boxes.chunk(2, -1)
    distances = torch.cat((points - near, far - points), -1) / strides
    return distances.clamp(0, DISTANCE_BINS - 1 - 0.01)


def paired_iou(a: Tensor, b: Tensor, eps: float = 1e-7) -> Tensor:
    """Intersection over union of pairs, [P, 4] and [P, 4] -> [P]."""
    overlap = (torch.minimum(a[:, 2:], b[:, 2:]) - torch.maximum(a[:, :2], b[:, :2])).clamp(min=0)
    intersection = overlap.prod(1)
    areas = (a[:, 2:] - a[:, :2]).prod(1) + (b[:, 2:] - b[:, :2]).prod(1)
    return intersection / (areas - intersection + eps)


def paired_ciou(a: Tensor, b: Tensor, eps: float = 1e-7) -> Tensor:
    """Complete IoU of pairs (Zheng et al. 2020), [P, 4] and [P, 4] -> [P].

    IoU less a term for the distance of the centres and one for the difference in aspect ratio.
    """
    iou = paired_iou(a, b, eps)
    hull = torch.maximum(a[:, 2:], b[:, 2:]) - torch.minimum(a[:, :2], b[:, :2])
    diagonal = hull.square().sum(1) + eps
    centres = (a[:, :2] + a[:, 2:] - b[:, :2] - b[:, 2:]).square().sum(1) / 4
    size_a, size_b = a[:, 2:] - a[:, :2], b[:, 2:] - b[:, :2]
    angle_a = torch.atan(size_a[:, 0] / (size_a[:, 1] + eps))
    angle_b = torch.atan(size_b[:, 0] / (size_b[:, 1] + eps))
    aspect = (4 / math.pi**2) * (angle_a - angle_b).square()
    with torch.no_grad():
        aspect_weight = aspect / (aspect - iou + 1 + eps)
    return iou - centres / diagonal - aspect_weight * aspect
