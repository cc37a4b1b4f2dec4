"""Takes from COCO the photos whose licence lets everyone use them, with their vehicles.

python models/train/coco_photos.py IMAGES INSTANCES.json RAW --only models/train/coco-photos.txt

IMAGES holds photos of COCO, INSTANCES.json is its annotation file. RAW gets the sets `coco-vehicles` and
`coco-others`, for further_sets.py. COCO labels every vehicle, small ones too. coco-photos.txt has a line for
each photo that the bundled detector learned from: file name, licence by COCO's number, source.
"""

from __future__ import annotations

import argparse
import json
import shutil
from pathlib import Path
from typing import Any

# COCO's numbers: CC BY 2.0, no known copyright restrictions, work of the US government.
LICENCES = (4, 7, 8)
# COCO's category: number of CLASS_NAMES.
CLASSES = {3: 0, 4: 1, 6: 2, 8: 3}


def usable(
    instances: dict[str, Any], folder: Path, only: set[str] | None = None
) -> list[dict[str, Any]]:
    """Records of the photos that are in `folder`, have such a licence, and whose file name is one of `only`.
    A photo with a crowd of vehicles under one box is left out.
    """
    crowds = {
        one["image_id"]
        for one in instances["annotations"]
        if one["iscrowd"] and one["category_id"] in CLASSES
    }
    return [
        photo
        for photo in instances["images"]
        if photo["license"] in LICENCES
        and photo["id"] not in crowds
        and (only is None or photo["file_name"] in only)
        and (folder / photo["file_name"]).exists()
    ]


def label_lines(photo: dict[str, Any], annotations: list[dict[str, Any]]) -> list[str]:
    """YOLO text, `class cx cy w h`, 0 to 1."""
    width, height = photo["width"], photo["height"]
    lines = []
    for one in annotations:
        if one["category_id"] in CLASSES:
            left, top, across, down = one["bbox"]
            centre = (left + across / 2) / width, (top + down / 2) / height
            row = (*centre, across / width, down / height)
            lines.append(f"{CLASSES[one['category_id']]} " + " ".join(f"{v:.6f}" for v in row))
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("images", type=Path)
    parser.add_argument("instances", type=Path)
    parser.add_argument("raw", type=Path)
    parser.add_argument("--only", type=Path, help="list of the photos to take, file name first")
    options = parser.parse_args()
    instances = json.loads(options.instances.read_text())
    by_photo: dict[int, list[dict[str, Any]]] = {}
    for one in instances["annotations"]:
        by_photo.setdefault(one["image_id"], []).append(one)
    counts = {"coco-vehicles": 0, "coco-others": 0}
    only = (
        {line.split()[0] for line in options.only.read_text().splitlines()}
        if options.only
        else None
    )
    for photo in usable(instances, options.images, only):
        lines = label_lines(photo, by_photo.get(photo["id"], []))
        name = "coco-vehicles" if lines else "coco-others"
        counts[name] += 1
        for part in ("images", "labels"):
            (options.raw / name / part).mkdir(parents=True, exist_ok=True)
        source = options.images / photo["file_name"]
        shutil.copyfile(source, options.raw / name / "images" / source.name)
        text = "".join(f"{line}\n" for line in lines)
        (options.raw / name / "labels" / f"{source.stem}.txt").write_text(text)
    print(counts)


if __name__ == "__main__":
    main()
