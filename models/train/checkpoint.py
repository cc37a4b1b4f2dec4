"""Checkpoints on disk: written whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import torch

from model import Detector


def write_checkpoint(path: Path, state: dict[str, Any]) -> None:
    """Replaces `path` in one step; a reader or a crash never sees a partial file."""
    partial = path.with_suffix(".partial")
    with partial.open("wb") as file:
        torch.save(state, file)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)


def read_checkpoint(path: Path) -> dict[str, Any]:
    """Loads onto the CPU, plain values and tensors only: a checkpoint runs no code."""
    return torch.load(path, map_location="cpu", weights_only=True)


def write_weights(path: Path, state: dict[str, Any]) -> None:
    """The averaged weights alone, large ones as float16: an eighth of the checkpoint.

    To train on from, to judge and to export; a run cannot be resumed from it. `taught` says that
    a teacher's boxes were among the labels.
    """
    average = {
        name: value.half() if value.is_floating_point() and value.ndim > 1 else value
        for name, value in state["average"].items()
    }
    taught = state.get("taught", False)
    write_checkpoint(path, {"names": state["names"], "average": average, "taught": taught})


def averaged_detector(state: dict[str, Any]) -> Detector:
    """The detector with the averaged weights of a checkpoint, in eval mode."""
    model = Detector(len(state["names"]))
    model.load_state_dict(state["average"])
    return model.eval()
