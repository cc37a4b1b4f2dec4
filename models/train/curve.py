"""Draws the training curve: loss of every epoch, mAP50 on held-out photos where it was judged.

    python models/train/curve.py OUT/log.jsonl OUT2/log.jsonl --svg models/training-curve.svg

Runs follow one another on the axis of epochs.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 760, 340, 54, 30, 54, 44
COLOURS = {"loss": "#444", "nepal-vehicles": "#0a7", "vehicles-openimages": "#06c",
           "highway-cctv": "#c60"}  # fmt: skip


def read_logs(paths: list[Path]) -> list[dict]:
    """One record an epoch, numbered through all runs; the last record of a repeated epoch counts."""
    records: list[dict] = []
    for path in paths:
        epochs = {}
        for line in path.read_text().splitlines():
            record = json.loads(line)
            epochs[record["epoch"]] = record
        records += [epochs[number] for number in sorted(epochs)]
    return records


def curve(records: list[dict]) -> str:
    """SVG text. Loss against the left axis, mAP50 from 0 to 1 against the right one."""
    highest = max(record["loss"] for record in records)

    def x(index: int) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * index / max(1, len(records) - 1)

    def y(share: float) -> float:
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * share

    lines = {"loss": [(x(i), y(r["loss"] / highest)) for i, r in enumerate(records)]}
    for i, record in enumerate(records):
        for name, figures in record.get("judged", {}).items():
            lines.setdefault(name, []).append((x(i), y(figures["mAP50"])))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
    ]
    for step in range(6):
        share = step / 5
        parts += [
            f'<path d="M{LEFT} {y(share):.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>',
            f'<text x="{LEFT - 8}" y="{y(share) + 4:.1f}" text-anchor="end">'
            f"{share * highest:.1f}</text>",
            f'<text x="{WIDTH - RIGHT + 8}" y="{y(share) + 4:.1f}">{share:.1f}</text>',
        ]
    for index in range(0, len(records), 5):
        parts.append(
            f'<text x="{x(index):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">'
            f"{index + 1}</text>"
        )
    for row, (name, points) in enumerate(lines.items()):
        colour = COLOURS.get(name, "#808")
        track = " ".join(f"{px:.1f},{py:.1f}" for px, py in points)
        parts.append(f'<polyline points="{track}" fill="none" stroke="{colour}" stroke-width="2"/>')
        label = "loss (left)" if name == "loss" else f"mAP50 {name} (right)"
        parts.append(f'<text x="{LEFT + 10 + 175 * row}" y="18" fill="{colour}">{label}</text>')
    parts.append(f'<text x="{WIDTH / 2}" y="{HEIGHT - 8}" text-anchor="middle">epoch</text></svg>')
    return "\n".join(parts) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("logs", type=Path, nargs="+")
    parser.add_argument("--svg", type=Path, required=True)
    options = parser.parse_args()
    options.svg.write_text(curve(read_logs(options.logs)))


if __name__ == "__main__":
    main()
