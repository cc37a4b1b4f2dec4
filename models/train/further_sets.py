"""Brings openly licensed photo sets of others into the form of dataset.Source.

python models/train/further_sets.py RAW OUT

RAW holds one folder per name of SETS, each an export in YOLO text form (README.md says where they
come from). OUT gets `NAME/images/train` and `NAME/labels/train`.
One photo per original is taken, black borders are cut off, and a photo that looks like a held-out
one is left out.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from dataset import PHOTO_ENDINGS, label_file, read_photo, standard_sources
from render import write_picture

LONGEST_SIDE = 640
BLACK = 24  # highest value of a border pixel, above 0 because of JPEG
ALIKE = 10  # of 256 bits: photos whose hashes differ in fewer places are taken for the same


@dataclass(frozen=True)
class FurtherSet:
    """folders: those of the export with `images` and `labels`. classes: number of CLASS_NAMES by the
    export's class, as its label files write it; its other classes are left out.
    """

    name: str
    folders: tuple[str, ...]
    classes: dict[str, int]


PARTS = ("train", "valid", "test")
SETS = (
    FurtherSet("open-images-licence-plates", PARTS, {"1": 0}),
    FurtherSet("open-images-mixed", (".",), {}),
    FurtherSet("atl", PARTS, {"0": 1, "1": 2, "2": 0, "3": 3}),
    FurtherSet(
        "modes-of-transport", tuple(f"dataset/{part}" for part in PARTS), {"0": 1, "1": 2, "2": 0}
    ),
    FurtherSet("bangkok-buses", ("train",), {"0": 2, "4": 2}),
    FurtherSet("coco-vehicles", (".",), {"0": 0, "1": 1, "2": 2, "3": 3}),
    FurtherSet("coco-others", (".",), {}),
    FurtherSet("open-images-streets", (".",), {"car": 0}),
)


def originals(raw: Path, one: FurtherSet) -> Iterator[Path]:
    """One photo per original: of an export's augmented copies, whose names differ after `.rf.`, the
    one with the least noise.
    """
    copies: dict[str, list[Path]] = {}
    for folder in one.folders:
        for photo in sorted((raw / one.name / folder / "images").iterdir()):
            if photo.suffix.lower() in PHOTO_ENDINGS:
                copies.setdefault(photo.name.partition(".rf.")[0], []).append(photo)
    for photos in copies.values():
        yield min(photos, key=noise) if len(photos) > 1 else photos[0]


def noise(photo: Path) -> float:
    """Mean difference of a photo's brightness from the median of nine neighbours."""
    grey = cv2.cvtColor(read_photo(photo, LONGEST_SIDE), cv2.COLOR_RGB2GRAY)
    return float(cv2.absdiff(grey, cv2.medianBlur(grey, 3)).mean())


def photo_hash(pixels: np.ndarray) -> np.ndarray:
    """256 bits: whether brightness rises from one cell of a 16 x 17 grid to the next."""
    grey = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)
    small = cv2.resize(grey, (17, 16), interpolation=cv2.INTER_AREA).astype(int)
    return (np.diff(small, axis=1) > 0).ravel()


def held_out_hashes(data: Path, photos: list[Path]) -> np.ndarray:
    """[n, 256], of each held-out photo and of its mirror image."""
    paths = [p for source in standard_sources(data) for p in source.photos("valid")]
    pictures = [read_photo(path) for path in (*paths, *photos)]
    return np.stack([photo_hash(p) for one in pictures for p in (one, one[:, ::-1])])


def without_border(pixels: np.ndarray) -> tuple[np.ndarray, tuple[int, int]]:
    """The photo without black rows and columns at its edges; left and top of what remains."""
    bright = pixels.max(2) > BLACK
    rows, columns = (np.flatnonzero(bright.mean(axis) > 0.02) for axis in (1, 0))
    if not len(rows) or not len(columns):
        return pixels, (0, 0)
    top, bottom, left, right = rows[0], rows[-1] + 1, columns[0], columns[-1] + 1
    return pixels[top:bottom, left:right], (int(left), int(top))


def read_export_labels(
    photo: Path, classes: dict[str, int], size: tuple[int, int]
) -> list[tuple[int, np.ndarray]]:
    """Class of CLASS_NAMES and x1, y1, x2, y2, 0 to 1, of boxes and of outlines. A class that is a word
    has corners in pixels after it. size: width and height of the photo in pixels.
    """
    path = label_file(photo)
    found = []
    for line in path.read_text().splitlines() if path.exists() else []:
        name, *values = line.split()
        if name not in classes:
            continue
        points = np.array(values, float).reshape(-1, 2)
        if name.isalpha():
            near, far = points / size
        elif len(points) == 2:  # centre and size
            near, far = points[0] - points[1] / 2, points[0] + points[1] / 2
        else:
            near, far = points.min(0), points.max(0)
        found.append((classes[name], np.concatenate((near, far))))
    return found


def convert(photo: Path, out: Path, classes: dict[str, int], held_out: np.ndarray) -> bool:
    """Writes a photo and its labels; False for one that looks like a held-out photo."""
    whole = read_photo(photo)
    pixels, corner = without_border(whole)
    if ((held_out != photo_hash(pixels)).sum(1) < ALIKE).any():
        return False
    height, width = pixels.shape[:2]
    lines = []
    for label, box in read_export_labels(photo, classes, whole.shape[1::-1]):
        box = box * np.tile(whole.shape[1::-1], 2) - np.tile(corner, 2)
        box = (box / (width, height, width, height)).clip(0, 1)
        centre, size = (box[:2] + box[2:]) / 2, box[2:] - box[:2]
        if (size > 0).all():
            lines.append(f"{label} " + " ".join(f"{v:.6f}" for v in (*centre, *size)) + "\n")
    scale = min(1, LONGEST_SIDE / max(height, width))
    if scale < 1:
        size = (round(width * scale), round(height * scale))
        pixels = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
    write_picture(out / "images/train" / f"{photo.stem}.jpg", np.ascontiguousarray(pixels))
    (out / "labels/train" / f"{photo.stem}.txt").write_text("".join(lines))
    return True


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("raw", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--data", type=Path, default=Path("../shared/vehicles"))
    parser.add_argument(
        "--test", type=Path, action="append", default=[],
        help="folder of further photos that must stay out",
    )  # fmt: skip
    options = parser.parse_args()
    tests = [p for f in options.test for p in f.iterdir() if p.suffix.lower() in PHOTO_ENDINGS]
    held_out = held_out_hashes(options.data, tests)
    for one in SETS:
        out = options.out / one.name
        for part in ("images", "labels"):
            (out / part / "train").mkdir(parents=True, exist_ok=True)
        taken = [convert(p, out, one.classes, held_out) for p in originals(options.raw, one)]
        print(f"{one.name}: {sum(taken)} photos, {len(taken) - sum(taken)} like held-out ones")


if __name__ == "__main__":
    main()
