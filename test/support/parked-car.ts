/** Stills of a camera, one every two minutes from 14:00 on: a parked car that is weak at times, and one that drives. */
import type { Detection } from '../../src/api/schemas/image.js';

const MINUTES = Array.from({ length: 20 }, (_, at) => at * 2);

export const parkedCar = {
  minutes: MINUTES,
  path: (camera: string, minute: number) =>
    `${camera}/20251126_14${String(minute).padStart(2, '0')}00.jpg`,
  found: (path: string): Detection[] => {
    const minute = MINUTES.find((each) => path.endsWith(parkedCar.path('', each))) ?? 0;
    return [
      { box: [minute * 2, 60, minute * 2 + 12, 70], confidence: 0.9, class: 'car' },
      { box: [10, 10, 40, 30], confidence: minute % 10 === 0 ? 0.4 : 0.8, class: 'car' },
    ];
  },
};
