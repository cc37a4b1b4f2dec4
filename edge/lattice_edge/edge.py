"""The client of a notebook: `lattice_client.Lattice` with the edge node's settings, progress line and pictures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lattice_client import ImageResult, JobStatus, Lattice

from .faults import SetupError
from .progress import ProgressLine
from .settings import Settings, service_address

if TYPE_CHECKING:
    from PIL.Image import Image

    from lattice_client.core import JobRef
    from lattice_client.progress import Progress


class Edge(Lattice):
    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        try:
            super().__init__(base_url=str(service_address(settings)), api_key=settings.api_key)
        except ValueError as error:
            raise SetupError(str(error)) from None

    def wait(
        self, job: JobRef, *, timeout: float = 600.0, progress: Progress | None = None
    ) -> JobStatus:
        """As `Lattice.wait`; without `progress` it shows a line that is updated in place."""
        shown = ProgressLine().show if progress is None else progress
        return super().wait(job, timeout=timeout, progress=shown)

    def drawn(self, found: ImageResult) -> Image:
        """The picture of `found` with its boxes, from the folder LATTICE_EDGE_IMAGES when it has the picture.

        Otherwise from the copy that the service drew because it was asked with `annotate=True`.
        """
        path = local_picture(self.settings.images, found)
        if path is None and found.annotated_url is None:
            raise SetupError(
                f"There are no pixels of {found.image_path} here: ask for it with annotate=True, or set "
                "LATTICE_EDGE_IMAGES to a folder that holds it."
            )
        return self.draw(found, path)


def local_picture(folder: Path | None, found: ImageResult) -> Path | None:
    """The file of the same path beneath `folder`; None when there is no folder or it has no such file."""
    if folder is None:
        return None
    root = folder.resolve()
    path = (root / found.image_path).resolve()
    return path if path.is_relative_to(root) and path.is_file() else None
