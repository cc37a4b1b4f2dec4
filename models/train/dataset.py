"""Labelled photos: where they come from, how much each set counts, and their cache in memory."""

from __future__ import annotations

import hashlib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from added_labels import IGNORED, NOTHING_ADDED, AddedBoxes

CLASS_NAMES = ("car", "motorcycle", "bus", "truck")
# Their places among the 80 classes of detectors trained on COCO.
COCO_VEHICLES = (2, 3, 5, 7)
PHOTO_ENDINGS = {".jpg", ".jpeg", ".png", ".webp"}
# One in so many training photos of an incomplete source chooses thresholds instead of training.
HELD_BACK_SHARE = 20


@dataclass(frozen=True)
class Source:
    """A folder with `images/<part>` and `labels/<part>`.

    weight: how often an epoch draws each training photo on average. complete: every vehicle is
    labelled, so a find outside the labels is certainly wrong. taught: a teacher's finds become
    labels; otherwise they are left out of the loss.
    """

    name: str
    folder: Path
    weight: float
    complete: bool
    taught: bool = True

    def photos(self, part: str) -> list[Path]:
        """Photo files of `train`, `held-back` (of the folder train, too) or `valid`, in name
        order.
        """
        folder = self.folder / "images" / ("valid" if part == "valid" else "train")
        found = sorted(p for p in folder.iterdir() if p.suffix.lower() in PHOTO_ENDINGS)
        if part == "valid":
            return found
        return [p for p in found if self._held_back(p) == (part == "held-back")]

    def _held_back(self, photo: Path) -> bool:
        # Augmented copies of one photo share the name before `.rf.`, so they stay together.
        original = photo.stem.partition(".rf.")[0]
        number = int(hashlib.sha256(original.encode()).hexdigest(), 16)
        return not self.complete and number % HELD_BACK_SHARE == 0


def standard_sources(root: Path) -> list[Source]:
    """The three photo sets of ../shared/vehicles.

    The small set with close-ups counts most.
    """
    return [
        Source("nepal-vehicles", root / "nepal-vehicles", 1.5, False, taught=False),
        Source("vehicles-openimages", root / "vehicles-openimages", 6.0, False),
        Source("highway-cctv", root / "highway-cctv", 1.0, False),
    ]


def further_sources(root: Path) -> list[Source]:
    """The sets of further_sets.py."""
    return [
        Source("open-images-licence-plates", root / "open-images-licence-plates", 3.0, False),
        Source("open-images-mixed", root / "open-images-mixed", 1.0, False),
        Source("atl", root / "atl", 1.0, False),
        Source("modes-of-transport", root / "modes-of-transport", 1.0, False),
        Source("bangkok-buses", root / "bangkok-buses", 0.5, False),
        Source("open-images-streets", root / "open-images-streets", 6.0, False),
        Source("coco-vehicles", root / "coco-vehicles", 6.0, True),
        Source("coco-others", root / "coco-others", 2.0, True),
    ]


def training_sources(root: Path, further: Path | None) -> list[Source]:
    """The standard sets, and the further ones where their folder is given."""
    return standard_sources(root) + (further_sources(further) if further else [])


@dataclass(frozen=True)
class Photo:
    """A photo in memory with its labels.

    pixels: [H, W, 3] uint8 RGB. boxes: [n, 4] x1, y1, x2, y2, 0 to 1 of width and height.
    classes: [n], IGNORED for a place left out of the loss. complete: see Source.
    """

    pixels: np.ndarray
    boxes: np.ndarray
    classes: np.ndarray
    complete: bool


