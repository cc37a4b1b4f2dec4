"""Adds boxes of a teacher to training photos whose small vehicles nobody labelled.

python models/train/teacher.py look ../shared/teacher/yolox_nano.onnx VIEWS.jsonl   # hours on a busy machine; resumes
python models/train/teacher.py judge VIEWS.jsonl                                    # thresholds against own labels
python models/train/teacher.py write VIEWS.jsonl models/train/teacher-labels.txt

The teacher is YOLOX-nano (Apache-2.0, trained on COCO train2017). Each photo is looked at four times:
whole, mirrored, as 2 x 2 and as 3 x 3 tiles. VIEWS.jsonl keeps all of its boxes above 0.05.
"""

from __future__ import annotations

import argparse
import json
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np

from added_labels import IGNORED, AddedBoxes, write_added
from average_precision import iou_table
from dataset import (
    CLASS_NAMES,
    COCO_VEHICLES,
    Source,
    further_sources,
    label_file,
    read_labels,
    read_photo,
    standard_sources,
)

GREY = 114
LOWEST_SCORE = 0.05
SAME_VEHICLE = 0.5  # overlap of two boxes of one vehicle
TILE_OVERLAP = 0.25
LEAST_SIDE = 6  # pixels; smaller finds are ignored places

Found = tuple[np.ndarray, np.ndarray, np.ndarray]  # boxes [n, 4] in pixels, scores [n], classes [n]


@dataclass(frozen=True)
class Thresholds:
    """label: lowest score of an added label by class, which a second view must also have found
    above `second`. agreement: least share of its class among the views' scores. ignore: lowest
    score at which a place is left out of the loss.

    Chosen on the held-back training photos: the teacher calls pick-ups and vans truck or bus where
    the labels say car (truck agrees with the labels in 0.5 of the cases), so buses need more and
    trucks are never added.
    """

    label: tuple[float, ...] = (0.4, 0.4, 0.7, 1.0)
    second: float = 0.2
    agreement: float = 0.8
    ignore: float = 0.1


