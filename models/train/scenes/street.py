"""A random street with vehicles on it, drawn, and the box of every vehicle in it."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import cv2
import numpy as np

from .camera import Camera, Canvas, Face, far_to_near, seen_from_front
from .vehicles import MAKERS, Shape, block, footprint, motorcycle_with_rider, placed

LANE = 3.3
SIDEWALK = 3.0
LEAST_SIDE = 12  # pixels


@dataclass(frozen=True)
class Traffic:
    """Which vehicles stand in a street.

    makers, shares: kinds and how often each is drawn. near, far: share of vehicles at 6 to 15
    metres, and the farthest of the others in metres. gap: least metres between vehicles along the
    street. least_seen: a vehicle that shows a smaller part of what it would show alone is left out.
    least_side: likewise one with a shorter side in pixels.
    """

    makers: tuple = MAKERS
    shares: tuple[float, ...] = (0.5, 0.2, 0.14, 0.16)
    near: float = 0.45
    far: float = 55
    gap: float = 0.8
    least_seen: float = 0.55
    least_side: int = LEAST_SIDE


USUAL = Traffic()
# Many small and half-hidden vehicles, and motorcycles mostly with a rider.
DENSE = Traffic(
    makers=(*MAKERS, motorcycle_with_rider),
    shares=(0.5, 0.08, 0.12, 0.12, 0.18),
    near=0.15,
    far=110,
    gap=0.4,
    least_seen=0.3,
    least_side=6,
)


@dataclass(frozen=True)
class Scene:
    """pixels: [H, W, 3] uint8 RGB. boxes: [n, 4] x1, y1, x2, y2 in pixels. classes: [n]."""

    pixels: np.ndarray
    boxes: np.ndarray
    classes: np.ndarray


@dataclass(frozen=True)
class Parked:
    shape: Shape
    x: float
    z: float
    heading: float


def render_scene(
    width: int,
    height: int,
    random: np.random.Generator,
    most: int = 9,
    traffic: Traffic = USUAL,
) -> Scene:
    """Draws 1 to `most` vehicles, none for 0; every one that can be seen at all has its box."""
    camera = Camera(
        width,
        height,
        focal=width * random.uniform(0.75, 1.5),
        eye=random.uniform(1.6, 6.5),
        pitch=random.uniform(0.0, 0.16),
    )
    lanes = int(random.integers(2, 5))
    vehicles = _place(lanes, int(random.integers(min(1, most), most + 1)), random, traffic)
    background = _background(camera, lanes, random)
    faces = [_visible_faces(v, camera) for v in vehicles]
    whole = [_pixels_alone(those, camera) for those in faces]
    while True:
        canvas = _draw(camera, background, vehicles, faces)
        hidden = _first_hidden(canvas, whole, traffic)
        if hidden is None:
            break
        # Without it, those behind may be seen well.
        del vehicles[hidden], faces[hidden], whole[hidden]
    boxes = [_seen_box(canvas.owners == i + 1) for i in range(len(vehicles))]
    return Scene(
        _as_photo(canvas.picture(), random),
        np.array(boxes, np.float32).reshape(-1, 4),
        np.array([v.shape.class_id for v in vehicles], np.int64),
    )


def _place(lanes: int, count: int, random: np.random.Generator, traffic: Traffic) -> list[Parked]:
    """Vehicles in lanes and at the kerb that do not stand in one another."""
    found: list[Parked] = []
    for _ in range(count * 4):
        if len(found) == count:
            break
        kind = random.choice(len(traffic.makers), p=traffic.shares)
        shape = traffic.makers[kind](random)
        lane = int(random.integers(lanes))
        x = (lane - lanes / 2 + 0.5) * LANE + random.normal(0, 0.25)
        heading = (0.0 if x > 0 else math.pi) + random.normal(0, 0.06)
        if random.random() < 0.12:
            heading += math.pi / 2
        near = random.random() < traffic.near
        z = random.uniform(6, 15) if near else random.uniform(12, traffic.far)
        candidate = Parked(shape, x, z, heading)
        if z - shape.length / 2 > 3 and all(
            _apart(candidate, other, traffic.gap) for other in found
        ):
            found.append(candidate)
    return found


def _apart(a: Parked, b: Parked, gap: float) -> bool:
    (ax, az), (bx, bz) = _reach(a), _reach(b)
    return abs(a.x - b.x) > ax + bx + 0.3 or abs(a.z - b.z) > az + bz + gap


def _reach(v: Parked) -> tuple[float, float]:
    """Half of what it takes up across and along the street, metres."""
    sine, cosine = abs(math.sin(v.heading)), abs(math.cos(v.heading))
    width, length = v.shape.width / 2, v.shape.length / 2
    return width * cosine + length * sine, width * sine + length * cosine


def _background(camera: Camera, lanes: int, random: np.random.Generator) -> np.ndarray:
    canvas = Canvas(camera)
    _paint_sky(canvas, random)
    for face in _ground(lanes, random):
        canvas.paint(face)
    for house in sorted(
        _buildings(lanes, random), key=lambda faces: -faces[0].corners[:, 2].mean()
    ):
        for face in far_to_near([f for f in house if seen_from_front(f, camera)], camera):
            canvas.paint(face)
    _paint_trees(canvas, lanes, random)
    return canvas.colours


def _paint_sky(canvas: Canvas, random: np.random.Generator) -> None:
    high = np.array((random.uniform(90, 190), random.uniform(130, 205), random.uniform(180, 240)))
    low = high * 0.4 + 0.6 * np.array((226, 228, 230))
    share = np.linspace(0, 1, canvas.colours.shape[0])[:, None, None].clip(0, 0.6) / 0.6
    canvas.colours[:] = (high * (1 - share) + low * share).astype(np.uint8)


def _stripe(left: float, right: float, near: float, far: float, colour, up: float = 0) -> Face:
    corners = ((left, up, near), (right, up, near), (right, up, far), (left, up, far))
    return Face(np.array(corners, float), colour)


def _ground(lanes: int, random: np.random.Generator) -> list[Face]:
    half = lanes * LANE / 2
    grey = random.uniform(66, 118)
    verge = tuple(random.uniform(70, 130, 3) * (0.9, 1.05, 0.8))
    walk = (grey + 46,) * 3
    faces = [
        _stripe(-400, 400, 0.6, 900, verge),
        _stripe(-half - SIDEWALK, half + SIDEWALK, 0.6, 900, walk),
        _stripe(-half, half, 0.6, 900, (grey, grey, grey * 1.03)),
    ]
    white = (214, 214, 206)
    for lane in range(1, lanes):
        x = (lane - lanes / 2) * LANE
        if lane * 2 == lanes:
            faces.append(_stripe(x - 0.07, x + 0.07, 0.6, 400, (206, 176, 70)))
            continue
        start = random.uniform(0, 6)
        for z in np.arange(1 + start, 160, 8.0):
            faces.append(_stripe(x - 0.07, x + 0.07, z, z + 3.2, white))
    for sign in (-1, 1):
        left, right = sorted((sign * (half - 0.25), sign * (half - 0.12)))
        faces.append(_stripe(left, right, 0.6, 400, white))
    if random.random() < 0.3:
        z = random.uniform(9, 26)
        for x in np.arange(-half + 0.3, half - 0.4, 0.9):
            faces.append(_stripe(x, x + 0.45, z, z + 2.8, white))
    return faces


def _buildings(lanes: int, random: np.random.Generator) -> list[list[Face]]:
    """The faces of each house on both sides."""
    houses: list[list[Face]] = []
    edge = lanes * LANE / 2 + SIDEWALK + 1
    for sign in (-1, 1):
        z = random.uniform(2, 12)
        while z < 130:
            depth, height = random.uniform(8, 20), random.uniform(5, 22)
            if random.random() < 0.75:
                tint = random.normal(0, 9, 3) + np.array((6, 0, -8))
                walls = tuple((random.uniform(85, 205) + tint).clip(30, 240))
                x = sign * (edge + 6 + random.uniform(0, 5))
                shift = np.array((x, 0, z))
                house = block(0, height, 6, 0, depth, walls)
                house += _windows(height, depth, -sign, random)
                houses.append([replace(f, corners=f.corners + shift) for f in house])
            z += depth + random.uniform(0.5, 9)
    return houses


def _windows(height: float, depth: float, side: int, random: np.random.Generator) -> list[Face]:
    """Panes on the street side and on the near end of a house."""
    glass = tuple(random.uniform(40, 110) + random.normal(0, 8, 3))
    x = side * 6.02
    faces = []
    for floor in np.arange(1.2, height - 2, 3.0):
        for z in np.arange(1.0, depth - 1.5, 2.6):
            corners = [(x, floor, z), (x, floor, z + 1.3), (x, floor + 1.5, z + 1.3),
                       (x, floor + 1.5, z)]  # fmt: skip
            pane = np.array(corners if side < 0 else corners[::-1], float)
            faces.append(Face(pane, glass, applied=True))
        for left in np.arange(-5.2, 4.4, 2.6):
            corners = ((left + 1.3, floor, -0.02), (left, floor, -0.02),
                       (left, floor + 1.5, -0.02), (left + 1.3, floor + 1.5, -0.02))  # fmt: skip
            faces.append(Face(np.array(corners, float), glass, applied=True))
    return faces


def _paint_trees(canvas: Canvas, lanes: int, random: np.random.Generator) -> None:
    edge = lanes * LANE / 2 + 1.5
    places = sorted(random.uniform(8, 80, int(random.integers(0, 9))), reverse=True)
    for z in places:
        x = random.choice((-1, 1)) * (edge + random.uniform(0, 1))
        foot = canvas.camera.view(np.array(((x, 0, z), (x, 2.6, z), (x, 4.4, z))))
        if (foot[:, 2] < 1).any():
            continue
        base, trunk, crown = np.round(canvas.camera.project(foot) * 2).astype(int)
        metre = 2 * canvas.camera.focal / foot[0, 2]
        wood = (74, 58, 44)
        cv2.line(canvas.colours, base.tolist(), trunk.tolist(), wood, max(1, int(0.22 * metre)))
        green = np.array((56, 92, 44)) * random.uniform(0.7, 1.4)
        for _ in range(14):
            at = crown + random.normal(0, 0.55 * metre, 2)
            leaf = (green * random.uniform(0.75, 1.25)).clip(0, 255).tolist()
            size = max(1, int(random.uniform(0.4, 0.9) * metre))
            cv2.circle(canvas.colours, np.round(at).astype(int).tolist(), size, leaf, -1)


def _draw(
    camera: Camera, background: np.ndarray, vehicles: list[Parked], faces: list[list[Face]]
) -> Canvas:
    canvas = Canvas(camera)
    canvas.colours[:] = background
    for v in vehicles:
        canvas.darken(footprint(v.shape, v.x + 0.25, v.z, v.heading, 0.12), 0.45)
    for index in sorted(range(len(vehicles)), key=lambda i: -vehicles[i].z):
        for face in faces[index]:
            canvas.paint(face, index + 1)
    return canvas


def _visible_faces(v: Parked, camera: Camera) -> list[Face]:
    faces = placed(v.shape, v.x, v.z, v.heading)
    return far_to_near([f for f in faces if seen_from_front(f, camera)], camera)


def _pixels_alone(faces: list[Face], camera: Camera) -> int:
    """What a vehicle shows alone on a canvas with room on all sides."""
    wide = Camera(camera.width * 3, camera.height * 3, camera.focal, camera.eye, camera.pitch)
    alone = Canvas(Camera(wide.width // 2, wide.height // 2, wide.focal / 2, wide.eye, wide.pitch))
    for face in faces:
        alone.paint(face, 1)
    return 4 * np.count_nonzero(alone.owners)


def _first_hidden(canvas: Canvas, whole: list[int], traffic: Traffic) -> int | None:
    """The first vehicle that others or the picture's edge hide for the most part, or that is too
    small.
    """
    for i, alone in enumerate(whole):
        seen = canvas.owners == i + 1
        left, top, right, bottom = _seen_box(seen)
        small = min(right - left, bottom - top) < traffic.least_side
        if small or np.count_nonzero(seen) < traffic.least_seen * alone:
            return i
    return None


def _seen_box(mask: np.ndarray) -> tuple[float, float, float, float]:
    """x1, y1, x2, y2 in pixels of the picture; zeros for nothing."""
    left, top, width, height = cv2.boundingRect(mask.astype(np.uint8))
    return (left / 2, top / 2, (left + width) / 2, (top + height) / 2)


def _as_photo(pixels: np.ndarray, random: np.random.Generator) -> np.ndarray:
    """A lens's blur, a sensor's noise, uneven light."""
    photo = pixels.astype(np.float32)
    height, width = photo.shape[:2]
    grain = random.normal(0, 1, (height // 4, width // 4, 1)).astype(np.float32)
    photo += 3 * cv2.resize(grain, (width, height), interpolation=cv2.INTER_CUBIC)[..., None]
    photo += random.normal(0, random.uniform(1, 5), photo.shape).astype(np.float32)
    photo = cv2.GaussianBlur(photo, (0, 0), random.uniform(0.4, 0.9))
    gain = random.uniform(0.75, 1.15) * random.uniform(0.94, 1.06, 3).astype(np.float32)
    return (photo * gain).clip(0, 255).astype(np.uint8)
