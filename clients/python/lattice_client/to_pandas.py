"""Detections as a table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from .records import ImageResult

if TYPE_CHECKING:
    import pandas

_COLUMNS = {
    "image_path": "str",
    "class_name": "str",
    "confidence": "float64",
    "x_min": "float64",
    "y_min": "float64",
    "x_max": "float64",
    "y_max": "float64",
    "image_width": "int64",
    "image_height": "int64",
    "model": "str",
    "worker_id": "str",
}


def to_pandas(images: Iterable[ImageResult]) -> pandas.DataFrame:
    """One row per detection; boxes in pixels. An image without detections has no row."""
    try:
        import pandas
    except ImportError:
        raise ImportError("Tables need pandas: pip install 'lattice-client[pandas]'") from None
    rows = [
        (
            image.image_path,
            found.class_name,
            found.confidence,
            *found.box,
            image.width,
            image.height,
            image.model,
            image.worker_id,
        )
        for image in images
        for found in image.detections
    ]
    table: pandas.DataFrame = pandas.DataFrame(rows, columns=list(_COLUMNS)).astype(_COLUMNS)
    return table
