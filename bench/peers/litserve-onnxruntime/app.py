"""LitServe with ONNX Runtime (f32) and OpenCV. Environment: MODEL, ROOT, PORT. Run: python app.py"""

import os
import sys

import cv2
import litserve
import onnxruntime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from pixels import SIDE, boxes, letterbox  # noqa: E402


def open_session():
    """An export with open sides is given the square, so that its shapes are known before the first photo."""
    options = onnxruntime.SessionOptions()
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")  # two workers share the cores
    providers = ["CPUExecutionProvider"]
    session = onnxruntime.InferenceSession(os.environ["MODEL"], providers=providers)
    for size, name in zip((1, 3, SIDE, SIDE), session.get_inputs()[0].shape):
        if isinstance(name, str):
            options.add_free_dimension_override_by_name(name, size)
    return onnxruntime.InferenceSession(os.environ["MODEL"], options, providers=providers)


class Detector(litserve.LitAPI):
    def setup(self, device):
        self.session = open_session()
        self.input = self.session.get_inputs()[0].name

    def decode_request(self, request):
        image = cv2.imread(os.path.join(os.environ["ROOT"], request["image_path"]))
        return image, request.get("confidence_threshold", 0.5)

    def predict(self, inputs):
        image, threshold = inputs
        pixels, scale, left, top = letterbox(image)
        blob = cv2.dnn.blobFromImage(pixels, 1 / 255, swapRB=True)
        output = self.session.run(None, {self.input: blob})[0][0]
        return boxes(output, threshold, scale, left, top)

    def encode_response(self, output):
        return {"detections": output}


if __name__ == "__main__":
    # Two workers: one decodes while the other computes.
    server = litserve.LitServer(
        Detector(api_path="/v1/inference/detect"), accelerator="cpu", workers_per_device=2
    )
    server.run(host="127.0.0.1", port=int(os.environ["PORT"]), generate_client_file=False)
