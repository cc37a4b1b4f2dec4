"""Pictures that are sent, and what is made of their boxes. Needs Pillow, NumPy and pandas."""

from __future__ import annotations

import email
import io
import json
import sys
import tempfile
import types
import unittest
from email.message import Message
from pathlib import Path
from typing import Any
from unittest.mock import patch

import httpx
import numpy
from PIL import Image

from client_case import ClientCase, Handler, found, ok
from lattice_client import ImageResult, PictureError, colour_of, draw, to_pandas, to_supervision

REGIONS = [{"name": "a, b", "polygon": [[0, 0], [1, 0.5], [0, 1]], "anchor": "centre"}]
GREY = (90, 90, 90)
CAR = {"class": "car", "confidence": 0.91, "box": [40, 50, 160, 130]}
TRUCK = {"class": "truck", "confidence": 0.5, "box": [200, 10, 300, 90]}


def rgb(colour: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(colour[1:]))


def encoded(image: Image.Image, kind: str, **options: Any) -> bytes:
    stream = io.BytesIO()
    image.save(stream, kind, **options)
    return stream.getvalue()


def result(*detections: dict[str, Any], size: tuple[int, int] = (320, 240)) -> ImageResult:
    width, height = size
    return ImageResult.read(
        {**found("a.jpg", *detections), "image": {"width": width, "height": height}}
    )


def fields_of(request: httpx.Request) -> dict[str, Message]:
    head = f"content-type: {request.headers['content-type']}\r\n\r\n".encode()
    form = email.message_from_bytes(head + request.content)
    return {str(part.get_param("name", header="content-disposition")): part for part in form.walk()}


