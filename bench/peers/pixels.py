"""What every Python peer does around the network: letterbox before it, boxes after it."""

import cv2
import numpy as np

SIDE, STRIDE, GREY = 640, 32, 114
MERGE_ABOVE, MOST_BOXES = 0.7, 300


def letterbox(image, smallest=False):
    """BGR pixels within 640 x 640, or within the smallest rectangle of multiples of 32; then scale, left, top."""
    height, width = image.shape[:2]
    scale = min(SIDE / height, SIDE / width)
    new_width, new_height = round(width * scale), round(height * scale)
    if (new_width, new_height) != (width, height):
        image = cv2.resize(image, (new_width, new_height), interpolation=cv2.INTER_LINEAR)
    full_width = -(-new_width // STRIDE) * STRIDE if smallest else SIDE
    full_height = -(-new_height // STRIDE) * STRIDE if smallest else SIDE
    left = round((full_width - new_width) / 2 - 0.1)
    top = round((full_height - new_height) / 2 - 0.1)
    canvas = np.full((full_height, full_width, 3), GREY, np.uint8)
    canvas[top : top + new_height, left : left + new_width] = image
    return canvas, scale, left, top


def boxes(output, threshold, scale, left, top, merge_classes=False):
    """The detections of one output of [4 + classes, anchors], best first, overlaps of one class or of all merged."""
    best = output[4:].max(0)
    output = output[:, best > threshold]
    best, classes = best[best > threshold], output[4:].argmax(0)
    corners = np.stack([output[0] - output[2] / 2, output[1] - output[3] / 2, output[2], output[3]], 1)
    groups = (classes * (not merge_classes)).tolist()
    kept = cv2.dnn.NMSBoxesBatched(
        corners.tolist(), best.tolist(), groups, threshold, MERGE_ABOVE
    )
    found = []
    for index in np.array(kept, int)[:MOST_BOXES]:
        x, y, width, height = corners[index].tolist()
        edges = (x - left, y - top, x + width - left, y + height - top)
        found.append(
            {
                "box": [edge / scale for edge in edges],
                "confidence": float(best[index]),
                "class": int(classes[index]),
            }
        )
    return found
