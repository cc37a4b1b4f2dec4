/** Vehicles that wait one after another in the same places, told apart by their descriptors. */
import { expect, test } from 'vitest';
import type { Box } from '../../src/boxes/overlap.js';
import { foldPicture, noPlaces, PLACE_RULES } from '../../src/cameras/place-tracker.js';
import { randomNumbers } from '../support/random-numbers.js';

interface Vehicle {
  look: number[];
  box: Box;
}

const CYCLE_S = 90;
const RED_S = 60;
const HOURS_S = 3 * 3_600;
/** When the light changes: every vehicle looks another way from then on. */
const CHANGE_S = HOURS_S / 2;

/** Shares of boxes that are of vehicles that stand, in stills of a stop line with parked vehicles beside it. */
function standing(parkedCount: number, intervalS: number) {
  const random = randomNumbers(7);
  const about = (deviation: number) =>
    deviation * Math.sqrt(-2 * Math.log(random() + 1e-9)) * Math.cos(2 * Math.PI * random());
  const look = () => Array.from({ length: 64 }, () => 128 + about(50));
  const vehicle = (left: number, top: number): Vehicle => ({
    look: look(),
    box: [left + about(1), top, left + 100 + about(2), top + 70 + about(2)],
  });
  const parked = Array.from({ length: parkedCount }, (_, at) => vehicle(600 + 110 * at, 100));
  let queue: Vehicle[] = [];
  let cycle = -1;
  const places = noPlaces();
  const decided = new Map<number, boolean>();
  const stays: Record<'parked' | 'queue', number[]> = { parked: [], queue: [] };
  for (let second = 0; second < HOURS_S; second += intervalS) {
    if (second === CHANGE_S) {
      for (const each of parked) {
        const other = look();
        each.look = each.look.map((byte, at) => 0.3 * byte + 0.7 * (other[at] ?? 0));
      }
    }
    if (Math.floor(second / CYCLE_S) !== cycle) {
      cycle = Math.floor(second / CYCLE_S);
      queue = [0, 1, 2, 3].map((at) => vehicle(150 + 120 * at, 400));
    }
    const vehicles = [...parked, ...(second % CYCLE_S < RED_S ? queue : [])];
    const boxes = vehicles.map((each) => ({
      class: 'car',
      confidence: 0.8,
      box: each.box.map((side) => side + about(0.8)) as unknown as Box,
      descriptor: Buffer.from(
        each.look.map((byte) => Math.min(255, Math.max(0, Math.round(byte + about(16))))),
      ).toString('hex'),
    }));
    const picture = { key: String(second), time: second, width: 1280, height: 720, boxes };
    const placed = foldPicture(places, picture, PLACE_RULES);
    for (const { stay, static: isStatic } of placed.decided) decided.set(stay, isStatic);
    placed.boxes.forEach(({ stay }, at) => {
      if (stay !== null) stays[at < parkedCount ? 'parked' : 'queue'].push(stay);
    });
  }
  const shareOf = (all: readonly number[]) =>
    all.filter((stay) => decided.get(stay) === true).length / Math.max(1, all.length);
  return { parked: shareOf(stays.parked), queue: shareOf(stays.queue) };
}

test.each([
  [0, 10],
  [0, 60],
  [2, 20],
  [2, 100],
  [5, 60],
])(
  '%d parked vehicles stand and the queue beside them does not, with a picture every %d s',
  (parkedCount, intervalS) => {
    const shares = standing(parkedCount, intervalS);
    expect(shares.queue).toBeLessThan(0.02);
    if (parkedCount > 0) expect(shares.parked).toBeGreaterThan(0.98);
  },
);
