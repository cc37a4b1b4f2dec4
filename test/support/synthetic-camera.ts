/**
 * Looks of cameras that do not exist: a scene with structure, light by the time of day, weather, noise and vehicles
 * that pass, from a seed. A fault changes the scene, before noise.
 */
import type { PictureLook } from '../../src/api/schemas/image.js';
import type { CameraPicture } from '../../src/cameras/camera-health.js';
import { LOOK_SIDE } from '../../src/cameras/picture-look.js';
import { randomNumbers } from './random-numbers.js';

/** Pixels of a side of what is rendered; each cell of a look is the mean of four. */
const SIDE = 64;
const CELL = SIDE / LOOK_SIDE;
/** The scene is wider than the picture, so that a camera can turn. */
const SCENE = 2 * SIDE;

export interface CameraTraits {
  seed: number;
  /** Brightness in the dead of night, as a share of noon's; 0: nothing but noise. */
  night: number;
  /** Hours of light. */
  sunrise: number;
  sunset: number;
  /** Standard deviation of a pixel's noise, in levels. */
  noise: number;
  /** Boxes of a picture at the busiest hour. */
  traffic: number;
}

/** Cameras of several places, by what they see. */
export const CAMERAS: Record<string, CameraTraits> = {
  'a street with lamps': { seed: 1, night: 1, sunrise: 6, sunset: 18, noise: 1.5, traffic: 8 },
  'a yard with one lamp': { seed: 2, night: 0.1, sunrise: 7, sunset: 17, noise: 2, traffic: 3 },
  'a busy road in winter': { seed: 3, night: 0.4, sunrise: 8, sunset: 16, noise: 1, traffic: 15 },
  'a field road without a lamp': {
    seed: 4,
    night: 0,
    sunrise: 5,
    sunset: 20,
    noise: 2.5,
    traffic: 1,
  },
  'a car park': { seed: 5, night: 0.7, sunrise: 6.5, sunset: 19, noise: 1.2, traffic: 5 },
};

export type Fault = 'black' | 'bag' | 'blur' | 'turn' | 'dark';

export class SyntheticCamera {
  readonly #traits: CameraTraits;
  readonly #random: () => number;
  readonly #scene: Float32Array;
  readonly #lamps: Float32Array;

  constructor(traits: CameraTraits) {
    this.#traits = traits;
    this.#random = randomNumbers(traits.seed);
    this.#scene = this.#drawScene();
    this.#lamps = this.#drawLamps();
  }

  /** `time` in seconds, of a Monday's midnight on. */
  picture(time: number, fault: Fault | null = null): CameraPicture {
    const boxes = this.#boxesAt(time);
    const look = this.#look(time, boxes, fault);
    const sees = fault === null || fault === 'turn';
    return {
      picture: `${time}.jpg`,
      time,
      look,
      boxes: sees ? boxes : 0,
      confidence: sees && boxes > 0 ? 0.7 + 0.05 * this.#normal() : null,
      contentDigest: String(this.#random()),
    };
  }

  #drawScene(): Float32Array {
    const random = this.#random;
    const scene = new Float32Array(SCENE * SIDE);
    for (let y = 0; y < SIDE; y += 1)
      scene.fill(0.75 - (0.4 * y) / SIDE, y * SCENE, (y + 1) * SCENE);
    for (let shape = 0; shape < 90; shape += 1) {
      const [left, top] = [Math.floor(random() * SCENE), Math.floor(random() * SIDE)];
      const [width, height] = [2 + random() * 26, 2 + random() * 22];
      const grey = 0.15 + 0.8 * random();
      for (let y = top; y < Math.min(SIDE, top + height); y += 1) {
        for (let x = left; x < Math.min(SCENE, left + width); x += 1) scene[y * SCENE + x] = grey;
      }
    }
    for (let index = 0; index < scene.length; index += 1) {
      scene[index] = scene[index]! * (0.92 + 0.16 * random());
    }
    return scene;
  }

  #drawLamps(): Float32Array {
    const lamps = new Float32Array(SCENE * SIDE);
    for (let lamp = 0; lamp < 8; lamp += 1) {
      const [at, top] = [this.#random() * SCENE, this.#random() * SIDE];
      for (let y = 0; y < SIDE; y += 1) {
        for (let x = 0; x < SCENE; x += 1) {
          lamps[y * SCENE + x]! += Math.exp(-((x - at) ** 2 + (y - top) ** 2) / 60);
        }
      }
    }
    return lamps;
  }

