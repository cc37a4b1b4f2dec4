"""Optimiser and learning rate: AdamW, linear warm-up, then a cosine down to a hundredth."""

from __future__ import annotations

import math

import torch
from torch import nn


def make_optimiser(model: nn.Module, rate: float, decay: float) -> torch.optim.Optimizer:
    """AdamW; weight decay on convolution weights only, not on biases and norms."""
    weights = [p for p in model.parameters() if p.ndim > 1]
    others = [p for p in model.parameters() if p.ndim <= 1]
    groups = [{"params": weights, "weight_decay": decay}, {"params": others, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=rate, betas=(0.9, 0.999), fused=True)


def learning_rate(step: int, steps: int, warm_up: int, peak: float, last: float = 0.01) -> float:
    """Rate at an optimiser step of `steps`: up to `peak` over `warm_up` steps, then cosine to peak
    * last.
    """
    if step < warm_up:
        return peak * (step + 1) / warm_up
    share = (step - warm_up) / max(1, steps - warm_up)
    return peak * (last + (1 - last) * (1 + math.cos(math.pi * min(1.0, share))) / 2)
