"""Shifts a checkpoint's class scores so that the service's default threshold fits them.

python models/train/calibrate.py OUT/last.pt OUT/calibrated.pt

Task-aligned targets are below 1 wherever boxes fit loosely, so scores are lower than the share of
right finds at them. The lowest score is sought at which, on held-back training photos, `--precision`
of the finds are right and, on rendered streets and patterns without vehicles, nothing is found. One
number added to all class logits moves that score to 0.5; it goes into the last biases, so the order
of the finds and the network stay what they were.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import numpy as np
import torch

from added_labels import IGNORED, AddedBoxes, read_all_added
from average_precision import Detections, iou_table
from checkpoint import averaged_detector, read_checkpoint, write_checkpoint
from dataset import Source, load_photo, training_sources
from detection import PhotoDetector
from evaluate import DEFAULT_THRESHOLD
from render import empty_picture

# Seeds of their own, so that nothing is judged on what was trained or calibrated on.
EMPTY_SEED = 3_000_000
LOWEST = 0.1


def right_finds(found: Detections, boxes: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Scores and whether each find is a labelled vehicle, [n, 2]; finds at ignored places are left
    out.
    """
    rows = []
    free = iou_table(found.boxes, boxes)
    for index, (score, label) in enumerate(zip(found.scores, found.classes, strict=True)):
        fits = np.where(classes == label, free[index], 0.0)
        if fits.max(initial=0) >= 0.5:
            free[:, fits.argmax()] = 0
            rows.append((score, 1.0))
        elif not _in_ignored_place(found.boxes[index], boxes[classes == IGNORED]):
            rows.append((score, 0.0))
    return np.array(rows).reshape(-1, 2)


def _in_ignored_place(box: np.ndarray, places: np.ndarray) -> bool:
    shared = np.minimum(box[2:], places[:, 2:]) - np.maximum(box[:2], places[:, :2])
    part = shared.clip(0).prod(1) / max((box[2:] - box[:2]).prod(), 1e-9)
    return bool((part > 0.5).any())


def lowest_score(finds: np.ndarray, precision: float) -> float:
    """The lowest score at or above which that share of the finds [n, 2] is right."""
    finds = finds[np.argsort(-finds[:, 0], kind="stable")]
    shares = finds[:, 1].cumsum() / np.arange(1, len(finds) + 1)
    good = np.flatnonzero(shares >= precision)
    return float(finds[good[-1], 0]) if len(good) else 1.0


def finds_of(
    detector: PhotoDetector, sources: list[Source], added: dict[str, AddedBoxes]
) -> np.ndarray:
    """On the held-back photos that the teacher looked at."""
    rows = []
    for source in sources:
        for path in source.photos("held-back"):
            if f"{source.name}/{path.stem}" not in added:
                continue
            photo = load_photo(source, path, None, added)
            height, width = photo.pixels.shape[:2]
            boxes = photo.boxes * (width, height, width, height)
            rows.append(right_finds(detector.detect(photo.pixels), boxes, photo.classes))
    return np.concatenate(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--data", type=Path, default=Path("../shared/vehicles"))
    parser.add_argument("--further", type=Path, help="folder of the sets of further_sets.py")
    parser.add_argument("--size", type=int, default=640)
    parser.add_argument("--precision", type=float, default=0.94)
    parser.add_argument("--empty", type=int, default=60, help="rendered pictures without vehicles")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    state = read_checkpoint(options.checkpoint)
    detector = PhotoDetector(averaged_detector(state), options.size, LOWEST)
    sources = training_sources(options.data, options.further)
    finds = finds_of(detector, sources, read_all_added())
    alarms = [
        score
        for number in range(options.empty)
        for score in detector.detect(empty_picture(EMPTY_SEED, number)).scores.tolist()
    ]
    precise = lowest_score(finds, options.precision)
    score = max(precise, *(alarm + 0.01 for alarm in alarms), LOWEST)
    shift = math.log(DEFAULT_THRESHOLD / (1 - DEFAULT_THRESHOLD)) - math.log(score / (1 - score))
    for name, value in state["average"].items():
        if name.startswith("head.classify") and name.endswith("2.bias"):
            value += shift
    write_checkpoint(options.out, state)
    print(f"{len(finds)} finds, precise at {precise:.3f}, {len(alarms)} alarms up to", end=" ")
    print(
        f"{max(alarms, default=0):.3f}; {score:.3f} becomes {DEFAULT_THRESHOLD}, shift {shift:.3f}"
    )


if __name__ == "__main__":
    main()
