"""Every option through the installed Python client. `options.py SERVICE PICTURE`.

Reads a JSON list of options per line from standard input; prints a line with what each call answered for it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from lattice_client import ImageResult, Lattice


def shown(found: ImageResult) -> dict[str, Any]:
    return {
        "detections": [
            {
                "box": each.box,
                "confidence": each.confidence,
                "class": each.class_name,
                "alternative": each.alternative
                and {"class": each.alternative[0], "confidence": each.alternative[1]},
                "regions": each.regions,
            }
            for each in found.detections
        ],
        "region_counts": found.region_counts,
        "view": found.view and {"name": found.view[0], "version": found.view[1]},
    }


def main(url: str, picture: Path) -> None:
    with Lattice(base_url=url) as lattice:
        for line in sys.stdin:
            options = json.loads(line)
            job = lattice.submit(picture.name, job_type="detect_vehicles", **options)
            lattice.wait(job, timeout=60)
            answers = {
                "path": lattice.detect(picture.name, **options),
                "sent": lattice.detect(picture, **options),
                "job": lattice.result(job).images[0],
            }
            print(json.dumps({name: shown(each) for name, each in answers.items()}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
