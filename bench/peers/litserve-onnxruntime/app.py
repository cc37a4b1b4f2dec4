"""LitServe with ONNX Runtime (f32) and OpenCV. Environment: MODEL, ROOT, PORT. Run: python app.py"""

import os
import sys

import cv2
import litserve
import onnxruntime

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from pixels import boxes, letterbox  # noqa: E402


class Detector(litserve.LitAPI):
    def setup(self, device):
        self.session = onnxruntime.InferenceSession(
            os.environ["MODEL"], providers=["CPUExecutionProvider"]
        )

    def decode_request(self, request):
        image = cv2.imread(os.path.join(os.environ["ROOT"], request["image_path"]))
        return image, request.get("confidence_threshold", 0.5)

    def predict(self, inputs):
        image, threshold = inputs
        blob, scale, left, top = letterbox(image)
        output = self.session.run(None, {"images": blob})[0][0]
        return list(boxes(output, threshold, scale, left, top))

    def encode_response(self, output):
        return {"detections": output}


if __name__ == "__main__":
    server = litserve.LitServer(Detector(api_path="/v1/inference/detect"), accelerator="cpu")
    server.run(host="127.0.0.1", port=int(os.environ["PORT"]), generate_client_file=False)
