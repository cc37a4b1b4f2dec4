"""The strongest simple peer: OpenVINO and OpenCV behind FastAPI, one compiled model, one request at a time.

Environment: MODEL (ONNX file), ROOT (image folder), PRECISION (f32 | bf16). Run: uvicorn app:app --port N
"""

import os
import sys
import threading

import cv2
import openvino as ov
from fastapi import FastAPI, HTTPException
from pydantic import BaseModel

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from pixels import boxes, letterbox  # noqa: E402

ROOT = os.environ["ROOT"]
core = ov.Core()
network = core.read_model(os.environ["MODEL"])
network.reshape([1, 3, 640, 640])
compiled = core.compile_model(
    network,
    "CPU",
    {
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_PRECISION_HINT": os.environ.get("PRECISION", "bf16"),
    },
)
infer = compiled.create_infer_request()
lock = threading.Lock()
app = FastAPI()


class Request(BaseModel):
    image_path: str
    confidence_threshold: float = 0.5


@app.post("/v1/inference/detect")
def detect(request: Request):
    image = cv2.imread(os.path.join(ROOT, request.image_path))
    if image is None:
        raise HTTPException(422, "invalid image")
    blob, scale, left, top = letterbox(image)
    with lock:
        output = infer.infer({0: blob})[0][0].copy()
    return {"detections": list(boxes(output, request.confidence_threshold, scale, left, top))}
