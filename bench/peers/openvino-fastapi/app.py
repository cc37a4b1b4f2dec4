"""OpenVINO and OpenCV behind FastAPI. Run: uvicorn app:app --port N

Environment: MODEL (ONNX file), ROOT (image folder), HINT (LATENCY | THROUGHPUT), SHAPE (square | rectangles: of one
network with open sides). The precision is the one that is measured to be the faster at the start.
"""

import json
import os
import sys
import threading
import time
from concurrent.futures import Future

import cv2
import numpy as np
import openvino as ov
from fastapi import FastAPI, HTTPException, Response
from pydantic import BaseModel

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from network import compile_network  # noqa: E402
from pixels import SIDE, boxes, letterbox  # noqa: E402

ROOT, HINT, SMALLEST = os.environ["ROOT"], os.environ["HINT"], os.environ["SHAPE"] == "rectangles"
core = ov.Core()


def compile_with(precision, open_sides, hint):
    settings = {"PERFORMANCE_HINT": hint, "INFERENCE_PRECISION_HINT": precision}
    return compile_network(core, os.environ["MODEL"], open_sides, settings)


def seconds(precision):
    request = compile_with(precision, False, "LATENCY").create_infer_request()
    grey, times = np.full((1, SIDE, SIDE, 3), 114, np.uint8), []
    for _ in range(12):
        start = time.perf_counter()
        request.infer({0: grey})
        times.append(time.perf_counter() - start)
    return sorted(times)[len(times) // 4]


precision = min(("bf16", "f32"), key=seconds)
compiled = compile_with(precision, SMALLEST, HINT)
app = FastAPI()


def output_of(request):
    return request.get_output_tensor(0).data[0].copy()


if HINT == "THROUGHPUT":
    cv2.setNumThreads(1)  # the cores have other photos to work on
    waiting = threading.Lock()  # the queue takes one caller at a time
    queue = ov.AsyncInferQueue(compiled)
    queue.set_callback(lambda request, done: done.set_result(output_of(request)))

    def run(pixels):
        done = Future()
        with waiting:
            queue.start_async({0: pixels[None]}, done, share_inputs=True)
        return done.result()

else:
    one_at_a_time = threading.Lock()
    request = compiled.create_infer_request()

    def run(pixels):
        with one_at_a_time:
            request.infer({0: pixels[None]}, share_inputs=True, share_outputs=True)
            return output_of(request)


class Request(BaseModel):
    image_path: str
    confidence_threshold: float = 0.5


@app.get("/about")
def about():
    return {"precision": precision}


@app.post("/v1/inference/detect")
def detect(request: Request):
    image = cv2.imread(os.path.join(ROOT, request.image_path))
    if image is None:
        raise HTTPException(422, "invalid image")
    pixels, scale, left, top = letterbox(image, SMALLEST)
    found = boxes(run(pixels), request.confidence_threshold, scale, left, top)
    return Response(json.dumps({"detections": found}), media_type="application/json")
