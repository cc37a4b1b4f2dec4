/** Cameras with known truth: the five scenes again and again, each time with other vehicles. */
import { SCENES, sequenceOf, type Sequence } from '../../test/support/camera-stills.js';

export interface Camera {
  /** The folder of its pictures. */
  folder: string;
  sequence: Sequence;
}

/** So many cameras with about so many boxes each. */
export function camerasOf(count: number, boxes: number): Camera[] {
  return Array.from({ length: count }, (_, at) => {
    const scene = SCENES[at % SCENES.length]!;
    const seed = scene.seed + 100 * Math.floor(at / SCENES.length);
    // The boxes of an hour differ between a short scene and a long one, so a day of it is counted first.
    const hours = Math.max(24, scene.hours);
    const perHour = boxesIn(sequenceOf({ ...scene, seed, hours })) / hours;
    const sequence = sequenceOf({ ...scene, seed, hours: boxes / perHour });
    return { folder: `cameras/${String(at).padStart(2, '0')}`, sequence };
  });
}

export const boxesIn = ({ stills }: Pick<Sequence, 'stills'>): number =>
  stills.reduce((sum, still) => sum + still.boxes.length, 0);
