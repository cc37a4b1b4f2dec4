"""Vehicles of plain faces, in metres, standing at the origin with their front towards +z."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from .camera import Face

Colour = tuple[float, float, float]
GLASS: Colour = (52, 62, 74)
TYRE: Colour = (24, 24, 26)
RIM: Colour = (150, 152, 156)
DARK: Colour = (36, 37, 40)
HEADLIGHT: Colour = (246, 244, 226)
TAIL_LIGHT: Colour = (186, 22, 26)
PLATE: Colour = (232, 232, 224)
PAINTS: tuple[Colour, ...] = (
    (226, 228, 230), (28, 29, 32), (142, 146, 150), (178, 30, 34), (32, 62, 128),
    (196, 188, 170), (74, 92, 78), (214, 168, 38), (92, 40, 38), (52, 108, 158),
)  # fmt: skip
LIGHT = np.array((0.45, 0.8, -0.4)) / np.linalg.norm((0.45, 0.8, -0.4))


@dataclass(frozen=True)
class Shape:
    """class_id: as in dataset.CLASS_NAMES. length and width: metres on the ground."""

    class_id: int
    length: float
    width: float
    faces: list[Face]


def shaded(corners: np.ndarray, colour: Colour, gloss: float = 0.45) -> Face:
    """A face lit by one sun; its front is where the corners run anticlockwise."""
    normal = np.cross(corners[1] - corners[0], corners[2] - corners[0])
    normal = normal / (np.linalg.norm(normal) + 1e-9)
    light = 1 - gloss + gloss * max(0.0, float(normal @ LIGHT)) * 1.5
    return Face(corners, tuple(float(min(255, c * light)) for c in colour))


def quad(a, b, c, d, colour: Colour) -> Face:
    return shaded(np.array((a, b, c, d), float), colour)


def frustum(low: float, high: float, bottom, top, colours) -> list[Face]:
    """Four walls and a roof. bottom, top: (half width, back z, front z) at y = low, high.

    colours: front, back, sides, roof.
    """
    (bw, bb, bf), (tw, tb, tf) = bottom, top
    front, back, sides, roof = colours
    return [
        quad((-bw, low, bf), (bw, low, bf), (tw, high, tf), (-tw, high, tf), front),
        quad((bw, low, bb), (-bw, low, bb), (-tw, high, tb), (tw, high, tb), back),
        quad((bw, low, bf), (bw, low, bb), (tw, high, tb), (tw, high, tf), sides),
        quad((-bw, low, bb), (-bw, low, bf), (-tw, high, tf), (-tw, high, tb), sides),
        quad((-tw, high, tf), (tw, high, tf), (tw, high, tb), (-tw, high, tb), roof),
    ]


def block(low, high, half, back, front, colour: Colour) -> list[Face]:
    return frustum(low, high, (half, back, front), (half, back, front), [colour] * 4)


def panel(z: float, low: float, high: float, left: float, right: float, colour: Colour) -> Face:
    """Upright patch across the vehicle; left < right faces the front, left > right the back."""
    patch = quad((left, low, z), (right, low, z), (right, high, z), (left, high, z), colour)
    return replace(patch, applied=True)


def side_panels(half, low, high, back, front, colour: Colour) -> list[Face]:
    """The same patch on both sides, a centimetre proud of `half`."""
    x = half + 0.01
    patches = (
        quad((x, low, front), (x, low, back), (x, high, back), (x, high, front), colour),
        quad((-x, low, back), (-x, low, front), (-x, high, front), (-x, high, back), colour),
    )
    return [replace(patch, applied=True) for patch in patches]


def wheel(x: float, z: float, radius: float, thickness: float) -> list[Face]:
    """Tyre and rim with the outer side away from x = 0; a thickness on both sides when x is 0."""
    turns = np.linspace(0, 2 * math.pi, 15)[:-1]
    ring = np.stack((np.sin(turns), np.cos(turns)), 1)
    faces = []
    outer, inner = x + math.copysign(thickness / 2, x), x - math.copysign(thickness / 2, x)
    for (s0, c0), (s1, c1) in zip(ring, np.roll(ring, -1, 0), strict=True):
        near, far = (inner, outer) if outer > inner else (outer, inner)
        faces.append(
            quad(
                (near, radius + radius * c0, z + radius * s0),
                (near, radius + radius * c1, z + radius * s1),
                (far, radius + radius * c1, z + radius * s1),
                (far, radius + radius * c0, z + radius * s0),
                TYRE,
            )
        )
    for side in (outer, inner):
        order = ring if (side > inner or (side == inner and inner > outer)) else ring[::-1]
        for share, colour in ((1.0, TYRE), (0.62, RIM), (0.2, DARK)):
            proud = side + math.copysign(0.004 * (1 - share), side - (outer + inner) / 2)
            corners = np.array([(proud, radius + radius * share * c, z + radius * share * s)
                                for s, c in order])  # fmt: skip
            faces.append(Face(corners, colour, applied=side == outer))
    return faces


def wheels(half: float, positions, radius: float) -> list[Face]:
    return [
        f for z in positions for x in (half - 0.1, 0.1 - half) for f in wheel(x, z, radius, 0.22)
    ]


def lights(half: float, front: float, back: float, low: float, size: float) -> list[Face]:
    faces = []
    for sign in (-1, 1):
        near, far = sorted((sign * (half - 0.08), sign * (half - 0.08 - size)))
        faces.append(panel(front + 0.01, low, low + 0.16, near, far, HEADLIGHT))
        faces.append(panel(back - 0.01, low + 0.05, low + 0.25, far, near, TAIL_LIGHT))
    faces.append(panel(front + 0.012, low - 0.22, low - 0.1, -0.26, 0.26, PLATE))
    faces.append(panel(back - 0.012, low - 0.2, low - 0.08, 0.26, -0.26, PLATE))
    return faces


def car(random: np.random.Generator) -> Shape:
    paint = PAINTS[random.integers(len(PAINTS))]
    tall = random.random() < 0.4
    length, half = random.uniform(3.9, 4.8), random.uniform(0.85, 0.95)
    waist = random.uniform(0.92, 1.05) if tall else random.uniform(0.8, 0.92)
    roof = waist + (random.uniform(0.62, 0.75) if tall else random.uniform(0.48, 0.58))
    front, back = length / 2, -length / 2
    bonnet = front - length * random.uniform(0.24, 0.3)
    boot = back + (0.06 if tall else length * random.uniform(0.1, 0.2))
    lower = frustum(
        0.22, waist, (half, back, front), (half - 0.05, back + 0.05, front - 0.14), [paint] * 4
    )
    cabin = ((half - 0.06, boot, bonnet), (half - 0.22, boot + 0.35, bonnet - 0.75))
    glass = frustum(waist, roof, *cabin, [GLASS, GLASS, GLASS, paint])
    post = bonnet - length * 0.28
    pillars = [
        quad((x, waist, post + 0.05), (x, waist, post - 0.05), (t, roof, post - 0.05),
             (t, roof, post + 0.05), paint)
        if x > 0
        else quad((x, waist, post - 0.05), (x, waist, post + 0.05), (t, roof, post + 0.05),
                  (t, roof, post - 0.05), paint)
        for x, t in ((half - 0.05, half - 0.21), (0.05 - half, 0.21 - half))
    ]  # fmt: skip
    grille = panel(front + 0.008, 0.42, 0.6, 0.36 - half, half - 0.36, DARK)
    bumper = side_panels(half, 0.22, 0.34, back + 0.1, front - 0.1, DARK)
    faces = [
        *wheels(half, (length * 0.31, -length * 0.3), 0.33),
        *lower, *bumper, *lights(half, front, back, 0.62, 0.34), grille, *glass, *pillars,
    ]  # fmt: skip
    return Shape(0, length, 2 * half, faces)


def bus(random: np.random.Generator) -> Shape:
    paint, belt = (PAINTS[i] for i in random.choice(len(PAINTS), 2, replace=False))
    length, half, roof = random.uniform(8.5, 12), 1.26, random.uniform(2.9, 3.3)
    front, back = length / 2, -length / 2
    faces = [
        *wheels(half, (front - 2.2, back + 2.4), 0.48),
        *block(0.32, roof, half, back, front, paint),
        *side_panels(half, 0.32, 0.95, back, front, belt),
    ]
    panes = int(length // 1.4)
    for i in range(panes):
        start = back + 0.25 + i * (length - 0.5) / panes
        faces += side_panels(half, 1.35, roof - 0.5, start + 0.06,
                             start + (length - 0.5) / panes - 0.06, GLASS)  # fmt: skip
    faces += [
        panel(front + 0.01, 1.05, roof - 0.55, 0.1 - half, half - 0.1, GLASS),
        panel(front + 0.02, roof - 0.45, roof - 0.15, -0.8, 0.8, (28, 24, 20)),
        panel(front + 0.03, roof - 0.38, roof - 0.22, -0.6, 0.6, (236, 150, 30)),
        panel(back - 0.01, 1.5, roof - 0.5, half - 0.15, 0.15 - half, GLASS),
        *lights(half, front + 0.02, back - 0.02, 0.62, 0.4),
    ]
    return Shape(2, length, 2 * half, faces)


def truck(random: np.random.Generator) -> Shape:
    paint, load = (PAINTS[i] for i in random.choice(len(PAINTS), 2, replace=False))
    length, half = random.uniform(6.2, 9), 1.22
    front, back = length / 2, -length / 2
    cab, roof = front - random.uniform(1.7, 2.1), random.uniform(2.3, 2.7)
    top = random.uniform(1.7, 2.1) if random.random() < 0.3 else random.uniform(2.9, 3.5)
    slope = (half - 0.08, cab, front - 0.25)
    faces = [
        *wheels(half, (front - 1.1, back + 1.2, back + 2.3 if length > 7.5 else back + 1.2), 0.47),
        *block(0.5, 0.8, half - 0.15, back, cab, DARK),
        *block(0.8, top, half, back, cab - 0.15, load),
        *block(0.4, 1.35, half - 0.04, cab, front, paint),
        *frustum(1.35, roof, (half - 0.04, cab, front), slope, [GLASS, paint, paint, paint]),
        *side_panels(half - 0.03, 1.42, roof - 0.35, cab + 0.4, front - 0.35, GLASS),
        panel(front + 0.01, 0.72, 1.2, 0.5 - half, half - 0.5, DARK),
        *lights(half - 0.04, front, back, 0.6, 0.34),
    ]
    ribs = np.arange(back + 0.6, cab - 0.4, 1.1)
    rib_colour = tuple(0.8 * c for c in load)
    for z in ribs:
        faces += side_panels(half, 0.85, top - 0.05, z, z + 0.06, rib_colour)
    faces.append(panel(back - 0.005, 0.85, top - 0.05, 0.03, -0.03, rib_colour))
    return Shape(3, length, 2 * half, faces)


def motorcycle(random: np.random.Generator) -> Shape:
    paint = PAINTS[random.integers(len(PAINTS))]
    base, radius = random.uniform(1.25, 1.45), random.uniform(0.29, 0.33)
    front, back = base / 2, -base / 2
    faces = [
        *wheel(1e-6, front, radius, 0.12),
        *wheel(1e-6, back, radius, 0.14),
        *block(0.28, 0.62, 0.14, -0.3, 0.28, (88, 90, 94)),
        *block(0.62, 0.72, 0.13, back - 0.1, 0.0, DARK),
        *frustum(0.6, 0.95, (0.15, -0.05, 0.42), (0.1, 0.0, 0.34), [paint] * 4),
        *block(0.5, 0.66, 0.09, back - 0.28, back + 0.25, paint),
        *frustum(0.3, 1.0, (0.05, front - 0.06, front + 0.04), (0.05, front - 0.3, front - 0.22),
                 [RIM] * 4),
        *block(1.0, 1.05, 0.36, front - 0.36, front - 0.28, DARK),
        *block(0.78, 0.98, 0.11, front - 0.2, front - 0.06, paint),
        panel(front - 0.05, 0.8, 0.95, -0.08, 0.08, HEADLIGHT),
        panel(back - 0.29, 0.54, 0.64, 0.07, -0.07, TAIL_LIGHT),
    ]  # fmt: skip
    return Shape(1, base + 2 * radius, 0.72, faces)


def motorcycle_with_rider(random: np.random.Generator) -> Shape:
    """One or two people on it; the box is that of all."""
    shape = motorcycle(random)
    cloth, trousers = (PAINTS[i] for i in random.integers(0, len(PAINTS), 2))
    skin: Colour = (176, 132, 104)
    helmet = PAINTS[random.integers(len(PAINTS))] if random.random() < 0.7 else (46, 36, 30)
    faces = list(shape.faces)
    for seat in (0.0, -0.42)[: 1 + int(random.random() < 0.3)]:
        back, front = seat - 0.3, seat - 0.04
        faces += [
            *block(0.35, 0.85, 0.26, back + 0.1, front + 0.25, trousers),
            *frustum(0.72, 1.32, (0.19, back, front), (0.23, back + 0.1, front + 0.1), [cloth] * 4),
            *block(1.3, 1.38, 0.07, back + 0.16, front + 0.04, skin),
            *block(1.38, 1.62, 0.11, back + 0.1, front + 0.1, helmet),
            panel(front + 0.11, 1.4, 1.52, -0.08, 0.08, skin),
        ]
    return replace(shape, faces=faces)


MAKERS = (car, motorcycle, bus, truck)


def placed(shape: Shape, x: float, z: float, heading: float) -> list[Face]:
    """The faces turned by `heading` radians about the upright axis and moved to (x, z)."""
    sine, cosine = math.sin(heading), math.cos(heading)
    turn = np.array(((cosine, 0, -sine), (0, 1, 0), (sine, 0, cosine)))
    return [replace(face, corners=face.corners @ turn + (x, 0, z)) for face in shape.faces]


def footprint(shape: Shape, x: float, z: float, heading: float, margin: float) -> np.ndarray:
    """[4, 3] corners on the ground, `margin` metres wider on each side."""
    half, front = shape.width / 2 + margin, shape.length / 2 + margin
    corners = np.array(((-half, 0, front), (half, 0, front), (half, 0, -front), (-half, 0, -front)))
    sine, cosine = math.sin(heading), math.cos(heading)
    turn = np.array(((cosine, 0, -sine), (0, 1, 0), (sine, 0, cosine)))
    return corners @ turn + (x, 0.01, z)