class Teacher:
    """YOLOX: BGR 0 to 255, photo at the top left on grey; rows x, y, log w, log h, objectness, 80
    class scores, in cells of strides 8, 16 and 32.
    """

    def __init__(self, path: Path):
        import onnxruntime  # the other commands need no runtime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(
            str(path), options, providers=["CPUExecutionProvider"]
        )
        self.input = self.session.get_inputs()[0].name
        self.side = self.session.get_inputs()[0].shape[2]
        cells, strides = [], []
        for stride in (8, 16, 32):
            y, x = np.mgrid[0 : self.side // stride, 0 : self.side // stride]
            cells.append(np.stack((x.ravel(), y.ravel()), 1))
            strides.append(np.full((x.size, 1), stride))
        self.cells, self.strides = np.concatenate(cells), np.concatenate(strides)

    def __call__(self, pixels: np.ndarray) -> Found:
        """pixels: [H, W, 3] uint8 RGB."""
        height, width = pixels.shape[:2]
        scale = self.side / max(height, width)
        size = (max(1, round(width * scale)), max(1, round(height * scale)))
        canvas = np.full((self.side, self.side, 3), GREY, np.float32)
        canvas[: size[1], : size[0]] = cv2.resize(pixels, size)[:, :, ::-1]
        (rows,) = self.session.run(None, {self.input: canvas.transpose(2, 0, 1)[None]})[0]
        scores = rows[:, 4:5] * rows[:, [5 + c for c in COCO_VEHICLES]]
        likely = scores.max(1) > LOWEST_SCORE
        rows, scores, strides = rows[likely], scores[likely], self.strides[likely]
        centre = (rows[:, :2] + self.cells[likely]) * strides
        half = np.exp(rows[:, 2:4]) * strides / 2
        boxes = np.concatenate((centre - half, centre + half), 1) / scale
        return strongest((boxes, scores.max(1), scores.argmax(1)))


def strongest(found: Found) -> Found:
    """Of overlapping boxes, whatever their class, the one of the highest score."""
    boxes, scores, classes = found
    table = iou_table(boxes, boxes)
    order, kept = np.argsort(-scores, kind="stable"), []
    while order.size:
        kept.append(order[0])
        order = order[table[order[0], order] < SAME_VEHICLE]
    return boxes[kept], scores[kept], classes[kept]


def tiled(teacher, pixels: np.ndarray, count: int) -> Found:
    """Boxes of count x count overlapping tiles; what touches an inner edge of a tile is left out."""
    height, width = pixels.shape[:2]
    across = np.array((width, height)) / (count - (count - 1) * TILE_OVERLAP)
    found = []
    for row in range(count):
        for column in range(count):
            near = (np.array((column, row)) * across * (1 - TILE_OVERLAP)).astype(int)
            far = np.minimum(np.ceil(near + across).astype(int), (width, height))
            boxes, scores, classes = teacher(pixels[near[1] : far[1], near[0] : far[0]])
            boxes = boxes + np.tile(near, 2)
            inner_near, inner_far = near > 0, far < (width, height)
            cut = ((boxes[:, :2] < near + 2) & inner_near) | ((boxes[:, 2:] > far - 2) & inner_far)
            whole = ~cut.any(1)
            found.append((boxes[whole], scores[whole], classes[whole]))
    boxes, scores, classes = zip(*found, strict=True)
    return strongest((np.concatenate(boxes), np.concatenate(scores), np.concatenate(classes)))


def look(teacher, pixels: np.ndarray) -> list[Found]:
    """The four views of a photo."""
    boxes, scores, classes = teacher(pixels[:, ::-1])
    boxes = boxes.copy()
    boxes[:, [0, 2]] = pixels.shape[1] - boxes[:, [2, 0]]
    return [
        teacher(pixels),
        (boxes, scores, classes),
        tiled(teacher, pixels, 2),
        tiled(teacher, pixels, 3),
    ]


def look_at_all(model: Path, sources: list[Source], out: Path, threads: int) -> None:
    """One line per training photo; photos that `out` already has are left out."""
    done = {json.loads(line)["photo"] for line in out.open()} if out.exists() else set()
    teacher = Teacher(model)
    photos = [(name, path) for name, path in training_photos(sources) if name not in done]
    with out.open("a") as file, ThreadPoolExecutor(threads) as pool:
        for line in pool.map(lambda photo: view_line(teacher, *photo), photos):
            file.write(line)
            file.flush()


def view_line(teacher, name: str, path: Path) -> str:
    pixels = read_photo(path)
    height, width = pixels.shape[:2]
    views = [
        [
            [
                *(box / (width, height, width, height)).round(4).tolist(),
                round(float(score), 3),
                int(label),
            ]
            for box, score, label in zip(*view, strict=True)
        ]
        for view in look(teacher, pixels)
    ]
    return json.dumps({"photo": name, "size": [width, height], "views": views}) + "\n"


def training_photos(sources: list[Source]) -> list[tuple[str, Path]]:
    """`set/stem` and file of each, the small sets first."""
    return [
        (f"{source.name}/{path.stem}", path)
        for source in reversed(sources)
        for part in ("held-back", "train")
        for path in source.photos(part)
    ]


@dataclass(frozen=True)
class Vehicle:
    """A box that views of one photo agree on: 0 to 1, its best score, the best score of another
    view (0 for none), the class with the highest sum of scores and that class's share of the sum.
    """

    box: np.ndarray
    score: float
    second: float
    label: int
    agreement: float


def agreed(views: list[list]) -> list[Vehicle]:
    """The views' boxes joined, highest score first."""
    tables = [np.array(view, float).reshape(-1, 6) for view in views]
    rows = np.concatenate(tables)
    origin = np.repeat(np.arange(len(tables)), [len(table) for table in tables])
    overlaps = iou_table(rows[:, :4], rows[:, :4])
    free = np.ones(len(rows), bool)
    vehicles = []
    for index in np.argsort(-rows[:, 4], kind="stable"):
        if not free[index]:
            continue
        same = free & (overlaps[index] >= SAME_VEHICLE)
        free &= ~same
        others = rows[same & (origin != origin[index]), 4]
        votes = np.bincount(rows[same, 5].astype(int), rows[same, 4], len(CLASS_NAMES))
        second = float(others.max(initial=0))
        vehicles.append(
            Vehicle(
                rows[index, :4].clip(0, 1),
                float(rows[index, 4]),
                second,
                int(votes.argmax()),
                float(votes.max() / votes.sum()),
            )
        )
    return vehicles


def added_boxes(
    vehicles: list[Vehicle], own: np.ndarray, size: tuple[int, int], limits: Thresholds
) -> AddedBoxes:
    """What to add to the labelled boxes `own` of a photo of `size` pixels.

    A find that overlaps a label is that vehicle. One that lies mostly within a label may be a part
    of it or a vehicle before it, so it is never a label of its own.
    """
    boxes, classes = [], []
    for vehicle in vehicles:
        if vehicle.score < limits.ignore:
            continue
        table = iou_table(vehicle.box[None], own)[0]
        if table.size and table.max() >= 0.4:
            continue
        sides = (vehicle.box[2:] - vehicle.box[:2]) * size
        within = _part_within(vehicle.box, own)
        wanted = is_sure(vehicle, limits) and within < 0.5 and sides.min() >= LEAST_SIDE
        boxes.append(vehicle.box)
        classes.append(vehicle.label if wanted else IGNORED)
    return AddedBoxes(np.array(boxes).reshape(-1, 4), np.array(classes, np.int64))


def is_sure(vehicle: Vehicle, limits: Thresholds) -> bool:
    return (
        vehicle.score >= limits.label[vehicle.label]
        and vehicle.second >= limits.second
        and vehicle.agreement >= limits.agreement
    )


def _part_within(box: np.ndarray, own: np.ndarray) -> float:
    """The largest part of a box that lies in one labelled box."""
    shared = (np.minimum(box[2:], own[:, 2:]) - np.maximum(box[:2], own[:, :2])).clip(0).prod(1)
    return float(shared.max(initial=0) / max((box[2:] - box[:2]).prod(), 1e-9))


def write_labels(views: Path, sources: list[Source], out: Path, limits: Thresholds) -> None:
    files = dict(training_photos(sources))
    added = {}
    for line in views.open():
        record = json.loads(line)
        own, _ = read_labels(label_file(files[record["photo"]]))
        vehicles = agreed(record["views"])
        added[record["photo"]] = added_boxes(vehicles, own, tuple(record["size"]), limits)
    write_added(out, added)
    classes = np.concatenate([one.classes for one in added.values()])
    counts = {name: int((classes == label).sum()) for label, name in enumerate(CLASS_NAMES)}
    print(len(added), "photos,", counts, int((classes == IGNORED).sum()), "ignored places")


def judge(views: Path, sources: list[Source]) -> None:
    """What the teacher is worth on the held-back training photos, by score and second opinion.

    Own labels are incomplete: a find beside them is not certainly wrong. So the table gives the
    found part of the labels and, of the finds that are a label's vehicle, how often the class is
    the label's and how well the box fits.
    """
    parts = {
        f"{source.name}/{path.stem}": path
        for source in sources
        for path in source.photos("held-back")
    }
    rows, labels = [], 0
    for line in views.open():
        record = json.loads(line)
        if record["photo"] not in parts:
            continue
        own, classes = read_labels(label_file(parts[record["photo"]]))
        labels += len(classes)
        for vehicle in agreed(record["views"]):
            table = iou_table(vehicle.box[None], own)[0]
            best = int(table.argmax()) if table.size else -1
            fit = float(table[best]) if table.size else 0.0
            alike = fit >= 0.4 and vehicle.label == classes[best]
            beside = fit < 0.4 and _part_within(vehicle.box, own) < 0.5
            rows.append(
                (
                    vehicle.score,
                    vehicle.second,
                    fit,
                    alike,
                    beside,
                    vehicle.label,
                    vehicle.agreement,
                )
            )
    table = np.array(rows, float).reshape(-1, 7)
    print(f"{labels} labels; score, second: finds, of labels, same class, fit, beside labels")
    for score in (0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6):
        for second in (0.0, 0.1, 0.2, 0.3):
            chosen = table[(table[:, 0] >= score) & (table[:, 1] >= second)]
            _print_row(f"{score:.2f} {second:.1f}", chosen, labels)
    for label, name in enumerate(CLASS_NAMES):
        for score in (0.4, 0.5, 0.6, 0.7):
            for agreement in (0.0, 0.8):
                chosen = table[(table[:, 5] == label) & (table[:, 0] >= score)]
                chosen = chosen[(chosen[:, 1] >= 0.2) & (chosen[:, 6] >= agreement)]
                _print_row(f"{name}, agreement {agreement}, {score:.2f} 0.2", chosen, labels)


def _print_row(name: str, chosen: np.ndarray, labels: int) -> None:
    known = chosen[chosen[:, 2] >= 0.4]
    alike, fit = known[:, 3:1:-1].mean(0) if len(known) else (0.0, 0.0)
    found = len(known) / max(1, labels)
    print(f"{name}: {len(chosen):5d} {found:.2f} {alike:.2f} {fit:.2f} {int(chosen[:, 4].sum())}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/vehicles"))
    parser.add_argument("--further", type=Path, help="the sets of further_sets.py instead")
    commands = parser.add_subparsers(dest="command", required=True)
    looking = commands.add_parser("look", help="run the teacher on all training photos")
    looking.add_argument("model", type=Path)
    looking.add_argument("views", type=Path)
    looking.add_argument("--threads", type=int, default=2)
    judging = commands.add_parser("judge", help="compare with the labels of held-back photos")
    judging.add_argument("views", type=Path)
    writing = commands.add_parser("write", help="write the added boxes")
    writing.add_argument("views", type=Path)
    writing.add_argument("labels", type=Path)
    options = parser.parse_args()
    further = options.further
    sources = further_sources(further) if further else standard_sources(options.data)
    if options.command == "look":
        look_at_all(options.model, sources, options.views, options.threads)
    elif options.command == "judge":
        judge(options.views, sources)
    else:
        write_labels(options.views, sources, options.labels, Thresholds())


if __name__ == "__main__":
    main()