  #boxesAt(time: number): number {
    const hour = (time / 3_600) % 24;
    const isWeekend = Math.floor(time / 86_400) % 7 >= 5;
    const rush = Math.exp(-(((hour - 8) / 2.5) ** 2)) + Math.exp(-(((hour - 17) / 3) ** 2));
    const mean = this.#traits.traffic * (0.05 + rush) * (isWeekend ? 0.5 : 1);
    return Math.max(0, Math.round(mean + Math.sqrt(mean) * this.#normal()));
  }

  #look(time: number, boxes: number, fault: Fault | null): PictureLook {
    const { night, noise } = this.#traits;
    const day = this.#daylight(time);
    const weather = this.#weather(time) * (0.93 + 0.14 * this.#random());
    const fog = 0.15 * (1 - this.#weather(time + 40_000));
    const light = 200 * day * weather + 30 * night * (fault === 'dark' ? 0.2 : 1);
    const lamps = fault === 'dark' ? 0 : 220 * night * (1 - day);
    const vehicles = this.#vehicles(boxes, day > 0.2 ? 0 : night);
    const turned = fault === 'turn' ? Math.round(0.3 * SIDE) : 0;
    // The mast sways in the wind, by one pixel.
    const from = SIDE / 4 + turned + Math.floor(3 * this.#random()) - 1;
    const grain = noise * (weather < 0.6 ? 2 : 1);
    let pixels: Float32Array = new Float32Array(SIDE * SIDE);
    for (let y = 0; y < SIDE; y += 1) {
      for (let x = 0; x < SIDE; x += 1) {
        const at = y * SCENE + x + from;
        const scene = vehicles[y * SIDE + x]! || this.#scene[at]!;
        pixels[y * SIDE + x] =
          light * (scene * (1 - fog) + 0.6 * fog) + lamps * this.#lamps[at]! * scene;
      }
    }
    if (fault === 'blur') for (let pass = 0; pass < 2; pass += 1) pixels = blurred(pixels);
    if (fault === 'black') pixels.fill(3);
    if (fault === 'bag') pixels = pixels.map((_, at) => 40 + light / 3 + (at % SIDE) / 40);
    for (let at = 0; at < pixels.length; at += 1) {
      pixels[at] = Math.min(255, Math.max(0, pixels[at]! + grain * this.#normal()));
    }
    return lookOf(pixels);
  }

  /** 0 at night, 1 from an hour after sunrise on; the days grow by two minutes each. */
  #daylight(time: number): number {
    const hour = (time / 3_600) % 24;
    const grown = time / 86_400 / 30;
    const { sunrise, sunset } = this.#traits;
    const since = hour - sunrise + grown / 2;
    const left = sunset + grown / 2 - hour;
    return Math.min(1, Math.max(0, Math.min(since, left)));
  }

  /** 0.5 to 1, over hours and days. */
  #weather(time: number): number {
    const { seed } = this.#traits;
    return 0.75 + 0.13 * Math.sin(time / 9_000 + seed) + 0.12 * Math.sin(time / 50_000 + 2 * seed);
  }

  /** Levels of vehicles; 0 where there is none. At night their lights. */
  #vehicles(boxes: number, night: number): Float32Array {
    const vehicles = new Float32Array(SIDE * SIDE);
    for (let box = 0; box < boxes; box += 1) {
      const size = 4 + this.#random() * (this.#random() < 0.1 ? 40 : 10);
      const [left, top] = [this.#random() * SIDE, SIDE / 3 + (this.#random() * SIDE) / 2];
      const grey = night > 0 ? 2 : 0.1 + 0.9 * this.#random();
      for (let y = Math.floor(top); y < Math.min(SIDE, top + 0.6 * size); y += 1) {
        for (let x = Math.floor(left); x < Math.min(SIDE, left + size); x += 1) {
          vehicles[y * SIDE + x] = grey;
        }
      }
    }
    return vehicles;
  }

  /** Mean 0, standard deviation 1, about normal. */
  #normal(): number {
    const random = this.#random;
    return (random() + random() + random() - 1.5) * 2;
  }
}

/** The mean of the neighbours that are up to two pixels away. */
function blurred(pixels: Float32Array): Float32Array {
  const across = smoothed(pixels, 1);
  return smoothed(across, SIDE);
}

function smoothed(pixels: Float32Array, step: number): Float32Array {
  return pixels.map((_, at) => {
    let sum = 0;
    let count = 0;
    const along = step === 1 ? at % SIDE : Math.floor(at / SIDE);
    for (let far = -2; far <= 2; far += 1) {
      if (along + far < 0 || along + far >= SIDE) continue;
      sum += pixels[at + far * step]!;
      count += 1;
    }
    return sum / count;
  });
}

/** As the native core makes looks, of a picture that is small already. */
function lookOf(pixels: Float32Array): PictureLook {
  const sums = new Float64Array(LOOK_SIDE * LOOK_SIDE);
  let sum = 0;
  let squares = 0;
  let laplacian = 0;
  for (let y = 0; y < SIDE; y += 1) {
    for (let x = 0; x < SIDE; x += 1) {
      const at = y * SIDE + x;
      const level = pixels[at]!;
      sums[Math.floor(y / CELL) * LOOK_SIDE + Math.floor(x / CELL)]! += level;
      sum += level;
      squares += level * level;
      if (x === 0 || y === 0 || x === SIDE - 1 || y === SIDE - 1) continue;
      const around = pixels[at - 1]! + pixels[at + 1]! + pixels[at - SIDE]! + pixels[at + SIDE]!;
      laplacian += (4 * level - around) ** 2;
    }
  }
  const count = SIDE * SIDE;
  const variance = squares / count - (sum / count) ** 2;
  return {
    grey: Uint8Array.from(sums, (cell) => Math.round(cell / CELL ** 2)),
    sharpness: variance > 0 ? laplacian / (SIDE - 2) ** 2 / variance : 0,
  };
}
