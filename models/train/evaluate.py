"""Judges a model: how many vehicles it finds, by class and by size, and its false alarms.

python models/train/evaluate.py models/vehicles-v8n.pt --coco ../shared/testdata/coco128
python models/train/evaluate.py ../shared/testdata/models/yolov8n.onnx --coco ../shared/testdata/coco128

A checkpoint of this project, or an ONNX file, of this or of a public model.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import torch

from average_precision import (
    OVERLAPS,
    Detections,
    Truth,
    average_precision,
    precision_and_recall,
)
from checkpoint import averaged_detector, read_checkpoint
from dataset import (
    CLASS_NAMES,
    COCO_VEHICLES,
    PHOTO_ENDINGS,
    Source,
    label_file,
    read_labels,
    read_photo,
    read_rows,
    standard_sources,
)
from detection import ExportDetector, PhotoDetector
from model import Detector

DEFAULT_THRESHOLD = 0.5  # of the service
SIZES = {"below 32 px": (0, 32), "32 to 96 px": (32, 96), "above 96 px": (96, np.inf)}

Pairs = list[tuple[Detections, Truth]]


def judge(
    model: Detector, source: Source, size: int, part: str = "valid", limit: int | None = None
) -> dict[str, float]:
    """mAP50 and AP50 of each class of a source's photos, or of the first `limit` of them."""
    pairs = find(PhotoDetector(model, size), labelled(source.photos(part)[:limit]))
    return with_mean("mAP50", by_class(lambda label: average_precision(pairs, label)))


def labelled(photos: Iterable[Path]) -> list[tuple[Path, np.ndarray, np.ndarray]]:
    """Each with its boxes, 0 to 1, and classes."""
    return [(path, *read_labels(label_file(path))) for path in photos]


def find(detector: PhotoDetector, photos: Iterable[tuple[Path, np.ndarray, np.ndarray]]) -> Pairs:
    """What the detector finds in each photo, beside what is labelled there."""
    pairs = []
    for path, boxes, classes in photos:
        pixels = read_photo(path)
        height, width = pixels.shape[:2]
        truth = Truth(boxes * (width, height, width, height), classes)
        pairs.append((detector.detect(pixels), truth))
    return pairs


def by_class(figure) -> dict[str, float]:
    """figure(label) by class name, without the classes for which it is None."""
    figures = {name: figure(label) for label, name in enumerate(CLASS_NAMES)}
    return {name: round(value, 4) for name, value in figures.items() if value is not None}


def with_mean(name: str, figures: dict[str, float]) -> dict[str, float]:
    mean = float(np.mean(list(figures.values()))) if figures else float("nan")
    return {name: round(mean, 4), **figures}


def report_on(pairs: Pairs) -> dict[str, dict[str, float]]:
    """The table of one set of photos: a row of figures by class each."""

    def over_overlaps(label: int) -> float | None:
        values = [average_precision(pairs, label, overlap) for overlap in OVERLAPS]
        return None if values[0] is None else float(np.mean(values))

    rows = {
        "AP50": with_mean("mAP50", by_class(lambda label: average_precision(pairs, label))),
        "AP50-95": with_mean("mAP50-95", by_class(over_overlaps)),
    }
    for name, sizes in SIZES.items():
        rows[f"AP50 {name}"] = with_mean(
            "mAP50",
            by_class(lambda label, sizes=sizes: average_precision(pairs, label, 0.5, sizes)),
        )
    for threshold in (DEFAULT_THRESHOLD, DEFAULT_THRESHOLD / 2):
        for place, name in enumerate(("precision", "recall")):
            rows[f"{name} at {threshold}"] = by_class(
                lambda label, at=threshold, i=place: precision_and_recall(pairs, label, at)[i]
            )
    return rows


def coco_photos(folder: Path) -> list[tuple[Path, np.ndarray, np.ndarray]]:
    """Photos of a folder with `images` and `labels` in COCO's classes; the vehicles of each."""
    photos = []
    for path in photo_files(folder / "images"):
        boxes, classes = read_rows(label_file(path))
        vehicles = np.isin(classes, COCO_VEHICLES)
        photos.append((path, boxes[vehicles], np.searchsorted(COCO_VEHICLES, classes[vehicles])))
    return photos


def photo_files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.suffix.lower() in PHOTO_ENDINGS)


def false_alarms(detector: PhotoDetector, photos: list[Path]) -> dict[str, object]:
    """Boxes at or above the default threshold in photos without vehicles."""
    counts = {
        path.name: int((detector.detect(read_photo(path)).scores >= DEFAULT_THRESHOLD).sum())
        for path in photos
    }
    boxes = sum(counts.values())
    return {
        "photos": len(photos),
        "boxes": boxes,
        "per 100 photos": round(100 * boxes / max(1, len(photos)), 1),
        "where": {name: count for name, count in counts.items() if count},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path, help="checkpoint (.pt) or ONNX file")
    parser.add_argument("--data", type=Path, default=Path("../shared/vehicles"))
    parser.add_argument("--size", type=int, default=640, help="input side in pixels")
    parser.add_argument("--photos", type=Path, action="append", default=[],
                        help="folder with images and labels in this project's classes")  # fmt: skip
    parser.add_argument("--coco", type=Path, help="folder with images and labels in COCO's classes")
    parser.add_argument("--empty", type=Path, action="append", default=[],
                        help="folder of photos without vehicles")  # fmt: skip
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.model.suffix == ".onnx":
        detector: PhotoDetector = ExportDetector(options.model, options.size, options.threads)
    else:
        model = averaged_detector(read_checkpoint(options.model))
        detector = PhotoDetector(model, options.size)
    report: dict[str, object] = {
        source.name: report_on(find(detector, labelled(source.photos("valid"))))
        for source in standard_sources(options.data)
    }
    for folder in options.photos:
        report[folder.name] = report_on(find(detector, labelled(photo_files(folder / "images"))))
    if options.coco:
        photos = coco_photos(options.coco)
        report["coco"] = report_on(find(detector, photos))
        empty = [path for path, boxes, _ in photos if not len(boxes)]
        report["false alarms, coco"] = false_alarms(detector, empty)
    for folder in options.empty:
        report[f"false alarms, {folder.name}"] = false_alarms(detector, photo_files(folder))
    print(json.dumps(report, indent=2))


if __name__ == "__main__":
    main()