def read_labels(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Reads YOLO text, `class cx cy w h`, 0 to 1.

    Returns boxes [n, 4] as x1, y1, x2, y2 clipped to 0..1, and classes [n]. A missing file means
    no objects. Raises ValueError for a line of another form or an unknown class.
    """
    boxes, classes = read_rows(path)
    if not ((classes >= 0) & (classes < len(CLASS_NAMES))).all():
        raise ValueError(f"{path}: expected `class cx cy w h` with classes 0 to 3")
    return boxes, classes


def read_rows(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """The same with classes of any number."""
    text = path.read_text() if path.exists() else ""
    rows = [line.split() for line in text.splitlines() if line.strip()]
    if any(len(row) != 5 for row in rows):
        raise ValueError(f"{path}: expected `class cx cy w h`")
    table = np.array(rows, np.float32).reshape(-1, 5)
    centre, size = table[:, 1:3], table[:, 3:5]
    boxes = np.concatenate((centre - size / 2, centre + size / 2), 1).clip(0, 1)
    return boxes, table[:, 0].astype(np.int64)


def label_file(photo: Path) -> Path:
    """`images/train/a.jpg` -> `labels/train/a.txt`, `images/a.jpg` -> `labels/a.txt`."""
    images = next(folder for folder in photo.parents if folder.name == "images")
    return images.parent / "labels" / photo.relative_to(images).with_suffix(".txt")


def read_photo(path: Path, longest_side: int | None = None) -> np.ndarray:
    """[H, W, 3] uint8 RGB, made smaller when its longer side exceeds `longest_side` pixels."""
    pixels = cv2.imread(str(path), cv2.IMREAD_COLOR)
    if pixels is None:
        raise ValueError(f"{path}: not a readable picture")
    scale = (longest_side or max(pixels.shape)) / max(pixels.shape[:2])
    if scale < 1:
        size = (round(pixels.shape[1] * scale), round(pixels.shape[0] * scale))
        pixels = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
    return cv2.cvtColor(pixels, cv2.COLOR_BGR2RGB)


class PhotoStore:
    """All training photos of the sources, decoded once and kept in memory."""

    def __init__(
        self,
        sources: list[Source],
        longest_side: int,
        limit: int | None = None,
        added: dict[str, AddedBoxes] | None = None,
    ):
        """limit keeps only the first photos of the first source, for the overfit check. added:
        boxes by `set/photo` beside the labels; where given, photos of incomplete sources that it
        does not name are left out.
        """
        listed = [(source, path) for source in sources for path in source.photos("train")]
        if added:
            listed = [
                (source, path)
                for source, path in listed
                if source.complete or f"{source.name}/{path.stem}" in added
            ]
        listed = listed[:limit]
        refuse_held_out(sources, [path for _, path in listed])
        with ThreadPoolExecutor(2) as pool:
            self.photos = list(
                pool.map(lambda item: load_photo(*item, longest_side, added or {}), listed)
            )
        self.weights = np.array([source.weight for source, _ in listed])
        self.shares = self.weights.cumsum() / self.weights.sum()

    def __len__(self) -> int:
        return len(self.photos)

    def draw(self, count: int, random: np.random.Generator) -> np.ndarray:
        """Photo indices, each set as often as its weight says."""
        return np.searchsorted(self.shares, random.random(count))

    def epoch_order(self, random: np.random.Generator) -> np.ndarray:
        """Photo indices of one epoch, shuffled; a weight of 2.3 gives two or three turns."""
        turns = np.floor(self.weights + random.random(len(self.weights))).astype(int)
        return random.permutation(np.repeat(np.arange(len(self.photos)), turns))


def load_photo(
    source: Source, path: Path, longest_side: int | None, added: dict[str, AddedBoxes]
) -> Photo:
    """A photo with its own labels, then the added ones."""
    boxes, classes = read_labels(label_file(path))
    more = added.get(f"{source.name}/{path.stem}", NOTHING_ADDED)
    more_classes = more.classes if source.taught else np.full_like(more.classes, IGNORED)
    return Photo(
        read_photo(path, longest_side),
        np.concatenate((boxes, more.boxes)),
        np.concatenate((classes, more_classes)),
        source.complete,
    )


def refuse_held_out(sources: list[Source], photos: list[Path]) -> None:
    """Raises ValueError when a training photo is byte for byte a held-out one."""
    held_out = {
        _digest(path)
        for source in sources
        if (source.folder / "images" / "valid").is_dir()
        for path in source.photos("valid")
    }
    for path in photos:
        if _digest(path) in held_out:
            raise ValueError(f"{path} is also a held-out photo")


def _digest(path: Path) -> bytes:
    return hashlib.sha256(path.read_bytes()).digest()
