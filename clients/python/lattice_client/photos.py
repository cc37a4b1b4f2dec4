"""Photos of this machine for a job: which files there are, and their names in results."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from .errors import PictureError

#: Folders and files of this machine.
Photos: TypeAlias = "str | os.PathLike[str] | Iterable[str | os.PathLike[str]]"


@dataclass(frozen=True)
class Photo:
    #: As results name it: beneath the folder that was given, with its name.
    name: str
    path: Path
    size: int
    modified_at: float

    def read(self) -> bytes:
        try:
            return self.path.read_bytes()
        except OSError as error:
            raise PictureError(f"{self.path} cannot be read: {error.strerror}.") from error


def find_photos(photos: Photos) -> list[Photo]:
    """All files, whatever they are: the service says which it takes."""
    given = [photos] if isinstance(photos, (str, os.PathLike)) else list(photos)
    found: dict[str, Photo] = {}
    for each in given:
        root = Path(each).expanduser().resolve()
        if not root.exists():
            raise PictureError(f"There is no file or folder {root} on this machine.")
        for path in _files_of(root):
            name = _free_name(path.relative_to(root.parent).as_posix(), found)
            status = path.stat()
            found[name] = Photo(name, path, status.st_size, max(0.0, status.st_mtime))
    if not found:
        raise PictureError("There are no files in what was given as upload.")
    return list(found.values())


def _files_of(root: Path) -> Iterator[Path]:
    if root.is_file():
        yield root
        return
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(folder, name)
            if path.is_file():
                yield path


def _free_name(name: str, taken: dict[str, Photo]) -> str:
    """Two folders may have files of one name."""
    stem, ending = os.path.splitext(name)  # noqa: PTH122
    number = 2
    while name in taken:
        name = f"{stem} ({number}){ending}"
        number += 1
    return name
