"""Task-aligned assignment (Feng et al. 2021): which anchors answer for which labelled object."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from boxes import paired_ciou


@dataclass(frozen=True)
class Objects:
    """Labelled objects of a whole batch in one list. N objects.

    photo: [N] index in the batch; boxes: [N, 4] x1, y1, x2, y2 in pixels; classes: [N].
    """

    photo: Tensor
    boxes: Tensor
    classes: Tensor

    def to(self, device: torch.device) -> Objects:
        return Objects(self.photo.to(device), self.boxes.to(device), self.classes.to(device))


@dataclass(frozen=True)
class Assignment:
    """F chosen (photo, anchor) pairs; no anchor of a photo occurs twice.

    photo, anchor, owner: [F]; owner indexes Objects. scores: [F], the class score the anchor is to
    reach, 0 to 1.
    """

    photo: Tensor
    anchor: Tensor
    owner: Tensor
    scores: Tensor


class TaskAlignedAssigner:
    """Takes for each object the `top` anchors inside it with the highest score^alpha * IoU^beta."""

    def __init__(self, top: int = 10, alpha: float = 0.5, beta: float = 6.0):
        self.top = top
        self.alpha = alpha
        self.beta = beta

    @torch.no_grad()
    def assign(self, scores: Tensor, boxes: Tensor, points: Tensor, objects: Objects) -> Assignment:
        """scores [B, A, classes] 0 to 1, boxes [B, A, 4] and points [A, 2] in pixels."""
        photos, anchors = scores.shape[:2]
        count = objects.boxes.shape[0]
        # Only anchors whose point lies inside the object compete, so overlaps are computed for
        # those pairs alone.
        inside = (points[None] > objects.boxes[:, None, :2]) & (
            points[None] < objects.boxes[:, None, 2:]
        )
        owner, anchor = inside.all(-1).nonzero(as_tuple=True)
        photo = objects.photo[owner]
        iou = paired_ciou(objects.boxes[owner], boxes[photo, anchor]).clamp(min=0)
        score = scores[photo, anchor, objects.classes[owner]]
        metric = score.pow(self.alpha) * iou.pow(self.beta)

        # Anchors outside stand at -1, behind an inside anchor whose metric is still zero.
        table = metric.new_full((count, anchors), -1.0)
        table[owner, anchor] = metric
        best = table.topk(min(self.top, anchors), 1).indices
        chosen = torch.zeros_like(table, dtype=torch.bool).scatter_(1, best, True)[owner, anchor]

        # An anchor wanted by several objects goes to the one it overlaps most; equal overlaps to
        # the first.
        key = photo * anchors + anchor
        keys = photos * anchors
        rank = torch.where(chosen, iou, iou.new_tensor(-1.0))
        highest = rank.new_full((keys,), -1.0).scatter_reduce_(0, key, rank, "amax")
        chosen &= rank == highest[key]
        claim = torch.where(chosen, owner, count)
        first = claim.new_full((keys,), count).scatter_reduce_(0, key, claim, "amin")
        chosen &= claim == first[key]

        owner, anchor, photo = owner[chosen], anchor[chosen], photo[chosen]
        iou, metric = iou[chosen], metric[chosen]
        top_metric = metric.new_zeros(count).scatter_reduce_(0, owner, metric, "amax")
        top_iou = iou.new_zeros(count).scatter_reduce_(0, owner, iou, "amax")
        target = metric * top_iou[owner] / (top_metric[owner] + 1e-9)
        return Assignment(photo, anchor, owner, target)
