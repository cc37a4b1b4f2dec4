"""Detection loss: CIoU and distribution focal loss for boxes, binary cross-entropy for classes."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from assigner import Assignment, Objects, TaskAlignedAssigner
from boxes import (
    anchor_points,
    boxes_to_distances,
    distances_to_boxes,
    expected_distances,
    flatten_maps,
    paired_ciou,
)
from model import DISTANCE_BINS


@dataclass(frozen=True)
class LossGains:
    """Weights of the three parts."""

    box: float = 7.5
    distribution: float = 1.5
    classes: float = 0.5


@dataclass(frozen=True)
class MissingLabels:
    """How to treat confident finds where nothing is labelled, in photos known to lack labels.

    A background anchor that scores above `confidence` and whose point lies outside every labelled
    box (grown by `margin` of its size) counts only `weight` in the class loss: it may be a vehicle
    without a label.
    """

    confidence: float = 0.35
    weight: float = 0.25
    margin: float = 0.15


@dataclass(frozen=True)
class LossParts:
    """total carries the gradient; the parts are weighted plain numbers; forgiven counts discounted
    anchors.
    """

    total: Tensor
    box: float
    distribution: float
    classes: float
    forgiven: int


class DetectionLoss:
    """Loss of a batch, as a mean over its photos' assigned target scores."""

    def __init__(self, gains: LossGains | None = None, missing: MissingLabels | None = None):
        self.gains = gains or LossGains()
        self.missing = missing or MissingLabels()
        self.assigner = TaskAlignedAssigner()

    def __call__(
        self,
        maps: list[Tensor],
        objects: Objects,
        forgiving: Tensor | None = None,
        ignored: Objects | None = None,
    ) -> LossParts:
        """maps: the head's level maps. forgiving: [B] bool, photos to which MissingLabels applies,
        or None. ignored: places whose background anchors have no class loss.
        """
        points, strides = anchor_points(maps)
        distance_logits, class_logits = flatten_maps(maps)
        boxes = distances_to_boxes(expected_distances(distance_logits), points, strides)
        scores = class_logits.detach().sigmoid()
        found = self.assigner.assign(scores, boxes.detach(), points, objects)

        targets = torch.zeros_like(class_logits)
        targets[found.photo, found.anchor, objects.classes[found.owner]] = found.scores
        norm = targets.sum().clamp(min=1)
        classes = functional.binary_cross_entropy_with_logits(
            class_logits, targets, reduction="none"
        )
        if ignored is not None and len(ignored.photo):
            left_out = covered_anchors(points, ignored, len(scores))
            left_out[found.photo, found.anchor] = False
            classes = classes * ~left_out[..., None]
        forgiven = 0
        if forgiving is not None:
            doubtful = self._doubtful(scores, points, objects, found) & forgiving[:, None]
            forgiven = int(doubtful.sum())
            classes = classes * torch.where(doubtful, self.missing.weight, 1.0)[..., None]

        wanted = objects.boxes[found.owner]
        weight = found.scores / norm
        box = ((1 - paired_ciou(boxes[found.photo, found.anchor], wanted)) * weight).sum()
        goal = boxes_to_distances(wanted, points[found.anchor], strides[found.anchor])
        bins = distance_logits[found.photo, found.anchor]
        distribution = (distribution_focal(bins, goal) * weight).sum()

        box = box * self.gains.box
        distribution = distribution * self.gains.distribution
        class_sum = classes.sum() / norm * self.gains.classes
        return LossParts(
            box + distribution + class_sum,
            float(box.detach()),
            float(distribution.detach()),
            float(class_sum.detach()),
            forgiven,
        )

    def _doubtful(
        self, scores: Tensor, points: Tensor, objects: Objects, found: Assignment
    ) -> Tensor:
        """[B, A] bool: confident, unassigned and away from every labelled box."""
        doubtful = scores.amax(2) > self.missing.confidence
        doubtful[found.photo, found.anchor] = False
        photo, anchor = doubtful.nonzero(as_tuple=True)
        grow = (objects.boxes[:, 2:] - objects.boxes[:, :2]) * self.missing.margin
        near = points[anchor][:, None] > (objects.boxes[:, :2] - grow)[None]
        far = points[anchor][:, None] < (objects.boxes[:, 2:] + grow)[None]
        covered = (near & far).all(2) & (photo[:, None] == objects.photo[None])
        doubtful[photo, anchor] = ~covered.any(1)
        return doubtful


def covered_anchors(points: Tensor, places: Objects, photos: int) -> Tensor:
    """[photos, A] bool: the anchor's point lies in one of the photo's boxes."""
    inside = (points[None] > places.boxes[:, None, :2]) & (points[None] < places.boxes[:, None, 2:])
    covered = points.new_zeros((photos, len(points)))
    return covered.index_add_(0, places.photo, inside.all(2).float()) > 0


def distribution_focal(logits: Tensor, goal: Tensor) -> Tensor:
    """Cross-entropy against the two bins around the goal (Li et al. 2020).

    logits [F, 4 * DISTANCE_BINS], goal [F, 4] in strides -> [F], mean of the four sides.
    """
    log_bins = logits.unflatten(1, (4, DISTANCE_BINS)).log_softmax(2)
    low = goal.floor().long()
    share = goal - low
    at_low = log_bins.gather(2, low[..., None])[..., 0]
    at_high = log_bins.gather(2, low[..., None] + 1)[..., 0]
    return -(at_low * (1 - share) + at_high * share).mean(1)
