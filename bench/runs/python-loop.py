"""A loop in Python over the photos of a folder with OpenCV and OpenVINO: what `lattice run` is compared with.

    python python-loop.py MODEL.onnx FOLDER --mode queue --shape rectangles --confidence 0.5

Letterbox and boxes are those of the peers (../peers/pixels.py); as in `lattice run`, a vehicle that is found as two
classes counts once. Prints a line of JSON: images, boxes, and the seconds from the first image to the last. Imports,
the compilation of the network and its first image, which is not counted, are before them.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np
import openvino as ov

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "peers"))
from network import compile_network
from pixels import boxes, letterbox

PHOTO_ENDINGS = {".jpg", ".jpeg"}
# The throughput hint is for requests that are in hand together.
HINTS = {"one-by-one": "LATENCY", "queue": "THROUGHPUT"}


class Loop:
    """Counts the boxes of photos."""

    def __init__(self, model: ov.CompiledModel, smallest: bool, confidence: float) -> None:
        self.model = model
        self.smallest = smallest
        self.confidence = confidence
        self.boxes = 0

    def one_by_one(self, photos: list[Path]) -> None:
        """Reads a photo, runs it, and begins with the next one."""
        request = self.model.create_infer_request()
        for pixels, where in self._read(photos):
            request.infer({0: pixels[None]}, share_inputs=True, share_outputs=True)
            self._count(request, where)

    def queue(self, photos: list[Path]) -> None:
        """Reads photos while OpenVINO runs those before."""
        # The cores have other photos to work on.
        cv2.setNumThreads(1)
        queue = ov.AsyncInferQueue(self.model)
        queue.set_callback(lambda request, read: self._count(request, read[1]))
        for read in self._read(photos):
            # The pixels are shared with the request: what comes with it keeps them.
            queue.start_async({0: read[0][None]}, read, share_inputs=True)
        queue.wait_all()

    def _read(self, photos: list[Path]) -> Iterator[tuple[np.ndarray, tuple[float, int, int]]]:
        for photo in photos:
            pixels, scale, left, top = letterbox(cv2.imread(str(photo)), self.smallest)
            yield pixels, (scale, left, top)

    def _count(self, request: ov.InferRequest, where: tuple[float, int, int]) -> None:
        output = request.get_output_tensor(0).data[0]
        self.boxes += len(boxes(output, self.confidence, *where, merge_classes=True))


def main() -> None:
    """Runs the photos and prints how long they took."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--mode", choices=sorted(HINTS), required=True)
    parser.add_argument("--shape", choices=["square", "rectangles"], required=True)
    parser.add_argument("--confidence", type=float, required=True)
    asked = parser.parse_args()
    photos = sorted(p for p in asked.folder.rglob("*") if p.suffix.lower() in PHOTO_ENDINGS)
    smallest = asked.shape == "rectangles"
    hint = {"PERFORMANCE_HINT": HINTS[asked.mode]}
    model = compile_network(ov.Core(), asked.model, smallest, hint)
    Loop(model, smallest, asked.confidence).one_by_one(photos[:1])
    loop = Loop(model, smallest, asked.confidence)
    run = loop.queue if asked.mode == "queue" else loop.one_by_one
    began = time.perf_counter()
    run(photos)
    seconds = time.perf_counter() - began
    print(json.dumps({"images": len(photos), "boxes": loop.boxes, "seconds": seconds}), flush=True)
    # A thread of the queue may be the last that holds the network, and OpenVINO 2026.4.1 ends with an abort then.
    os._exit(0)


if __name__ == "__main__":
    main()
