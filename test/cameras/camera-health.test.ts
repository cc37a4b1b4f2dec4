import { beforeAll, describe, expect, test } from 'vitest';
import {
  atTime,
  dismiss,
  isSilenced,
  lateAfter,
  newHealth,
  silence,
  withPicture,
  type CameraHealth,
  type CameraPicture,
  type FindingKind,
  type HealthStep,
} from '../../src/cameras/camera-health.js';
import { randomNumbers } from '../support/random-numbers.js';
import { CAMERAS, SyntheticCamera, type Fault } from '../support/synthetic-camera.js';

const INTERVAL = 600;
const HOUR = 3_600;
const DAY = 24 * HOUR;
const MONTH = 30 * DAY;
/** Two weeks and a bit: an hour of the week is judged once it was seen twice. */
const KNOWN = 16 * DAY;
const MOST_PICTURES = 20;

/** Follows a camera; `throughJson` also with a state that is JSON between pictures, of which it expects the same. */
class Follower {
  health: CameraHealth;
  #stored: string | null;
  readonly reported: string[] = [];

  constructor(health = newHealth(), throughJson = true) {
    this.health = health;
    this.#stored = throughJson ? JSON.stringify(health) : null;
  }

  see(picture: CameraPicture): void {
    this.take((health) => withPicture(health, picture));
  }

  at(now: number): void {
    this.take((health) => atTime(health, now));
  }

