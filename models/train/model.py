"""The v8 detector in its n size: backbone, neck and decoupled head.

Layout as published for the v8 family (depth 0.33, width 0.25, at most 1024 channels before the
width is applied), so the operations per photo equal those of the public n-size detector. Class
count is free; 4 classes give 3.0 M parameters.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

STRIDES = (8, 16, 32)
DISTANCE_BINS = 16

# Output channels of the stages after width 0.25 is applied to 64, 128, 256, 512, 1024.
_C1, _C2, _C3, _C4, _C5 = 16, 32, 64, 128, 256


class ConvBlock(nn.Module):
    """Convolution without bias, batch norm, SiLU. [B, in, H, W] -> [B, out, H/step, W/step]."""

    def __init__(self, channels_in: int, channels_out: int, kernel: int = 1, step: int = 1):
        super().__init__()
        self.conv = nn.Conv2d(channels_in, channels_out, kernel, step, kernel // 2, bias=False)
        self.norm: nn.Module = nn.BatchNorm2d(channels_out, eps=1e-3, momentum=0.03)
        self.act = nn.SiLU(inplace=True)

    def forward(self, x: Tensor) -> Tensor:
        return self.act(self.norm(self.conv(x)))

    def fold_norm(self) -> None:
        """Moves the batch norm's running statistics into the convolution; for inference only."""
        if isinstance(self.norm, nn.Identity):
            return
        norm = self.norm
        scale = norm.weight / torch.sqrt(norm.running_var + norm.eps)
        self.conv.weight.data.mul_(scale.reshape(-1, 1, 1, 1))
        self.conv.bias = nn.Parameter((norm.bias - norm.running_mean * scale).detach())
        self.norm = nn.Identity()


class Bottleneck(nn.Module):
    """Two 3x3 convolutions, optionally with the input added. Keeps shape."""

    def __init__(self, channels: int, shortcut: bool):
        super().__init__()
        self.first = ConvBlock(channels, channels, 3)
        self.second = ConvBlock(channels, channels, 3)
        self.shortcut = shortcut

    def forward(self, x: Tensor) -> Tensor:
        y = self.second(self.first(x))
        return x + y if self.shortcut else y


class C2f(nn.Module):
    """Cross-stage block: half the channels run through bottlenecks, every intermediate result is
    kept.
    """

    def __init__(self, channels_in: int, channels_out: int, depth: int, shortcut: bool = False):
        super().__init__()
        self.half = channels_out // 2
        self.enter = ConvBlock(channels_in, 2 * self.half)
        self.blocks = nn.ModuleList(Bottleneck(self.half, shortcut) for _ in range(depth))
        self.leave = ConvBlock((2 + depth) * self.half, channels_out)

    def forward(self, x: Tensor) -> Tensor:
        parts = list(self.enter(x).split((self.half, self.half), 1))
        for block in self.blocks:
            parts.append(block(parts[-1]))
        return self.leave(torch.cat(parts, 1))


