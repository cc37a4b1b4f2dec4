"""Pictures without vehicles: crops between the labelled boxes and rendered patterns."""

from __future__ import annotations

import cv2
import numpy as np

from dataset import Photo


def empty_crop(photo: Photo, random: np.random.Generator, tries: int = 12) -> Photo | None:
    """A part of the photo that touches no box, labelled or ignored, at least a quarter of each side.

    None when none is found.
    """
    height, width = photo.pixels.shape[:2]
    for _ in range(tries):
        size = random.uniform(0.25, 0.7, 2)
        corner = random.uniform(0, 1 - size)
        far = corner + size
        apart = (photo.boxes[:, :2] >= far).any(1) | (photo.boxes[:, 2:] <= corner).any(1)
        if apart.all():
            left, top = (corner * (width, height)).astype(int)
            right, bottom = (far * (width, height)).astype(int)
            return _empty(photo.pixels[top:bottom, left:right], photo.complete)
    return None


def rendered_background(side: int, random: np.random.Generator) -> Photo:
    """Cloudy noise in a random palette with flat shapes on it, side x side pixels."""
    canvas = np.zeros((side, side, 3), np.float32)
    for octave in (2, 5, 13, 41):
        noise = random.normal(0, 1 / octave**0.5, (octave, octave, 3)).astype(np.float32)
        if random.random() < 0.6:
            noise[...] = noise.mean(2, keepdims=True)
        canvas += cv2.resize(noise, (side, side), interpolation=cv2.INTER_CUBIC)
    contrast = random.uniform(10, 60)
    picture = canvas * contrast + random.uniform(20, 235, 3).astype(np.float32)
    picture = np.ascontiguousarray(picture.clip(0, 255).astype(np.uint8))
    for _ in range(int(random.integers(0, 14))):
        _draw_shape(picture, random)
    if random.random() < 0.5:
        picture = cv2.GaussianBlur(picture, (0, 0), random.uniform(0.4, 2))
    return _empty(picture, complete=True)


def _draw_shape(picture: np.ndarray, random: np.random.Generator) -> None:
    side = picture.shape[0]
    colour = random.integers(0, 256, 3).tolist()
    thickness = -1 if random.random() < 0.6 else int(random.integers(1, 6))
    first, second = random.integers(0, side, (2, 2)).tolist()
    kind = random.integers(0, 5)
    if kind == 0:
        cv2.rectangle(picture, first, second, colour, thickness, cv2.LINE_AA)
    elif kind == 1:
        axes = random.integers(2, side // 4, 2).tolist()
        cv2.ellipse(picture, first, axes, random.uniform(0, 180), 0, 360, colour, thickness)
    elif kind == 2:
        corners = random.integers(0, side, (int(random.integers(3, 7)), 2), dtype=np.int32)
        cv2.fillPoly(picture, [corners], colour, cv2.LINE_AA)
    elif kind == 3:
        cv2.line(picture, first, second, colour, int(random.integers(1, 8)), cv2.LINE_AA)
    else:
        letters = "".join(chr(c) for c in random.integers(48, 91, int(random.integers(2, 9))))
        size = random.uniform(0.4, 3)
        cv2.putText(picture, letters, first, cv2.FONT_HERSHEY_SIMPLEX, size, colour, 2, cv2.LINE_AA)


def _empty(pixels: np.ndarray, complete: bool) -> Photo:
    return Photo(pixels, np.zeros((0, 4), np.float32), np.zeros(0, np.int64), complete)
