import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  foldPicture,
  noPlaces,
  PLACE_RULES,
  type Picture,
  type PictureBox,
} from '../../src/cameras/place-tracker.js';
import { SCENES, sequenceOf } from '../support/camera-stills.js';
import { placeScores } from '../support/place-scores.js';

type Sides = PictureBox['box'];

const car = (box: Sides, more: Partial<PictureBox> = {}): PictureBox => ({
  class: 'car',
  confidence: 0.8,
  box,
  ...more,
});

const BAY: Sides = [100, 100, 200, 170];
const moved = (x: number, y = 0, [left, top, right, bottom]: Sides = BAY): Sides => [
  left + x,
  top + y,
  right + x,
  bottom + y,
];

/** Pictures a minute apart, each with these boxes; null: none was taken. */
const minutes = (pictures: (PictureBox[] | null)[]): Picture[] =>
  pictures.flatMap((boxes, at) =>
    boxes === null ? [] : [{ key: `${at}`, time: at * 60, width: 1280, height: 720, boxes }],
  );

function fold(pictures: Picture[], rules = PLACE_RULES) {
  const state = noPlaces();
  const placed = pictures.map((picture) => foldPicture(state, picture, rules));
  return {
    state,
    placed,
    changes: placed.flatMap(({ time, changes }) =>
      changes.map(({ kind, since, lastSeen }) => ({
        kind,
        at: time / 60,
        since: since / 60,
        lastSeen: lastSeen / 60,
      })),
    ),
  };
}

const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);

describe('a vehicle that stands', () => {
  test('is static once it has stood long enough, and its earlier boxes with it', () => {
    const { placed, changes } = fold(minutes(times(8, [car(BAY)])));
    expect(placed.map(({ boxes }) => boxes[0]?.static)).toEqual([
      ...times(5, 'unknown'),
      ...times(3, true),
    ]);
    const stays = new Set(placed.map(({ boxes }) => boxes[0]?.stay));
    expect(stays.size).toBe(1);
    expect(placed.flatMap(({ decided }) => decided)).toEqual([
      { stay: [...stays][0], static: true },
    ]);
    expect(changes).toEqual([{ kind: 'occupied', at: 5, since: 0, lastSeen: 5 }]);
    expect(placed[7]?.boxes[0]).toMatchObject({ place: 1, staySince: 0 });
  });

  test('needs pictures too: two of them an hour apart say little', () => {
    const hourly = minutes([[car(BAY)], ...times(59, null), [car(BAY)]]);
    expect(fold(hourly).placed[1]?.boxes[0]?.static).toBe('unknown');
  });

  test('is seen in boxes below the threshold, once it is known', () => {
    const weak = [car(BAY, { confidence: 0.06 })];
    const { placed, changes } = fold(minutes([[car(BAY)], ...times(9, weak)]));
    expect(placed.at(-1)?.boxes[0]?.static).toBe(true);
    expect(changes).toHaveLength(1);
  });

  test('is not begun by weak boxes alone', () => {
    const { placed, changes } = fold(minutes(times(9, [car(BAY, { confidence: 0.4 })])));
    expect(placed.every(({ boxes }) => boxes[0]?.static === 'unknown')).toBe(true);
    expect(changes).toEqual([]);
    const faint = fold(minutes(times(9, [car(BAY, { confidence: 0.1 })])));
    expect(faint.placed.every(({ boxes }) => boxes[0]?.static === false)).toBe(true);
    expect(faint.state.places).toEqual([]);
  });

  test('has stood since the first weak box, if a stronger one follows', () => {
    const weak = [car(BAY, { confidence: 0.4 })];
    const { changes } = fold(minutes([weak, weak, ...times(5, [car(BAY)])]));
    expect(changes).toEqual([{ kind: 'occupied', at: 5, since: 0, lastSeen: 5 }]);
  });

  test('may be called a car or a truck, but is no bicycle', () => {
    const flickering = minutes(
      times(8, null).map((_, at) => [car(BAY, { class: at % 2 ? 'Truck ' : 'car' })]),
    );
    expect(fold(flickering).changes).toHaveLength(1);
    const both = fold(minutes(times(8, [car(BAY), car(BAY, { class: 'bicycle' })])));
    expect(both.state.places.map(({ group }) => group)).toEqual(['vehicle', 'cycle']);
  });
});

