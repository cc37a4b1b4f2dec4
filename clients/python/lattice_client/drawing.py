"""Boxes drawn into pictures with Pillow."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .errors import PictureError
from .extras import missing_package
from .picture import Picture, read_picture

try:
    from PIL import Image, ImageDraw, ImageFont, ImageOps
except ImportError:
    raise missing_package("Drawing needs Pillow", "images") from None

# Okabe and Ito's palette: colour-blind readers can tell its colours apart.
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


def draw_boxes(
    picture: Image.Image, boxes: Iterable[tuple[str, float, tuple[float, float, float, float]]]
) -> Image.Image:
    """A copy of `picture` with each box, its class and its confidence; later ones lie above earlier ones."""
    drawn = picture.convert("RGB")
    canvas = ImageDraw.Draw(drawn)
    side = max(drawn.size)
    stroke = max(2, round(side / 320))
    font = ImageFont.load_default(size=max(11, round(side / 55)))
    for class_name, confidence, box in boxes:
        colour = colour_of(class_name)
        left, top, right, bottom = box
        # Some versions of Pillow refuse a box whose corners are swapped by rounding.
        canvas.rectangle(
            (left, top, max(left, right), max(top, bottom)), outline=colour, width=stroke
        )
        label = f"{class_name} {confidence:.2f}"
        _label(canvas, label, (left, top), colour, font, drawn.size)
    return drawn


def open_picture(image: Picture) -> Image.Image:
    """The pixels of `image`, upright where it is a file; a `str` is a path on this machine."""
    if isinstance(image, Image.Image):
        return image
    if isinstance(image, str):
        image = Path(image)
    _, content, _ = read_picture(image)
    try:
        with Image.open(io.BytesIO(content)) as stored:
            upright = ImageOps.exif_transpose(stored)
            upright.load()
    except OSError as error:
        name = image if isinstance(image, os.PathLike) else "The picture"
        raise PictureError(f"{name} cannot be decoded by Pillow: {error}.") from error
    return upright


def _label(
    canvas: ImageDraw.ImageDraw,
    text: str,
    corner: tuple[float, float],
    colour: str,
    font: Any,
    size: tuple[int, int],
) -> None:
    """Above the box's upper left corner, pushed back into the picture where it would stick out."""
    left, top, right, bottom = canvas.textbbox((0, 0), text, font=font)
    width, height = right - left + 6, bottom - top + 6
    limit_x, limit_y = size
    x = max(0, min(corner[0], limit_x - width))
    y = corner[1] - height if corner[1] >= height else min(corner[1], limit_y - height)
    canvas.rectangle((x, y, x + width, y + height), fill=colour)
    canvas.text((x + 3 - left, y + 3 - top), text, fill="black", font=font)
