"""What every Python peer does around the network: letterbox before it, boxes after it."""

import cv2
import numpy as np


def letterbox(image):
    height, width = image.shape[:2]
    scale = min(640 / height, 640 / width)
    new_width, new_height = round(width * scale), round(height * scale)
    if (new_width, new_height) != (width, height):
        image = cv2.resize(image, (new_width, new_height), interpolation=cv2.INTER_LINEAR)
    left, top = round((640 - new_width) / 2 - 0.1), round((640 - new_height) / 2 - 0.1)
    canvas = np.full((640, 640, 3), 114, np.uint8)
    canvas[top : top + new_height, left : left + new_width] = image
    blob = cv2.dnn.blobFromImage(canvas, 1 / 255, swapRB=True)
    return blob, scale, left, top


def boxes(output, threshold, scale, left, top):
    scores = output[4:]
    classes = scores.argmax(0)
    best = scores.max(0)
    keep = best > threshold
    x, y, w, h = output[:4, keep]
    best, classes = best[keep], classes[keep]
    corners = np.stack([x - w / 2, y - h / 2, w, h], 1)
    offset = corners.copy()
    offset[:, :2] += classes[:, None] * 7680
    kept = cv2.dnn.NMSBoxes(offset.tolist(), best.tolist(), threshold, 0.7)
    for index in np.array(kept).flatten():
        bx, by, bw, bh = corners[index]
        yield {
            "box": [
                float((bx - left) / scale),
                float((by - top) / scale),
                float((bx + bw - left) / scale),
                float((by + bh - top) / scale),
            ],
            "confidence": float(best[index]),
            "class": int(classes[index]),
        }
