"""SAHI with OpenVINO (f32) and OpenCV: pictures in slices. Arguments: MODEL SIZE PHOTO...

Each line of the standard input is a number of pictures; for each it prints the seconds that so many took.
"""

import os
import sys
import time

import cv2
import openvino
from sahi.models.base import DetectionModel
from sahi.predict import get_sliced_prediction
from sahi.prediction import ObjectPrediction
from sahi.utils.compatibility import fix_full_shape_list, fix_shift_amount_list

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from pixels import SIDE, boxes, letterbox  # noqa: E402

THRESHOLD = 0.25


class OpenVinoModel(DetectionModel):
    """One slice at a time on all cores: what SAHI does for a model that has no batches."""

    def load_model(self):
        core = openvino.Core()
        network = core.read_model(self.model_path)
        network.reshape([1, 3, SIDE, SIDE])
        self.set_model(core.compile_model(network, "CPU", {"PERFORMANCE_HINT": "LATENCY"}))

    def set_model(self, model, **_):
        self.model = model
        self.request = model.create_infer_request()

    def perform_inference(self, image):
        pixels, scale, left, top = letterbox(image)
        output = self.request.infer([cv2.dnn.blobFromImage(pixels, 1 / 255)])[0][0]
        self._original_predictions = boxes(output, self.confidence_threshold, scale, left, top)

    def _create_object_prediction_list_from_original_predictions(
        self, shift_amount_list=None, full_shape_list=None
    ):
        [shift] = fix_shift_amount_list(shift_amount_list or [[0, 0]])
        shapes = fix_full_shape_list(full_shape_list)
        shape = shapes[0] if shapes else None
        self._object_prediction_list_per_image = [
            [
                ObjectPrediction(
                    bbox=[max(0, edge) for edge in found["box"]],
                    score=found["confidence"],
                    category_id=found["class"],
                    category_name=str(found["class"]),
                    shift_amount=shift,
                    full_shape=shape,
                )
                for found in self._original_predictions
            ]
        ]


def main():
    path, size, *photos = sys.argv[1:]
    model = OpenVinoModel(model_path=path, confidence_threshold=THRESHOLD, device="cpu")
    print("ready", flush=True)
    taken = 0
    for line in sys.stdin:
        began = time.perf_counter()
        for _ in range(int(line)):
            get_sliced_prediction(
                photos[taken % len(photos)],
                model,
                slice_height=int(size),
                slice_width=int(size),
                overlap_height_ratio=0.2,
                overlap_width_ratio=0.2,
                verbose=0,
            )
            taken += 1
        print(time.perf_counter() - began, flush=True)


main()