describe('a stay', () => {
  test('goes on if it is hidden for a few pictures', () => {
    const { changes } = fold(
      minutes([...times(8, [car(BAY)]), [], [], [], ...times(8, [car(BAY)])]),
    );
    expect(changes.map(({ kind }) => kind)).toEqual(['occupied']);
  });

  test('has ended at its last box, which is certain some pictures later', () => {
    const { changes, state } = fold(minutes([...times(8, [car(BAY)]), ...times(6, [])]));
    expect(changes.at(-1)).toEqual({ kind: 'left', at: 11, since: 0, lastSeen: 7 });
    expect(state.places).toMatchObject([
      { stay: null, ended: [{ since: 0, lastSeen: 420, seen: 8 }] },
    ]);
  });

  test('goes on over hours without a picture, but not over more than the longest gap', () => {
    const after = (hours: number) =>
      fold(minutes([...times(8, [car(BAY)]), ...times(hours * 60, null), ...times(8, [car(BAY)])]));
    expect(after(3).changes.map(({ kind }) => kind)).toEqual(['occupied']);
    expect(after(7).changes.map(({ kind }) => kind)).toEqual(['occupied', 'left', 'occupied']);
  });

  test('is another one if a vehicle of other size stands there next, without a gap', () => {
    const { changes, state } = fold(
      minutes([...times(9, [car(BAY)]), ...times(9, [car([92, 104, 199, 172])])]),
    );
    expect(changes).toEqual([
      { kind: 'occupied', at: 5, since: 0, lastSeen: 5 },
      { kind: 'left', at: expect.any(Number), since: 0, lastSeen: 8 },
      { kind: 'occupied', at: 14, since: 9, lastSeen: 14 },
    ]);
    expect(state.places).toHaveLength(1);
  });

  test('is another one if single boxes fit, but their mean does not', () => {
    // Two pixels of 100 are as much as a box scatters by itself.
    const noise = [0, 1.5, -1.5, 1, -1, 0.5, -0.5];
    const standing = (x: number) =>
      times(14, null).map((_, at) => [
        car([
          100 + x + noise[at % 7]!,
          100 + x + noise[(at + 2) % 7]!,
          200 + x + noise[(at + 4) % 7]!,
          170 + x + noise[(at + 5) % 7]!,
        ]),
      ]);
    const { changes } = fold(minutes([...standing(0), ...standing(4)]));
    expect(changes.map(({ kind }) => kind)).toEqual(['occupied', 'left', 'occupied']);
    expect(changes[1]?.lastSeen).toBe(13);
    expect(fold(minutes([...standing(0), ...standing(0)])).changes).toHaveLength(1);
  });

  test('is another one if the descriptor differs, which it does not where all differ: that is light', () => {
    const others = [300, 500, 700].map((x) => moved(x));
    const picture = (mine: string, theirs: string) => [
      car(BAY, { descriptor: mine.repeat(8) }),
      ...others.map((box) => car(box, { descriptor: theirs.repeat(8) })),
    ];
    const left = (after: PictureBox[]) =>
      fold(minutes([...times(9, picture('20', '20')), ...times(9, after)])).changes.filter(
        ({ kind }) => kind === 'left',
      );
    expect(left(picture('20', '20'))).toHaveLength(0);
    expect(left(picture('f0', '20'))).toEqual([
      { kind: 'left', at: expect.any(Number), since: 0, lastSeen: 8 },
    ]);
    expect(left(picture('f0', 'f0'))).toHaveLength(0);
  });

  test('is unharmed by a vehicle that passes before it', () => {
    const { changes, placed } = fold(
      minutes([...times(8, [car(BAY)]), [car(moved(30))], ...times(8, [car(BAY)])]),
    );
    expect(changes).toHaveLength(1);
    const passing = placed[8]?.boxes[0]?.stay;
    expect(passing).not.toBe(placed[7]?.boxes[0]?.stay);
    expect(placed.flatMap(({ decided }) => decided)).toContainEqual({
      stay: passing,
      static: false,
    });
  });
});