  take(step: (health: CameraHealth) => HealthStep): void {
    const { health, changes } = step(this.health);
    if (this.#stored !== null) {
      const fromText = step(JSON.parse(this.#stored) as CameraHealth);
      expect(fromText.changes).toEqual(changes);
      this.#stored = JSON.stringify(fromText.health);
    }
    this.health = health;
    for (const { change, finding } of changes) {
      this.reported.push(`${finding.kind} ${change} of ${finding.picture}`);
    }
  }
}

/** A picture every ten minutes, give or take half a minute; one of twenty is missing. */
function* timesBetween(start: number, end: number): Generator<number> {
  const random = randomNumbers(start);
  for (let time = start; time < end; time += INTERVAL) {
    if (random() >= 0.05) yield Math.round(time + 60 * random());
  }
}

describe.each(Object.entries(CAMERAS))('%s', (_, traits) => {
  const camera = new SyntheticCamera(traits);
  const month = new Follower(newHealth(), false);
  beforeAll(() => {
    for (const time of timesBetween(0, MONTH)) {
      month.at(time);
      month.see(camera.picture(time));
    }
  }, 120_000);

  const noon = MONTH + 11 * HOUR;
  /** Says what is found of so many pictures from `start` on, and of those that follow when all is well again. */
  const during = (start: number, pictures: number, take: (time: number) => CameraPicture) => {
    const follower = new Follower(month.health);
    const times = [...timesBetween(start, start + 2 * DAY)];
    for (const time of times.slice(0, pictures)) follower.see(take(time));
    const found = [...follower.reported];
    for (const time of times.slice(pictures, pictures + MOST_PICTURES)) {
      follower.see(camera.picture(time));
    }
    return { found, after: follower.reported.slice(found.length), first: `${times[0]}.jpg` };
  };
  const expectFound = (kind: FindingKind, take: (time: number) => CameraPicture) => {
    const { found, after, first } = during(noon, MOST_PICTURES, take);
    expect(found).toEqual([`${kind} opened of ${first}`]);
    expect(after).toEqual([`${kind} closed of ${first}`]);
  };
  const withFault = (fault: Fault) => (time: number) => camera.picture(time, fault);

  test('has at most one false finding in a month, in bounded bytes', () => {
    expect(month.reported.length).toBeLessThanOrEqual(1);
    expect(JSON.stringify(month.health).length).toBeLessThan(25_000);
  });

  test('is found covered, black and in one colour', () => {
    expectFound('covered', withFault('black'));
    expectFound('covered', withFault('bag'));
  });

  test('is found blurred', () => {
    expectFound('blurred', withFault('blur'));
  });

  test('is found turned away', () => {
    expectFound('moved', withFault('turn'));
  });

  test('is found frozen by equal bytes, and by equal looks of other bytes', () => {
    const still = camera.picture(noon - 1);
    const again = (time: number) => ({ ...still, time, picture: `${time}.jpg` });
    const { found } = during(noon, MOST_PICTURES, again);
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(/^frozen opened/);

    const withClock = (time: number) => {
      const grey = still.look.grey.slice();
      grey[time % 20] = 255;
      return { ...again(time), look: { ...still.look, grey }, contentDigest: String(time) };
    };
    const byLook = during(noon, MOST_PICTURES, withClock);
    expect(byLook.found).toHaveLength(1);
    expect(byLook.found[0]).toMatch(/^frozen opened/);
    expect(byLook.after).toHaveLength(1);
    expect(byLook.after[0]).toMatch(/^frozen closed/);
  });

  test('is found late', () => {
    const { last } = month.health;
    const follower = new Follower(month.health);
    for (let missed = 1; missed <= MOST_PICTURES; missed += 1) {
      follower.at(last!.time + missed * INTERVAL);
    }
    expect(follower.reported).toEqual([`late opened of ${last!.picture}`]);
    follower.see(camera.picture(noon));
    expect(follower.reported.slice(1)).toEqual([`late closed of ${last!.picture}`]);
  });

  test('has no finding in a night that is darker than any before', () => {
    const { found } = during(MONTH + 21 * HOUR, 6 * 8, withFault('dark'));
    expect(found.filter((each) => !each.startsWith('unusual'))).toEqual([]);
  });
});

describe('a camera of a month', () => {
  const camera = new SyntheticCamera(CAMERAS['a car park']!);
  const times = [...timesBetween(0, KNOWN)];
  const seen = (pictures: CameraPicture[], from = newHealth()): Follower => {
    const follower = new Follower(from);
    for (const picture of pictures) follower.see(picture);
    return follower;
  };
  let known: CameraHealth;
  beforeAll(() => {
    known = seen(times.map((time) => camera.picture(time))).health;
  }, 60_000);
  const later = (hours: number, fault: Fault | null = null, start = KNOWN + 9 * HOUR) =>
    [...timesBetween(start, start + hours * HOUR)].map((time) => camera.picture(time, fault));

  test('that was moved has a new normal after two days, and can move again', () => {
    const follower = seen(later(5 * 24, 'turn'), known);
    expect(follower.reported.map((line) => line.split(' of')[0])).toEqual([
      'moved opened',
      'moved closed',
    ]);
    for (const picture of later(6, null, KNOWN + 5 * DAY + 10 * HOUR)) follower.see(picture);
    expect(follower.reported.at(-1)).toMatch(/^moved opened/);
  });

  test('has unusual counts when it finds nothing in busy hours, and unusual confidences', () => {
    const afternoon = later(7, null, KNOWN + 14 * HOUR);
    const nothing = seen(
      afternoon.map((picture) => ({ ...picture, boxes: 0, confidence: null })),
      known,
    );
    expect(nothing.reported).toHaveLength(1);
    expect(nothing.reported[0]).toMatch(/^unusual_counts opened/);
    const unsure = seen(
      afternoon.map((picture) => ({ ...picture, confidence: picture.confidence && 0.4 })),
      known,
    );
    expect(unsure.reported).toHaveLength(1);
    expect(unsure.reported[0]).toMatch(/^unusual_confidence opened/);
  });

  test('is not judged again by a picture that comes late or twice', () => {
    const [picture] = later(1);
    const { health } = withPicture(known, picture!);
    expect(withPicture(health, picture!)).toEqual({ health, changes: [] });
    expect(withPicture(health, { ...picture!, time: picture!.time - 1 }).health).toBe(health);
  });

  test('is silent until a time', () => {
    const { health } = seen(later(2, 'turn'), known);
    const now = KNOWN + DAY;
    expect(isSilenced(health.open.moved!, now)).toBe(false);
    const quiet = silence(health, 'moved', now + HOUR);
    expect(isSilenced(quiet.open.moved!, now)).toBe(true);
    expect(isSilenced(quiet.open.moved!, now + HOUR)).toBe(false);
    expect(silence(known, 'moved', now)).toBe(known);
  });

  test.each([
    ['turn', 'moved'],
    ['blur', 'blurred'],
    ['bag', 'covered'],
  ] as const)('is as it is once a finding is dismissed: %s', (fault, kind) => {
    const follower = seen(later(2, fault), known);
    follower.take((health) => dismiss(health, kind));
    for (const picture of later(3 * 24, fault, KNOWN + 11 * HOUR)) follower.see(picture);
    const ofKind = follower.reported.filter((line) => line.startsWith(kind));
    expect(ofKind).toHaveLength(2);
    expect(ofKind[1]).toMatch(/closed/);
    expect(dismiss(follower.health, kind).changes).toEqual([]);
  });
});

test('a camera that rests every night is late by day only', () => {
  const camera = new SyntheticCamera(CAMERAS['a yard with one lamp']!);
  const follower = new Follower();
  for (const time of timesBetween(0, 8 * DAY)) {
    const hour = (time / HOUR) % 24;
    if (time > 2 * DAY) follower.at(time);
    if (hour >= 6 && hour < 20) follower.see(camera.picture(time));
  }
  expect(follower.reported).toEqual([]);
  expect(lateAfter(follower.health.past)).toBeGreaterThan(10 * HOUR);
});
