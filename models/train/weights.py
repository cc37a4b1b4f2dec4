"""Takes the averaged weights out of a checkpoint, for export, judging and further training.

python models/train/weights.py OUT/last.pt models/vehicles-v8n.pt
"""

from __future__ import annotations

import argparse
from pathlib import Path

from checkpoint import read_checkpoint, write_weights


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("weights", type=Path)
    options = parser.parse_args()
    write_weights(options.weights, read_checkpoint(options.checkpoint))


if __name__ == "__main__":
    main()