class Sppf(nn.Module):
    """Spatial pyramid pooling: three 5x5 max pools in a row, all results joined. Keeps shape."""

    def __init__(self, channels: int):
        super().__init__()
        self.enter = ConvBlock(channels, channels // 2)
        self.pool = nn.MaxPool2d(5, 1, 2)
        self.leave = ConvBlock(channels * 2, channels)

    def forward(self, x: Tensor) -> Tensor:
        parts = [self.enter(x)]
        for _ in range(3):
            parts.append(self.pool(parts[-1]))
        return self.leave(torch.cat(parts, 1))


class Backbone(nn.Module):
    """[B, 3, H, W] -> features at strides 8, 16 and 32 with 64, 128 and 256 channels."""

    def __init__(self) -> None:
        super().__init__()
        self.to_stride8 = nn.Sequential(
            ConvBlock(3, _C1, 3, 2),
            ConvBlock(_C1, _C2, 3, 2),
            C2f(_C2, _C2, 1, shortcut=True),
            ConvBlock(_C2, _C3, 3, 2),
            C2f(_C3, _C3, 2, shortcut=True),
        )
        self.to_stride16 = nn.Sequential(ConvBlock(_C3, _C4, 3, 2), C2f(_C4, _C4, 2, shortcut=True))
        self.to_stride32 = nn.Sequential(
            ConvBlock(_C4, _C5, 3, 2), C2f(_C5, _C5, 1, shortcut=True), Sppf(_C5)
        )

    def forward(self, images: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        at8 = self.to_stride8(images)
        at16 = self.to_stride16(at8)
        return at8, at16, self.to_stride32(at16)


class Neck(nn.Module):
    """Path aggregation: coarse features flow down to stride 8, then back up. Keeps the three
    shapes.
    """

    def __init__(self) -> None:
        super().__init__()
        self.up = nn.Upsample(scale_factor=2.0, mode="nearest")
        self.down_merge16 = C2f(_C5 + _C4, _C4, 1)
        self.down_merge8 = C2f(_C4 + _C3, _C3, 1)
        self.reduce8 = ConvBlock(_C3, _C3, 3, 2)
        self.up_merge16 = C2f(_C3 + _C4, _C4, 1)
        self.reduce16 = ConvBlock(_C4, _C4, 3, 2)
        self.up_merge32 = C2f(_C4 + _C5, _C5, 1)

    def forward(self, features: tuple[Tensor, Tensor, Tensor]) -> tuple[Tensor, Tensor, Tensor]:
        at8, at16, at32 = features
        mid16 = self.down_merge16(torch.cat((self.up(at32), at16), 1))
        out8 = self.down_merge8(torch.cat((self.up(mid16), at8), 1))
        out16 = self.up_merge16(torch.cat((self.reduce8(out8), mid16), 1))
        out32 = self.up_merge32(torch.cat((self.reduce16(out16), at32), 1))
        return out8, out16, out32


class Head(nn.Module):
    """Decoupled head: per level one branch for box distances, one for class logits.

    Returns one map a level, [B, 4 * DISTANCE_BINS + classes, H/stride, W/stride], box channels
    first.
    """

    def __init__(self, classes: int):
        super().__init__()
        box_width = max(16, _C3 // 4, 4 * DISTANCE_BINS)
        self.class_width = class_width = max(_C3, min(classes, 100))
        levels = (_C3, _C4, _C5)
        self.box = nn.ModuleList(_branch(c, box_width, 4 * DISTANCE_BINS) for c in levels)
        self.classify = nn.ModuleList(_branch(c, class_width, classes) for c in levels)
        for box, classify, stride in zip(self.box, self.classify, STRIDES, strict=True):
            nn.init.constant_(box[-1].bias, 1.0)
            # About five objects a 640-pixel photo, so the first losses are not ruled by the
            # background.
            nn.init.constant_(classify[-1].bias, math.log(5 / classes / (640 / stride) ** 2))

    def forward(self, features: tuple[Tensor, ...]) -> list[Tensor]:
        return self.maps(features, self.class_features(features))

    def class_features(self, features: tuple[Tensor, ...]) -> list[Tensor]:
        """[B, class_width, H/stride, W/stride] of each level, from which the last layer makes the
        class logits.
        """
        return [branch[:-1](x) for x, branch in zip(features, self.classify, strict=True)]

    def maps(self, features: tuple[Tensor, ...], class_features: list[Tensor]) -> list[Tensor]:
        """The level maps of features and of their class features."""
        return [
            torch.cat((box(x), classify[-1](y)), 1)
            for x, y, box, classify in zip(
                features, class_features, self.box, self.classify, strict=True
            )
        ]


def _branch(channels_in: int, width: int, channels_out: int) -> nn.Sequential:
    return nn.Sequential(
        ConvBlock(channels_in, width, 3),
        ConvBlock(width, width, 3),
        nn.Conv2d(width, channels_out, 1),
    )


class Detector(nn.Module):
    """Photos [B, 3, H, W] (RGB, 0 to 1, sides multiples of 32) -> the head's raw level maps."""

    def __init__(self, classes: int):
        super().__init__()
        self.classes = classes
        self.backbone = Backbone()
        self.neck = Neck()
        self.head = Head(classes)

    def forward(self, images: Tensor) -> list[Tensor]:
        return self.head(self.neck(self.backbone(images)))

    def fold_norms(self) -> Detector:
        """Folds every batch norm into its convolution, in place; for inference only."""
        for module in self.modules():
            if isinstance(module, ConvBlock):
                module.fold_norm()
        return self


def parameter_count(model: nn.Module) -> int:
    """Number of trained values."""
    return sum(p.numel() for p in model.parameters())
