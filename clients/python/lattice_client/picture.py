"""What a caller gives as a picture, as the bytes that are sent."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from .errors import PictureError
from .extras import missing_package

if TYPE_CHECKING:
    from typing import TypeGuard

    from PIL import Image

#: A `str` is a path that the service reads; everything else is sent: a `Path` or an open file of this machine, the
#: bytes of an image file, a Pillow image, an array (height, width[, 1, 3 or 4]) of uint8 in RGB order.
Picture: TypeAlias = "str | os.PathLike[str] | bytes | bytearray | memoryview | Any"

_SIGNATURES = (
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
)
_PNG_MODES = ("1", "L", "P", "RGB", "RGBA")
_DEEP_MODES = ("I", "F")


def read_picture(image: Picture) -> tuple[str, bytes, str]:
    """File name, bytes and media type. `PictureError` where it cannot be read, `TypeError` for no picture."""
    name, content = _content(image)
    if not content:
        raise PictureError("The picture is empty: there is nothing to send.")
    return name, content, media_type(content)


def media_type(content: bytes) -> str:
    """Of an image file, by its first bytes."""
    for signature, found in _SIGNATURES:
        if content.startswith(signature):
            return found
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        return "image/webp"
    if content[4:12] in (b"ftypavif", b"ftypavis"):
        return "image/avif"
    return "application/octet-stream"


def _content(image: Picture) -> tuple[str, bytes]:
    if isinstance(image, os.PathLike):
        return _of_file(Path(image))
    if isinstance(image, (bytes, bytearray, memoryview)):
        return "image", bytes(image)
    if _is_pillow(image):
        return "image.png", _png(image)
    if hasattr(image, "__array_interface__") or hasattr(image, "__array__"):
        return "image.png", _png(_of_array(image))
    if callable(getattr(image, "read", None)):
        return _of_open_file(image)
    raise TypeError(
        "A picture is a str (a path that the service reads), a pathlib.Path, bytes, an open binary file, a Pillow "
        f"image or a uint8 array, not {type(image).__name__}."
    )


def _of_file(path: Path) -> tuple[str, bytes]:
    try:
        return path.name, path.read_bytes()
    except FileNotFoundError:
        raise PictureError(
            f"There is no file {path} on this machine. For an image that the service reads from its own folders, give "
            "the path as a str."
        ) from None
    except OSError as error:
        raise PictureError(f"{path} cannot be read: {error.strerror}.") from error


def _of_open_file(file: Any) -> tuple[str, bytes]:
    content = file.read()
    if not isinstance(content, bytes):
        raise PictureError('The file is open as text: open it with mode "rb".')
    name = getattr(file, "name", None)
    return (os.path.basename(name) if isinstance(name, str) else "image"), content  # noqa: PTH119


def _is_pillow(image: Any) -> TypeGuard[Image.Image]:
    """Without importing Pillow: who has an image has imported it."""
    module = sys.modules.get("PIL.Image")
    return module is not None and isinstance(image, module.Image)


def _of_array(array: Any) -> Image.Image:
    numpy, pillow = _numpy(), _pillow()
    pixels = numpy.asarray(array)
    channels = pixels.shape[2] if pixels.ndim == 3 else 1
    if pixels.dtype != numpy.uint8 or pixels.ndim not in (2, 3) or channels not in (1, 3, 4):
        raise PictureError(
            f"The array is {pixels.dtype} of shape {pixels.shape}, but a picture is uint8 of shape (height, width) or "
            "(height, width, 1, 3 or 4), in RGB order."
        )
    image: Image.Image = pillow.fromarray(
        pixels[..., 0] if pixels.ndim == 3 and channels == 1 else pixels
    )
    return image


def _png(image: Image.Image) -> bytes:
    """Without the EXIF orientation: boxes are then in the pixels of `image` as the caller has it."""
    if image.mode in _DEEP_MODES or image.mode.startswith("I;"):
        raise PictureError(
            f"The image has mode {image.mode}: convert it to 8 bits per channel first."
        )
    plain = image if image.mode in _PNG_MODES else image.convert("RGB")
    stream = io.BytesIO()
    plain.save(stream, format="PNG", compress_level=1, exif=b"")
    return stream.getvalue()


def _numpy() -> Any:
    import numpy

    return numpy


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError:
        raise missing_package("Arrays are sent as PNG, which needs Pillow", "images") from None
    return Image
