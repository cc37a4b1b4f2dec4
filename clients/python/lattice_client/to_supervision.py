"""Detections for the `supervision` library."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .records import ImageResult

if TYPE_CHECKING:
    import supervision


def to_supervision(image: ImageResult, classes: Sequence[str]) -> supervision.Detections:
    """`class_id` is the place in `classes`, which must be those of the image's model; names in `data["class_name"]`."""
    try:
        import numpy
        import supervision
    except ImportError:
        raise ImportError(
            "supervision is not installed: pip install 'lattice-client[supervision]'"
        ) from None
    ids = {name: number for number, name in enumerate(classes)}
    names = [found.class_name for found in image.detections]
    unknown = next((name for name in names if name not in ids), None)
    if unknown is not None:
        raise ValueError(f'"{unknown}" is not one of the {len(ids)} classes that were given.')
    return supervision.Detections(
        # The reshape keeps two dimensions where there is no box.
        xyxy=numpy.array([found.box for found in image.detections], numpy.float32).reshape(-1, 4),
        confidence=numpy.array([found.confidence for found in image.detections], numpy.float32),
        class_id=numpy.array([ids[name] for name in names], int),
        data={"class_name": numpy.array(names, str)},
    )
