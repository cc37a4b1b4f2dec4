"""Exponential moving average of the weights; what is judged and exported."""

from __future__ import annotations

import copy
import math

import torch
from torch import nn


class WeightAverage:
    """Follows a model with a decay that rises from 0 to `decay` over some `ramp` updates."""

    def __init__(self, model: nn.Module, decay: float = 0.9995, ramp: float = 1000):
        self.model = copy.deepcopy(model).eval().requires_grad_(False)
        self.decay = decay
        self.ramp = ramp
        self.updates = 0

    @torch.no_grad()
    def update(self, model: nn.Module) -> None:
        self.updates += 1
        decay = self.decay * (1 - math.exp(-self.updates / self.ramp))
        fresh = model.state_dict()
        for name, value in self.model.state_dict().items():
            if value.dtype.is_floating_point:
                value.lerp_(fresh[name], 1 - decay)
            else:
                value.copy_(fresh[name])
