"""Copy and paste: labelled vehicles of other photos beside those of a photo."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np

from added_labels import IGNORED
from dataset import Photo

# Usual heights in metres in the order of CLASS_NAMES: they set a pasted vehicle's size.
HEIGHTS = (1.5, 1.4, 3.1, 2.8)
LEAST_SIDE = 8  # pixels of the stored photo


def paste_beside(photo: Photo, donors: list[Photo], random: np.random.Generator) -> Photo:
    """One vehicle of each donor, standing on the ground line of a labelled vehicle of the photo and
    sized by it, where it overlaps no box. A donor for which no such place is found adds nothing.
    """
    pixels = photo.pixels.copy()
    height, width = pixels.shape[:2]
    boxes, classes = photo.boxes * (width, height, width, height), photo.classes
    hosts = np.flatnonzero(classes != IGNORED)
    if not len(hosts):
        return photo
    for donor in donors:
        cut = whole_vehicle(donor, random)
        if cut is None:
            continue
        patch, label = cut
        host = random.choice(hosts)
        left, _, right, bottom = boxes[host]
        tall = (bottom - boxes[host, 1]) * HEIGHTS[label] / HEIGHTS[classes[host]]
        tall *= random.uniform(0.7, 1.1)
        wide = tall * patch.shape[1] / patch.shape[0]
        gap = random.uniform(0.05, 1.5) * wide
        x = right + gap if random.random() < 0.5 else left - gap - wide
        place = np.array((x, bottom - tall, x + wide, bottom)).round().astype(int)
        if not _free(place, boxes, width, height) or tall > 1.5 * patch.shape[0]:
            continue
        _blend(pixels, patch, place)
        boxes = np.concatenate((boxes, place[None])).astype(np.float32)
        classes = np.append(classes, label)
    boxes = (boxes / (width, height, width, height)).astype(np.float32)
    return replace(photo, pixels=pixels, boxes=boxes, classes=classes)


def whole_vehicle(photo: Photo, random: np.random.Generator) -> tuple[np.ndarray, int] | None:
    """Pixels and class of a labelled vehicle that no edge cuts and no other box touches; or None."""
    height, width = photo.pixels.shape[:2]
    boxes = photo.boxes * (width, height, width, height)
    for index in random.permutation(np.flatnonzero(photo.classes != IGNORED)):
        near, far = boxes[index, :2], boxes[index, 2:]
        others = np.delete(boxes, index, 0)
        apart = ((others[:, :2] >= far) | (others[:, 2:] <= near)).any(1).all()
        inside = (near > 3).all() and (far < np.array((width, height)) - 3).all()
        if apart and inside and (far - near > 2 * LEAST_SIDE).all():
            (left, top), (right, bottom) = near.astype(int), np.ceil(far).astype(int)
            return photo.pixels[top:bottom, left:right], int(photo.classes[index])
    return None


def _free(place: np.ndarray, boxes: np.ndarray, width: int, height: int) -> bool:
    inside = (place[:2] >= 0).all() and place[2] <= width and place[3] <= height
    large = (place[2:] - place[:2] >= LEAST_SIDE).all()
    apart = ((boxes[:, :2] >= place[2:]) | (boxes[:, 2:] <= place[:2])).any(1).all()
    return bool(inside and large and apart)


def _blend(pixels: np.ndarray, patch: np.ndarray, place: np.ndarray) -> None:
    """Edges fade over a tenth of the patch, so that no straight border betrays it."""
    left, top, right, bottom = place.tolist()
    size = (right - left, bottom - top)
    small = cv2.resize(patch, size, interpolation=cv2.INTER_AREA).astype(np.float32)
    across, down = (np.minimum(np.arange(n) + 0.5, n - np.arange(n) - 0.5) for n in size)
    fade = np.minimum.outer(down / (0.1 * size[1]), across / (0.1 * size[0])).clip(0, 1)[..., None]
    under = pixels[top:bottom, left:right]
    pixels[top:bottom, left:right] = (small * fade + under * (1 - fade)).round().astype(np.uint8)
