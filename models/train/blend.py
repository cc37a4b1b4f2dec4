"""Blends the weights of a run with those that it started from.

python models/train/blend.py START.pt OUT/last.pt OUT/blended.pt --further FURTHER

A run on other photos forgets some of what the start knew; weights between the two often do both
better than either (Wortsman et al. 2022). The share with the highest average precision on the
held-back photos is taken, as a mean over their sets.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import torch

from added_labels import IGNORED, AddedBoxes, read_all_added
from calibrate import finds_of
from checkpoint import averaged_detector, read_checkpoint, write_checkpoint
from dataset import Source, load_photo, training_sources
from detection import PhotoDetector

SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)
# Their held-back photos say little of others: atl has frames of few cameras, which show what the run
# was trained on; the vehicles of open-images-mixed were all labelled by the teacher; of bangkok-buses
# only buses have labels.
NOT_COMPARED = ("atl", "open-images-mixed", "bangkok-buses")
State = dict[str, Any]


def blended(start: State, end: State, share: float) -> State:
    """`end` with that share of its own averaged weights, statistics of batch norms included."""
    average = {
        name: torch.lerp(start["average"][name].float(), value.float(), share)
        if value.is_floating_point()
        else value
        for name, value in end["average"].items()
    }
    return {**end, "average": average}


def pooled_precision(finds: np.ndarray, labels: int) -> float:
    """Mean precision over the recall of `labels` vehicles; finds [n, 2]: score, whether right."""
    right = finds[np.argsort(-finds[:, 0], kind="stable"), 1]
    precision = right.cumsum() / np.arange(1, len(right) + 1)
    return float((np.maximum.accumulate(precision[::-1])[::-1] * right).sum() / max(1, labels))


def held_back_labels(source: Source, added: dict[str, AddedBoxes]) -> int:
    photos = [load_photo(source, path, None, added) for path in source.photos("held-back")]
    return sum(int((photo.classes != IGNORED).sum()) for photo in photos)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("start", type=Path)
    parser.add_argument("end", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--further", type=Path, required=True)
    parser.add_argument("--data", type=Path, default=Path("../shared/vehicles"))
    parser.add_argument("--share", type=float, help="of the end, instead of the best one")
    parser.add_argument("--size", type=int, default=640)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    start, end = read_checkpoint(options.start), read_checkpoint(options.end)
    if options.share is not None:
        write_checkpoint(options.out, blended(start, end, options.share))
        return
    added = read_all_added()
    labels = {
        source: held_back_labels(source, added)
        for source in training_sources(options.data, options.further)
        if source.name not in NOT_COMPARED
    }
    best, chosen = -1.0, end
    for share in SHARES:
        state = blended(start, end, share)
        detector = PhotoDetector(averaged_detector(state), options.size)
        by_set = {
            source.name: round(pooled_precision(finds_of(detector, [source], added), count), 4)
            for source, count in labels.items()
        }
        mean = float(np.mean(list(by_set.values())))
        print(f"share {share}: {mean:.4f}, {by_set}", flush=True)
        if mean > best:
            best, chosen = mean, state
    write_checkpoint(options.out, chosen)


if __name__ == "__main__":
    main()
