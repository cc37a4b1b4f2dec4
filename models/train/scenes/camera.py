"""A pinhole camera over a street, and faces in the order a painter lays them down."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np

NEAR = 0.5  # metres; what comes closer to the lens is cut off
OVERSAMPLING = 2
SUBPIXEL_BITS = 4


@dataclass(frozen=True)
class Face:
    """A flat polygon. corners: [n, 3] metres, x right, y up, z ahead. colour: RGB, 0 to 255.

    applied: lies on another face of the same thing, so it is painted after all of those.
    """

    corners: np.ndarray
    colour: tuple[float, float, float]
    applied: bool = False


@dataclass(frozen=True)
class Camera:
    """width, height: pixels. focal: pixels. eye: metres above the road. pitch: radians downwards."""

    width: int
    height: int
    focal: float
    eye: float
    pitch: float

    def view(self, points: np.ndarray) -> np.ndarray:
        """World [n, 3] -> camera [n, 3], y down, z along the view."""
        x, y, z = points[:, 0], points[:, 1] - self.eye, points[:, 2]
        sine, cosine = math.sin(self.pitch), math.cos(self.pitch)
        return np.stack((x, -(y * cosine + z * sine), z * cosine - y * sine), 1)

    def project(self, viewed: np.ndarray) -> np.ndarray:
        """Camera [n, 3] with z > 0 -> pixels [n, 2]."""
        centre = np.array((self.width / 2, self.height / 2))
        return viewed[:, :2] / viewed[:, 2:] * self.focal + centre


def cut_near(viewed: np.ndarray) -> np.ndarray:
    """The part of a polygon that lies ahead of NEAR; empty when none does."""
    kept = []
    for here, after in zip(viewed, np.roll(viewed, -1, 0), strict=True):
        if here[2] >= NEAR:
            kept.append(here)
        if (here[2] >= NEAR) != (after[2] >= NEAR):
            share = (NEAR - here[2]) / (after[2] - here[2])
            kept.append(here + share * (after - here))
    return np.array(kept).reshape(-1, 3)


class Canvas:
    """Pictures being painted: colours, and which vehicle each pixel shows."""

    def __init__(self, camera: Camera):
        self.camera = camera
        size = (camera.height * OVERSAMPLING, camera.width * OVERSAMPLING)
        self.colours = np.zeros((*size, 3), np.uint8)
        self.owners = np.zeros(size, np.uint8)

    def paint(self, face: Face, owner: int = 0) -> None:
        """owner: 0 for the street, else the number of the vehicle."""
        outline = self._outline(face.corners)
        if outline is None:
            return
        cv2.fillPoly(self.colours, [outline], face.colour, cv2.LINE_8, SUBPIXEL_BITS)
        cv2.fillPoly(self.owners, [outline], owner, cv2.LINE_8, SUBPIXEL_BITS)

    def darken(self, corners: np.ndarray, factor: float) -> None:
        """Multiplies the colours beneath a polygon: a shadow."""
        outline = self._outline(corners)
        if outline is None:
            return
        mask = np.zeros(self.owners.shape, np.uint8)
        cv2.fillPoly(mask, [outline], 255, cv2.LINE_8, SUBPIXEL_BITS)
        left, top, width, height = cv2.boundingRect(mask)
        if width == 0 or height == 0:
            return
        part = np.s_[top : top + height, left : left + width]
        shade = cv2.GaussianBlur(mask[part], (0, 0), 5).astype(np.float32)[..., None] / 255
        self.colours[part] = (self.colours[part] * (1 - shade * (1 - factor))).astype(np.uint8)

    def picture(self) -> np.ndarray:
        """[H, W, 3] uint8 at the camera's size."""
        size = (self.camera.width, self.camera.height)
        return cv2.resize(self.colours, size, interpolation=cv2.INTER_AREA)

    def _outline(self, corners: np.ndarray) -> np.ndarray | None:
        viewed = cut_near(self.camera.view(corners))
        if len(viewed) < 3:
            return None
        pixels = self.camera.project(viewed) * OVERSAMPLING
        limit = 20 * max(self.camera.width, self.camera.height)
        return np.round(pixels.clip(-limit, limit) * (1 << SUBPIXEL_BITS)).astype(np.int32)


def seen_from_front(face: Face, camera: Camera) -> bool:
    """Whether the side from which the corners run anticlockwise faces the lens."""
    viewed = camera.view(face.corners)
    normal = np.cross(viewed[1] - viewed[0], viewed[2] - viewed[0])
    return float(normal @ viewed[0]) > 0


def far_to_near(faces: list[Face], camera: Camera) -> list[Face]:
    def order(face: Face) -> tuple[bool, float]:
        return face.applied, -float(camera.view(face.corners)[:, 2].mean())

    return sorted(faces, key=order)
