"""From stored photos to network inputs: letterbox, mosaic, scale and shift, mirror, colour."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from added_labels import IGNORED
from dataset import Photo

GREY = 114


@dataclass(frozen=True)
class Strength:
    """How far an epoch's pictures may move from the stored photos.

    mosaics: shares of pictures made of 4, 9 and 16 photos; in the last, a photo has about a third
    of its size. paste: share of photos that get vehicles of others. window: of single photos in pictures
    smaller than the network's usual input, the share shown at full size and in part. scale: side factor 1 +- scale
    for mosaics of 4, half of it for others. shift: share of the side. hue, saturation, value: relative change of each.
    """

    mosaics: tuple[float, float, float] = (0.3, 0.15, 0.05)
    paste: float = 0.15
    window: float = 0.75
    scale: float = 0.5
    shift: float = 0.1
    hue: float = 0.015
    saturation: float = 0.7
    value: float = 0.45
    grey: float = 0.03

    def without_mosaic(self) -> Strength:
        """For the last epochs: whole photos at nearly their own size."""
        return Strength(mosaics=(0.0, 0.0, 0.0), paste=0.0, scale=0.7)


# Shorter sides in pixels and visible parts below which a vehicle is neither taught nor denied.
LEAST_SIDE = 5
LEAST_VISIBLE = 0.25


@dataclass(frozen=True)
class Sample:
    """pixels: [side, side, 3] uint8 RGB. boxes: [n, 4] x1, y1, x2, y2 in pixels. classes: [n],
    IGNORED for a place left out of the loss.
    """

    pixels: np.ndarray
    boxes: np.ndarray
    classes: np.ndarray
    complete: bool


def letterbox(pixels: np.ndarray, side: int) -> tuple[np.ndarray, float, tuple[int, int]]:
    """Fits the photo into side x side, centred on grey.

    Sampling is two-tap bilinear, as in deployment. Returns pixels, the scale and the left and top
    margin: input = photo * scale + margin.
    """
    height, width = pixels.shape[:2]
    scale = side / max(height, width)
    size = (round(width * scale), round(height * scale))
    if size != (width, height):
        pixels = cv2.resize(pixels, size, interpolation=cv2.INTER_LINEAR)
    left, top = (side - size[0]) // 2, (side - size[1]) // 2
    canvas = np.full((side, side, 3), GREY, np.uint8)
    canvas[top : top + size[1], left : left + size[0]] = pixels
    return canvas, scale, (left, top)


def augment(
    photos: list[Photo],
    side: int,
    strength: Strength,
    random: np.random.Generator,
    full: int = 0,
) -> Sample:
    """One photo, or 4, 9 or 16 for a mosaic, to one training sample of side x side pixels. full: the
    side of the network's usual input, where `side` is less.
    """
    if len(photos) == 1 and side < full and random.random() < strength.window:
        canvas, boxes, classes = _window(photos[0], side, full, random)
    elif len(photos) == 1:
        canvas, boxes, classes = _single(photos[0], side, random)
    elif len(photos) == 4:
        canvas, boxes, classes = _mosaic(photos, side, random)
    else:
        canvas, boxes, classes = _grid(photos, side, random)
    scale = strength.scale * (1 if len(photos) == 4 else 0.5)
    pixels, boxes, visible = _warp(canvas, boxes, side, scale, strength.shift, random)
    keep = (visible > 0.02) & ((boxes[:, 2:] - boxes[:, :2]) > 1).all(1)
    doubtful = (visible < LEAST_VISIBLE) | ((boxes[:, 2:] - boxes[:, :2]) < LEAST_SIDE).any(1)
    classes = np.where(doubtful, IGNORED, classes)
    pixels = _recolour(pixels, strength, random)
    if random.random() < 0.5:
        pixels = pixels[:, ::-1]
        boxes[:, [0, 2]] = side - boxes[:, [2, 0]]
    complete = all(photo.complete for photo in photos)
    return Sample(np.ascontiguousarray(pixels), boxes[keep], classes[keep], complete)


def _resized(photo: Photo, side: int, random: np.random.Generator) -> np.ndarray:
    """The photo with its longer side at `side` pixels; smooth or two-tap sampling by chance."""
    height, width = photo.pixels.shape[:2]
    scale = side / max(height, width)
    size = (max(1, round(width * scale)), max(1, round(height * scale)))
    smooth = scale < 1 and random.random() < 0.5
    method = cv2.INTER_AREA if smooth else cv2.INTER_LINEAR
    return cv2.resize(photo.pixels, size, interpolation=method)


def _mosaic(
    photos: list[Photo], side: int, random: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Four photos around a random centre of a canvas of twice the side; boxes in canvas pixels."""
    canvas = np.full((2 * side, 2 * side, 3), GREY, np.uint8)
    centre_x, centre_y = random.integers(side // 2, side + side // 2, 2).tolist()
    boxes, classes = [], []
    for place, photo in enumerate(photos):
        tile = _resized(photo, side, random)
        height, width = tile.shape[:2]
        left = centre_x - width if place % 2 == 0 else centre_x
        top = centre_y - height if place < 2 else centre_y
        x1, y1 = max(left, 0), max(top, 0)
        x2, y2 = min(left + width, 2 * side), min(top + height, 2 * side)
        canvas[y1:y2, x1:x2] = tile[y1 - top : y2 - top, x1 - left : x2 - left]
        boxes.append(photo.boxes * (width, height, width, height) + (left, top, left, top))
        classes.append(photo.classes)
    return canvas, np.concatenate(boxes), np.concatenate(classes)


def _grid(
    photos: list[Photo], side: int, random: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """k x k photos of 1.5 side / k pixels edge to edge, each in the middle of its cell."""
    count = round(len(photos) ** 0.5)
    cell = round(1.5 * side / count)
    canvas = np.full((cell * count, cell * count, 3), GREY, np.uint8)
    boxes, classes = [], []
    for place, photo in enumerate(photos):
        tile = _resized(photo, cell, random)
        height, width = tile.shape[:2]
        left = place % count * cell + (cell - width) // 2
        top = place // count * cell + (cell - height) // 2
        canvas[top : top + height, left : left + width] = tile
        boxes.append(photo.boxes * (width, height, width, height) + (left, top, left, top))
        classes.append(photo.classes)
    return canvas, np.concatenate(boxes), np.concatenate(classes)


def _single(
    photo: Photo, side: int, random: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    tile = _resized(photo, side, random)
    height, width = tile.shape[:2]
    return tile, photo.boxes * (width, height, width, height), photo.classes


def _window(
    photo: Photo, side: int, full: int, random: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """side x side pixels of the photo at its size in an input of side `full`, mostly around one of
    its vehicles.
    """
    tile, boxes, classes = _single(photo, full, random)
    centre = random.uniform(0, tile.shape[1::-1])
    if len(boxes) and random.random() < 0.8:
        near, far = np.split(boxes[random.integers(len(boxes))], 2)
        centre = random.uniform(near, far)
    corner = (centre - random.uniform(0.3, 0.7, 2) * side).round().astype(int)
    most = np.maximum(np.array(tile.shape[1::-1]) - side, 0)
    left, top = corner.clip(0, most).tolist()
    part = tile[top : top + side, left : left + side]
    canvas = np.full((side, side, 3), GREY, np.uint8)
    canvas[: part.shape[0], : part.shape[1]] = part
    return canvas, boxes - (left, top, left, top), classes


def _warp(
    canvas: np.ndarray,
    boxes: np.ndarray,
    side: int,
    most: float,
    shift: float,
    random: np.random.Generator,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scales by 1 +- most and shifts the canvas about its centre into side x side.

    Also returns the clipped boxes and the visible part of each.
    """
    scale = random.uniform(1 - most, 1 + most)
    height, width = canvas.shape[:2]
    middle = side * (0.5 + random.uniform(-shift, shift, 2))
    offset = middle - np.array((width, height)) / 2 * scale
    matrix = np.array([[scale, 0, offset[0]], [0, scale, offset[1]]], np.float32)
    pixels = cv2.warpAffine(canvas, matrix, (side, side), borderValue=(GREY, GREY, GREY))
    moved = boxes * scale + np.tile(offset, 2)
    clipped = moved.clip(0, side)
    size, full = clipped[:, 2:] - clipped[:, :2], moved[:, 2:] - moved[:, :2]
    visible = size.prod(1) / np.maximum(full.prod(1), 1e-6)
    return pixels, clipped.astype(np.float32), visible


def _recolour(pixels: np.ndarray, strength: Strength, random: np.random.Generator) -> np.ndarray:
    """Hue shift and saturation and value gains by lookup tables; sometimes all grey."""
    if random.random() < strength.grey:
        return cv2.cvtColor(cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY), cv2.COLOR_GRAY2RGB)
    limits = np.array((strength.hue, strength.saturation, strength.value))
    hue, saturation, value = 1 + random.uniform(-1, 1, 3) * limits
    steps = np.arange(256, dtype=np.float32)
    tables = (
        ((steps + (hue - 1) * 180) % 180).astype(np.uint8),
        (steps * saturation).clip(0, 255).astype(np.uint8),
        (steps * value).clip(0, 255).astype(np.uint8),
    )
    planes = cv2.split(cv2.cvtColor(pixels, cv2.COLOR_RGB2HSV))
    merged = cv2.merge([cv2.LUT(p, t) for p, t in zip(planes, tables, strict=True)])
    return cv2.cvtColor(merged, cv2.COLOR_HSV2RGB)
