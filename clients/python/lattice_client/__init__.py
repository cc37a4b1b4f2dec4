"""Client of a lattice-core detection service: `Lattice`, and `AsyncLattice` for asyncio."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .agreement import Agreement, Alias
from .answers import AgreementCounts, FileFacts, JobAccepted, Model, Problem, View, Watch
from .async_client import AsyncLattice
from .client import Lattice
from .errors import (
    CallTimeoutError,
    JobTimeoutError,
    LatticeError,
    PictureError,
    ServiceError,
    UnexpectedAnswerError,
    UnreachableError,
)
from .options import DetectOptions, JobFilter, JobLabels, JobOptions, Region, WatchOptions
from .picture import Picture
from .records import (
    Detection,
    ImageResult,
    JobFailedError,
    JobResult,
    JobStatus,
    to_pandas,
    to_supervision,
)

if TYPE_CHECKING:
    from PIL import Image

__all__ = [
    "Agreement",
    "AgreementCounts",
    "Alias",
    "AsyncLattice",
    "CallTimeoutError",
    "DetectOptions",
    "Detection",
    "FileFacts",
    "ImageResult",
    "JobAccepted",
    "JobFailedError",
    "JobFilter",
    "JobLabels",
    "JobOptions",
    "JobResult",
    "JobStatus",
    "JobTimeoutError",
    "Lattice",
    "LatticeError",
    "Model",
    "Picture",
    "PictureError",
    "Problem",
    "Region",
    "ServiceError",
    "UnexpectedAnswerError",
    "UnreachableError",
    "View",
    "Watch",
    "WatchOptions",
    "colour_of",
    "draw",
    "to_pandas",
    "to_supervision",
]


def draw(image: Picture, found: ImageResult) -> Image.Image:
    """A copy of `image` with the boxes of `found`; a `str` is a file on this machine. Needs Pillow."""
    return found.draw(image)


def colour_of(class_name: str) -> str:
    """The colour in which boxes of a class are drawn, as `#rrggbb`. Needs Pillow."""
    from . import drawing

    return drawing.colour_of(class_name)
