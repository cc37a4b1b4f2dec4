"""Reads the exports of a folder with the libraries they are for; prints what they found as JSON."""

import contextlib
import io
import json
import sys
import zipfile
from pathlib import Path

import numpy
import pandas
from pycocotools.coco import COCO
from pycocotools.cocoeval import COCOeval


def coco(folder):
    """The dataset, and the evaluation of the results against it."""
    with contextlib.redirect_stdout(io.StringIO()):
        dataset = COCO(folder / "coco")
        results = dataset.loadRes(str(folder / "coco-results"))
        evaluation = COCOeval(dataset, results, "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    return {
        "images": [image["file_name"] for image in dataset.loadImgs(dataset.getImgIds())],
        "categories": {item["id"]: item["name"] for item in dataset.loadCats(dataset.getCatIds())},
        "annotations": dataset.getAnnIds(),
        "large": len(dataset.getAnnIds(areaRng=[100, 1e9], iscrowd=False)),
        "average_precision": round(float(evaluation.stats[0]), 6),
    }


def tables(folder):
    """CSV and NDJSON as data frames."""
    boxes = pandas.read_csv(folder / "csv")
    images = pandas.read_json(folder / "ndjson", lines=True)
    return {
        "columns": list(boxes.columns),
        "numbers": [name for name in boxes.columns if pandas.api.types.is_numeric_dtype(boxes[name])],
        "paths": boxes["image_path"].tolist(),
        "classes": boxes.groupby("class_name")["class_id"].first().to_dict(),
        "widths": (boxes["x_max"] - boxes["x_min"]).tolist(),
        "images": images["image_path"].tolist(),
        "status": images["status"].value_counts().to_dict(),
    }


def yolo(folder):
    """Labels as arrays, by file."""
    with zipfile.ZipFile(folder / "yolo") as archive:
        damaged = archive.testzip()
        labels = {
            name: numpy.loadtxt(io.StringIO(archive.read(name).decode()), ndmin=2).tolist()
            for name in archive.namelist()
            if name.startswith("labels/") and archive.getinfo(name).file_size > 0
        }
        table = pandas.read_csv(archive.open("images.csv"))
        return {
            "damaged": damaged,
            "names": archive.namelist(),
            "labels": labels,
            "table": dict(zip(table["name"], table["image_path"], strict=True)),
            "classes": archive.read("classes.txt").decode().splitlines(),
        }


if __name__ == "__main__":
    place = Path(sys.argv[1])
    print(json.dumps({"coco": coco(place), "tables": tables(place), "yolo": yolo(place)}))
