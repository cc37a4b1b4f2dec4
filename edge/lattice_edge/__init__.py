"""The edge node's side of lattice-core: checks first, then a small client for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .connection import connect
from .edge import Edge
from .faults import (
    EdgeError,
    JobFailedError,
    JobTimeoutError,
    ServiceError,
    SetupError,
    UnreachableError,
)
from .job import Job
from .settings import Settings

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = [
    "Edge",
    "EdgeError",
    "Job",
    "JobFailedError",
    "JobTimeoutError",
    "ServiceError",
    "Settings",
    "SetupError",
    "UnreachableError",
    "colour_of",
    "connect",
    "draw",
]


def draw(image: Image, detections: list[dict[str, Any]]) -> Image:
    """A copy of `image` with the boxes of `detections`."""
    from . import drawing  # the checks run where Pillow is missing

    return drawing.draw(image, detections)


def colour_of(name: str) -> str:
    """The colour in which boxes of a class are drawn."""
    from . import drawing

    return drawing.colour_of(name)