class Sent(ClientCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.requests: list[httpx.Request] = []

    def service(self) -> Handler:
        def answer(request: httpx.Request) -> httpx.Response:
            self.requests.append(request)
            return ok(found("photo.jpg", CAR))

        return answer

    def test_files_and_bytes_are_sent_as_they_are(self) -> None:
        picture = Image.new("RGB", (32, 24), GREY)
        jpeg, webp = encoded(picture, "JPEG"), encoded(picture, "WEBP")
        path = self.folder / "photo.jpg"
        path.write_bytes(jpeg)
        for client in self.clients(self.service):
            with path.open("rb") as file:
                for image, name, content, kind in (
                    (path, "photo.jpg", jpeg, "image/jpeg"),
                    (file, "photo.jpg", jpeg, "image/jpeg"),
                    (webp, "image", webp, "image/webp"),
                    (bytearray(encoded(picture, "TIFF")), "image", None, "image/tiff"),
                ):
                    options = {
                        **{"classes": ["car", "bus"], "annotate": True, "deadline_ms": 500},
                        "vehicle_types": ["a, b", "c"],
                        "regions": REGIONS,
                        "view": "north",
                    }
                    client.detect(image, **options)
                    fields = fields_of(self.requests.pop())
                    part = fields["image"]
                    self.assertEqual((part.get_filename(), part.get_content_type()), (name, kind))
                    if content is not None:
                        self.assertEqual(part.get_payload(decode=True), content)
                    texts = {key: fields[key].get_payload() for key in options}
                    self.assertEqual(
                        texts,
                        {
                            **{"classes": "car,bus", "annotate": "true", "deadline_ms": "500"},
                            "vehicle_types": '["a, b", "c"]',
                            "regions": json.dumps(REGIONS),
                            "view": "north",
                        },
                    )

    def test_images_and_arrays_keep_their_pixels(self) -> None:
        pixels = numpy.random.default_rng(1).integers(0, 255, (24, 32, 3), numpy.uint8)
        turned = Image.fromarray(pixels)
        turned.getexif()[0x0112] = 6
        for client in self.clients(self.service):
            for image, expected in (
                (pixels, pixels),
                (pixels[..., ::-1], pixels[..., ::-1]),
                (pixels[..., :1], pixels[..., 0]),
                (turned, pixels),
                (turned.convert("RGBA"), numpy.dstack([pixels, numpy.full((24, 32), 255)])),
            ):
                client.detect(image)
                content = fields_of(self.requests.pop())["image"].get_payload(decode=True)
                assert isinstance(content, bytes)
                with Image.open(io.BytesIO(content)) as sent:
                    self.assertEqual(dict(sent.getexif()), {})
                    numpy.testing.assert_array_equal(numpy.asarray(sent), expected)

    def test_what_is_no_picture_is_told_before_anything_is_sent(self) -> None:
        for image, kind, told in (
            (self.folder / "absent.jpg", PictureError, "no file .*absent.jpg on this machine"),
            (self.folder, PictureError, "cannot be read"),
            (b"", PictureError, "empty"),
            (io.StringIO("text"), PictureError, 'mode "rb"'),
            (numpy.zeros((4, 4, 3)), PictureError, "float64 of shape"),
            (numpy.zeros((4, 4, 2), numpy.uint8), PictureError, "shape"),
            (Image.new("F", (4, 4)), PictureError, "8 bits"),
            (None, TypeError, "not NoneType"),
        ):
            for client in self.clients(self.service):
                with self.assertRaisesRegex(kind, told):
                    client.detect(image)
        self.assertEqual(self.requests, [])


class Drawn(unittest.TestCase):
    def setUp(self) -> None:
        self.picture = Image.new("RGB", (320, 240), GREY)

    def test_the_box_is_where_the_detection_is_and_the_original_stays(self) -> None:
        drawn = draw(self.picture, result(CAR))
        colour = rgb(colour_of("car"))
        for corner in ((40, 90), (160, 90), (100, 130), (160, 130)):
            self.assertEqual(drawn.getpixel(corner), colour)
        self.assertEqual(drawn.getpixel((100, 90)), GREY)
        self.assertEqual(drawn.getpixel((200, 200)), GREY)
        self.assertEqual(self.picture.getcolors(), [(320 * 240, GREY)])

    def test_labels_stay_in_the_picture(self) -> None:
        for box in ([0, 0, 20, 20], [310, 0, 320, 8], [300, 230, 320, 240], [0, 0, 320, 240]):
            drawn = draw(self.picture, result({**CAR, "box": box}))
            self.assertEqual(drawn.size, self.picture.size)
            shades = drawn.convert("L").histogram()
            self.assertGreater(sum(shades[:50]), 20, f"the text of {box} is not to be seen")

    def test_classes_keep_their_colour(self) -> None:
        self.assertEqual(colour_of("Car"), colour_of("car"))
        named = {colour_of(name) for name in ("car", "motorcycle", "bus", "truck")}
        self.assertEqual(len(named), 4)

    def test_grey_and_transparent_pictures_are_drawn_in_colour(self) -> None:
        for mode in ("L", "RGBA", "P", "CMYK"):
            drawn = draw(Image.new(mode, (320, 240)), result(CAR))
            self.assertEqual(drawn.getpixel((160, 90)), rgb(colour_of("car")))

    def test_files_are_turned_upright_and_another_picture_is_refused(self) -> None:
        exif = Image.Exif()
        exif[0x0112] = 6  # turned by 90 degrees
        content = encoded(self.picture, "JPEG", exif=exif)
        self.assertEqual(draw(content, result(CAR, size=(240, 320))).size, (240, 320))
        with self.assertRaisesRegex(
            PictureError, "240 x 320 pixels, but the service saw 320 x 240"
        ):
            draw(content, result(CAR))
        with self.assertRaisesRegex(PictureError, "cannot be decoded"):
            draw(b"GIF89a", result(CAR))


class Tables(unittest.TestCase):
    def test_pandas_has_one_row_per_detection_and_types_also_without_rows(self) -> None:
        table = to_pandas([result(CAR, TRUCK), result()])
        self.assertEqual(list(table["class_name"]), ["car", "truck"])
        self.assertEqual(table.loc[0, ["x_min", "y_min", "x_max", "y_max"]].tolist(), CAR["box"])
        self.assertEqual(table.loc[1, "model"], "own.pt")
        empty = result().to_pandas()
        self.assertEqual((len(empty), list(empty.dtypes)), (0, list(table.dtypes)))

    def test_supervision_receives_ids_of_the_models_classes(self) -> None:
        # A stand-in: the library itself brings SciPy and more.
        module = types.ModuleType("supervision")
        module.Detections = types.SimpleNamespace  # type: ignore[attr-defined]
        classes = ("person", "car", "truck")
        with patch.dict(sys.modules, {"supervision": module}):
            some: Any = to_supervision(result(CAR, TRUCK), classes)
            none: Any = to_supervision(result(), classes)
            with self.assertRaisesRegex(ValueError, '"car" is not one of the 1 classes'):
                to_supervision(result(CAR), ["bus"])
        self.assertEqual((some.xyxy.tolist()[0], some.xyxy.dtype), (CAR["box"], numpy.float32))
        self.assertEqual((some.class_id.tolist(), some.class_id.dtype.kind), ([1, 2], "i"))
        self.assertEqual(some.data["class_name"].tolist(), ["car", "truck"])
        self.assertEqual((none.xyxy.shape, none.confidence.shape), ((0, 4), (0,)))
        self.assertEqual(none.data["class_name"].dtype.kind, "U")


class Copies(ClientCase):
    def test_without_a_picture_the_copy_of_the_service_is_taken(self) -> None:
        copy = encoded(Image.new("RGB", (320, 240), GREY), "PNG")

        def service() -> Handler:
            def answer(request: httpx.Request) -> httpx.Response:
                self.assertEqual(request.url.path, "/v1/annotated/a.jpg")
                return httpx.Response(200, content=copy)

            return answer

        drawn = ImageResult.read({**result(CAR).raw, "annotated_url": "/v1/annotated/a.jpg"})
        for client in self.clients(service):
            self.assertEqual(client.draw(drawn).size, (320, 240))
            with self.assertRaisesRegex(PictureError, "annotate=True"):
                client.draw(result(CAR))

    def test_class_ids_are_asked_for_once(self) -> None:
        asked: list[str] = []

        def service() -> Handler:
            def answer(request: httpx.Request) -> httpx.Response:
                asked.append(request.url.path)
                classes = ["bus", "car"]
                model = {"name": "own.pt", "state": "ready", "classes": classes, "is_default": True}
                return ok({"models": [model]})

            return answer

        module = types.ModuleType("supervision")
        module.Detections = types.SimpleNamespace  # type: ignore[attr-defined]
        with patch.dict(sys.modules, {"supervision": module}):
            for client in self.clients(service):
                asked.clear()
                for _ in range(2):
                    self.assertEqual(client.to_supervision(result(CAR)).class_id.tolist(), [1])
                self.assertEqual(asked, ["/v1/models"])