describe('the whole picture is shifted', () => {
  const small = [0, 1, 2, 3].map((at): Sides => [100 + 60 * at, 100, 118 + 60 * at, 112]);

  test('small boxes stay in their places, which do not move', () => {
    const shaken = minutes(
      times(12, null).map((_, at) => small.map((box) => car(moved(at % 2 ? 11 : -7, at % 3, box)))),
    );
    const { state, changes } = fold(shaken);
    expect(state.places).toHaveLength(4);
    expect(changes).toHaveLength(4);
    expect(state.shift[0]).toBeCloseTo(18, 0);
  });

  test('a picture of other size is scaled, one of another shape left out', () => {
    const pictures = minutes(times(8, [car(BAY)]));
    const half = pictures.map((picture, at) =>
      at % 2 === 0
        ? picture
        : { ...picture, width: 640, height: 360, boxes: [car([50, 50, 100, 85])] },
    );
    expect(fold(half).state.places).toEqual(fold(pictures).state.places);
    const { placed, state } = fold([...pictures, { ...pictures[0]!, width: 720, height: 1280 }]);
    expect(placed.at(-1)?.boxes[0]?.static).toBe('unknown');
    expect(state.places).toEqual(fold(pictures).state.places);
  });

  test('a camera whose pictures keep another shape begins anew', () => {
    const pictures = minutes(times(36, [car(BAY)]));
    const turned = pictures.map((picture, at) =>
      at < 8 ? picture : { ...picture, width: 1280, height: 960 },
    );
    const { state, placed } = fold(turned);
    const changes = placed.flatMap(({ changes }) => changes);
    expect(changes.map(({ kind, place }) => [kind, place])).toEqual([
      ['occupied', 1],
      ['left', 1],
      ['occupied', 3],
    ]);
    expect(state.places.map(({ id, ended, stay }) => [id, ended.length, stay?.isStatic])).toEqual([
      [1, 1, undefined],
      [3, 0, true],
    ]);
  });
});

