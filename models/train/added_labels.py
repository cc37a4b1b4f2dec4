"""Boxes added to the labels of training photos, kept as text beside the code.

One line `# set/photo` (the photo's file name without ending), then its boxes, one line each:
`class left top right bottom` in ten-thousandths of the photo's width and height. The class is a
number of dataset.CLASS_NAMES, or `-` for a place that may or may not show a vehicle: it is left out
of the loss. A photo without boxes has its first line alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

IGNORED = -1
_PARTS = 10_000


@dataclass(frozen=True)
class AddedBoxes:
    """boxes: [n, 4] x1, y1, x2, y2, 0 to 1. classes: [n], IGNORED for a place left out."""

    boxes: np.ndarray
    classes: np.ndarray


NOTHING_ADDED = AddedBoxes(np.zeros((0, 4), np.float32), np.zeros(0, np.int64))


def write_added(path: Path, added: dict[str, AddedBoxes]) -> None:
    """Photos in name order."""
    lines = []
    for name in sorted(added):
        boxes, classes = added[name].boxes, added[name].classes
        lines.append(f"# {name}")
        for box, label in zip(np.rint(boxes * _PARTS).astype(int).tolist(), classes, strict=True):
            lines.append(" ".join(("-" if label == IGNORED else str(label), *map(str, box))))
    path.write_text("\n".join(lines) + "\n")


def read_all_added() -> dict[str, AddedBoxes]:
    """The boxes of both files beside this one: for the standard and for the further photo sets."""
    folder = Path(__file__).parent
    files = (folder / "teacher-labels.txt", folder / "teacher-labels-further.txt")
    return {name: boxes for file in files for name, boxes in read_added(file).items()}


def read_added(path: Path) -> dict[str, AddedBoxes]:
    """By `set/photo`. Raises ValueError for a line of another form."""
    rows: dict[str, list[list[int]]] = {}
    name = None
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if line.startswith("# "):
            name = line[2:]
            rows[name] = []
            continue
        fields = line.split()
        if name is None or len(fields) != 5:
            raise ValueError(f"{path}:{number}: expected `# set/photo` or `class x1 y1 x2 y2`")
        rows[name].append([IGNORED if fields[0] == "-" else int(fields[0]), *map(int, fields[1:])])
    tables = {name: np.array(lines, np.int64).reshape(-1, 5) for name, lines in rows.items()}
    return {
        name: AddedBoxes((table[:, 1:] / _PARTS).astype(np.float32), table[:, 0])
        for name, table in tables.items()
    }
