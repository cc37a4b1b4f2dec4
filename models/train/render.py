"""Renders street scenes with the box of every vehicle.

python models/train/render.py set OUT --count 400           # training set for train.py --extra
python models/train/render.py empty OUT --count 100         # streets and patterns without vehicles
python models/train/render.py demo models/demo              # the bundled demo pictures
"""

from __future__ import annotations

import argparse
from pathlib import Path

import cv2
import numpy as np

from backgrounds import rendered_background
from dataset import CLASS_NAMES
from scenes.street import DENSE, Scene, render_scene

# Each use has seeds of its own: nothing is judged on a picture that was trained on.
TRAINING_SEED = 1_000_000
EMPTY_SEED = 2_000_000
DEMO = (("street", 44), ("crossing", 1))
DEMO_SIZE = (960, 720)


def write_set(folder: Path, count: int) -> None:
    """`images/train` and `labels/train` as dataset.Source reads them; every other street is full."""
    for part in ("images", "labels"):
        (folder / part / "train").mkdir(parents=True, exist_ok=True)
    for index in range(count):
        random = np.random.default_rng(TRAINING_SEED + index)
        size = random_size(random)
        dense = index % 2 == 1
        scene = render_scene(*size, random, 40, DENSE) if dense else render_scene(*size, random)
        name = f"scene-{index:05d}"
        write_picture(folder / "images/train" / f"{name}.jpg", scene.pixels)
        (folder / "labels/train" / f"{name}.txt").write_text(labels(scene))


def random_size(random: np.random.Generator) -> tuple[int, int]:
    """Width and height in pixels."""
    width = int(random.integers(480, 960))
    return width, int(width * random.uniform(0.6, 1.0))


def write_empty(folder: Path, count: int) -> None:
    """Streets without vehicles and, every other one, patterns."""
    folder.mkdir(parents=True, exist_ok=True)
    for index in range(count):
        write_picture(folder / f"empty-{index:05d}.jpg", empty_picture(EMPTY_SEED, index))


def empty_picture(seed: int, index: int) -> np.ndarray:
    """A street for an even index, else a pattern."""
    random = np.random.default_rng(seed + index)
    if index % 2 == 0:
        return render_scene(*random_size(random), random, most=0).pixels
    return rendered_background(640, random).pixels


def labels(scene: Scene) -> str:
    """YOLO text, `class cx cy w h`, 0 to 1."""
    height, width = scene.pixels.shape[:2]
    near, far = scene.boxes[:, :2], scene.boxes[:, 2:]
    rows = np.concatenate(((near + far) / 2, far - near), 1) / (width, height, width, height)
    lines = [
        f"{number} " + " ".join(f"{value:.6f}" for value in row)
        for number, row in zip(scene.classes, rows, strict=True)
    ]
    return "".join(f"{line}\n" for line in lines)


def write_demo(folder: Path) -> None:
    """`NAME.jpg` with its boxes in `NAME.json`."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, seed in DEMO:
        scene = render_scene(*DEMO_SIZE, np.random.default_rng(seed), most=7)
        write_picture(folder / f"{name}.jpg", scene.pixels)
        height, width = scene.pixels.shape[:2]
        rows = [
            f'    {{ "class": "{CLASS_NAMES[number]}", "box": {rounded(box)} }}'
            for number, box in zip(scene.classes, scene.boxes, strict=True)
        ]
        head = f'  "image": "{name}.jpg",\n  "width": {width},\n  "height": {height},\n'
        body = ",\n".join(rows)
        (folder / f"{name}.json").write_text(f'{{\n{head}  "boxes": [\n{body}\n  ]\n}}\n')


def rounded(box: np.ndarray) -> list[float | int]:
    """To a tenth of a pixel, whole numbers without a point."""
    sides = (round(float(side), 1) for side in box)
    return [int(side) if side.is_integer() else side for side in sides]


def write_picture(path: Path, pixels: np.ndarray) -> None:
    bgr = cv2.cvtColor(pixels, cv2.COLOR_RGB2BGR)
    if not cv2.imwrite(str(path), bgr, [cv2.IMWRITE_JPEG_QUALITY, 88]):
        raise OSError(f"{path} cannot be written")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    training = commands.add_parser("set", help="a training set")
    training.add_argument("folder", type=Path)
    training.add_argument("--count", type=int, default=400)
    empty = commands.add_parser("empty", help="pictures without vehicles")
    empty.add_argument("folder", type=Path)
    empty.add_argument("--count", type=int, default=100)
    demo = commands.add_parser("demo", help="the demo pictures")
    demo.add_argument("folder", type=Path)
    options = parser.parse_args()
    if options.command == "set":
        write_set(options.folder, options.count)
    elif options.command == "empty":
        write_empty(options.folder, options.count)
    else:
        write_demo(options.folder)


if __name__ == "__main__":
    main()
