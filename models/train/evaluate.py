"""Judges a checkpoint: AP50 on held-out photos, and false alarms on photos without vehicles.

python models/train/evaluate.py CHECKPOINT --data ../shared/vehicles --size 640
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import torch

from average_precision import Truth, average_precision
from checkpoint import averaged_detector, read_checkpoint
from dataset import (
    CLASS_NAMES,
    PHOTO_ENDINGS,
    Source,
    label_file,
    read_labels,
    read_photo,
    standard_sources,
)
from detection import PhotoDetector
from model import Detector


def judge(
    model: Detector, source: Source, size: int, part: str = "valid", limit: int | None = None
) -> dict[str, float]:
    """mAP50 and AP50 of each class of a source's photos, or of the first `limit` of them.

    Classes without labels are left out of the mean.
    """
    detector = PhotoDetector(model, size)
    pairs = []
    for path in source.photos(part)[:limit]:
        pixels = read_photo(path)
        boxes, classes = read_labels(label_file(path))
        height, width = pixels.shape[:2]
        truth = Truth(boxes * (width, height, width, height), classes)
        pairs.append((detector.detect(pixels), truth))
    figures = {
        name: ap
        for label, name in enumerate(CLASS_NAMES)
        if (ap := average_precision(pairs, label)) is not None
    }
    return {"mAP50": float(np.mean(list(figures.values()))), **figures}


def false_alarms(
    model: Detector, folder: Path, size: int, threshold: float = 0.5
) -> dict[str, int]:
    """Boxes at or above the threshold in each photo of a folder of photos without vehicles."""
    detector = PhotoDetector(model, size, threshold)
    paths = sorted(p for p in folder.iterdir() if p.suffix.lower() in PHOTO_ENDINGS)
    return {path.name: len(detector.detect(read_photo(path)).scores) for path in paths}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--data", type=Path, default=Path("../shared/vehicles"))
    parser.add_argument("--size", type=int, default=640, help="input side in pixels")
    parser.add_argument("--empty", type=Path, help="folder of photos without vehicles")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    model = averaged_detector(read_checkpoint(options.checkpoint))
    report: dict[str, object] = {
        source.name: judge(model, source, options.size) for source in standard_sources(options.data)
    }
    if options.empty:
        report["false alarms at 0.5"] = false_alarms(model, options.empty, options.size)
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
