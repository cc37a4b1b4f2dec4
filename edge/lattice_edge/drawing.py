"""Boxes drawn into pictures with Pillow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw, ImageFont, ImageOps

from .faults import SetupError

# Okabe and Ito's palette: told apart by colour-blind readers too.
_COLOURS = {
    "car": "#E69F00",
    "motorcycle": "#CC79A7",
    "bus": "#009E73",
    "truck": "#56B4E9",
}
_OTHER = ("#D55E00", "#F0E442", "#0072B2")


def colour_of(name: str) -> str:
    """The same for a class everywhere, so that charts and boxes match."""
    return _COLOURS.get(name.lower()) or _OTHER[sum(name.encode()) % len(_OTHER)]


def draw(image: Image.Image, detections: list[dict[str, Any]]) -> Image.Image:
    """A copy with a box, the class and the confidence of each detection. `image` is upright, as the boxes are."""
    drawn = image.convert("RGB")
    canvas = ImageDraw.Draw(drawn)
    side = max(drawn.size)
    stroke = max(2, round(side / 320))
    font = ImageFont.load_default(size=max(11, round(side / 55)))
    # The surest last: its label stays on top.
    for detection in reversed(detections):
        colour = colour_of(detection["class"])
        x1, y1, x2, y2 = detection["box"]
        canvas.rectangle((x1, y1, x2, y2), outline=colour, width=stroke)
        _label(
            canvas, f"{detection['class']} {detection['confidence']:.2f}", (x1, y1), colour, font
        )
    return drawn


def _label(
    canvas: ImageDraw.ImageDraw,
    text: str,
    corner: tuple[float, float],
    colour: str,
    font: ImageFont.FreeTypeFont | ImageFont.ImageFont,
) -> None:
    """Above the box's upper left corner, pushed back into the picture where it would stick out."""
    left, top, right, bottom = canvas.textbbox((0, 0), text, font=font)
    width, height = right - left + 6, bottom - top + 6
    limit_x, limit_y = canvas.im.size
    x = max(0, min(corner[0], limit_x - width))
    y = corner[1] - height if corner[1] >= height else min(corner[1], limit_y - height)
    canvas.rectangle((x, y, x + width, y + height), fill=colour)
    canvas.text((x + 3 - left, y + 3 - top), text, fill="black", font=font)


def local_picture(folder: Path | None, found: dict[str, Any]) -> Image.Image | None:
    """The upright picture from `folder`; None when there is no folder or it has no such file.

    Raises `SetupError` when the file is another picture than the service saw, told by its size.
    """
    if folder is None:
        return None
    root = folder.resolve()
    path = (root / found["image_path"]).resolve()
    if not path.is_relative_to(root) or not path.is_file():
        return None
    with Image.open(path) as stored:
        upright = ImageOps.exif_transpose(stored)
        upright.load()
    size = (found["image"]["width"], found["image"]["height"])
    if upright.size != size:
        raise SetupError(
            f"{path} has {upright.width} x {upright.height} pixels, but the service saw {size[0]} x {size[1]}: put the "
            "same picture there, or unset LATTICE_EDGE_IMAGES to use the service's drawn copy."
        )
    return upright