describe('the state', () => {
  const boxes = fc.array(
    fc.record({
      class: fc.constantFrom('car', 'truck', 'bicycle'),
      confidence: fc.constantFrom(0.1, 0.3, 0.6, 0.9),
      box: fc
        .tuple(
          fc.integer({ min: 0, max: 12 }),
          fc.integer({ min: 0, max: 6 }),
          fc.integer({ min: 0, max: 60 }),
        )
        .map(([x, y, side]): Sides => [x * 40, y * 40, x * 40 + side, y * 40 + side]),
    }),
    { maxLength: 12 },
  );
  const pictures = fc
    .array(fc.tuple(fc.integer({ min: 1, max: 4000 }), boxes), { maxLength: 40 })
    .map((rows) => {
      let time = 0;
      return rows.map(([gap, found], at): Picture => {
        time += gap;
        return { key: `${at}`, time, width: 640, height: 360, boxes: found };
      });
    });
  const rules = { ...PLACE_RULES, mostPlaces: 6, mostStays: 2 };

  test('is the same through JSON after every picture, and what is said of the boxes', () => {
    fc.assert(
      fc.property(pictures, (given) => {
        const whole = fold(given, rules);
        let state = noPlaces();
        const placed = given.map((picture) => {
          state = JSON.parse(JSON.stringify(state)) as typeof state;
          return foldPicture(state, picture, rules);
        });
        expect(placed).toEqual(whole.placed);
        expect(state).toEqual(whole.state);
      }),
    );
  });

  test('has bounded rows, and each box one place of its own', () => {
    fc.assert(
      fc.property(pictures, (given) => {
        const { state, placed } = fold(given, rules);
        expect(state.places.length).toBeLessThanOrEqual(rules.mostPlaces);
        for (const { ended, stay } of state.places) {
          expect(ended.length).toBeLessThanOrEqual(rules.mostStays);
          expect(stay?.recent.length ?? 0).toBeLessThanOrEqual(8);
        }
        placed.forEach(({ boxes: answers }, at) => {
          expect(answers).toHaveLength(given[at]!.boxes.length);
          const taken = answers.flatMap(({ place }) => place ?? []);
          expect(new Set(taken).size).toBe(taken.length);
        });
      }),
    );
  });

  test('decides each stay once, before or after it is static or when it ends', () => {
    fc.assert(
      fc.property(pictures, (given) => {
        const { placed, state } = fold(given, rules);
        const decided = placed.flatMap((picture) => picture.decided.map(({ stay }) => stay));
        expect(new Set(decided).size).toBe(decided.length);
        const open = new Set(
          state.places.flatMap(({ stay, other }) => [stay?.id ?? 0, other?.id ?? 0]),
        );
        for (const { stay } of placed.flatMap((picture) => picture.boxes)) {
          expect(stay === null || open.has(stay) || decided.includes(stay)).toBe(true);
        }
      }),
    );
  });

  test('lists the latest stays of a place, and counts the older ones', () => {
    const visit = [...times(7, [car(BAY)]), ...times(6, [])];
    const { state } = fold(minutes([...visit, ...visit, ...visit, ...visit]), rules);
    expect(state.places).toMatchObject([{ ended: [{}, {}], older: { stays: 2, seconds: 720 } }]);
  });

  test('forgets the empty places that were seen longest ago, and makes none if all are taken', () => {
    const bays = times(6, null).map((_, at) => moved(at * 150));
    const all = bays.map((box) => car(box));
    const first = minutes([...times(7, all), ...times(7, all.slice(1))]);
    const [last] = first.slice(-1);
    const next = (at: number, found: PictureBox[]): Picture => ({
      ...last!,
      key: `next ${at}`,
      time: last!.time + 60 * at,
      boxes: found,
    });
    const added = car(moved(0, 300));
    const { state, placed } = fold(
      [...first, next(1, [...all.slice(1), added]), next(2, [...all.slice(1), added, car(BAY)])],
      rules,
    );
    expect(state.places).toHaveLength(6);
    expect(placed.at(-1)?.boxes.at(-1)).toMatchObject({ place: null, static: 'unknown' });
    expect(placed.at(-1)?.boxes.at(-2)?.place).not.toBeNull();
  });
});

test('vehicles that pass leave room for new ones', () => {
  const traffic = times(40, null).map((_, at) =>
    times(5, null).map((__, lane) => car(moved((at * 170 + lane * 60) % 1000, lane * 120))),
  );
  const { placed, state } = fold(minutes(traffic), { ...PLACE_RULES, mostPlaces: 6 });
  expect(state.places.length).toBeLessThanOrEqual(6);
  expect(placed.flatMap(({ boxes }) => boxes).every(({ place }) => place !== null)).toBe(true);
});

describe('five cameras with known truth', () => {
  const scored = SCENES.map((scene) => {
    const sequence = sequenceOf(scene);
    const { placed } = fold(sequence.stills);
    return { name: scene.name, scores: placeScores(sequence, placed, PLACE_RULES) };
  });

  test.each(scored)('$name', ({ scores }) => {
    expect(scores.boxes).toBeGreaterThanOrEqual(400);
    expect(scores.f1).toBeGreaterThanOrEqual(0.95);
    expect(Math.abs(scores.countOff)).toBeLessThanOrEqual(0.05);
  });

  test('vehicles that queue at a stop line are not static', () => {
    const queue = scored.find(({ name }) => name.startsWith('a stop line'));
    expect(queue?.scores.precision).toBeGreaterThan(0.98);
  });

  test('of all stays nine in ten are right within one picture', () => {
    const right = scored.reduce((sum, { scores }) => sum + scores.staysRight * scores.stays, 0);
    const all = scored.reduce((sum, { scores }) => sum + scores.stays, 0);
    expect(right / all).toBeGreaterThanOrEqual(0.9);
  });
});
