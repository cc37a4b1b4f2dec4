/** Events: which pictures belong together, and the counts that they have. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { eventsOf, type EventPicture } from '../../src/cameras/picture-events.js';

const GAP_S = 60;

const pictures = fc.array(
  fc.record({
    time: fc.option(fc.integer({ min: 0, max: 1_000 })),
    failed: fc.boolean(),
    classes: fc.dictionary(fc.constantFrom('car', 'bus'), fc.integer({ min: 1, max: 9 })),
    regions: fc.option(fc.constant({ gate: { car: 2 }, yard: {} }), { nil: undefined }),
  }),
  { maxLength: 40 },
);

const numbered = (of: Omit<EventPicture<number>, 'image'>[]): EventPicture<number>[] =>
  of.map((picture, image) => ({ ...picture, image }));

test('each picture is in one event, and a gap is between two events and in none', () => {
  fc.assert(
    fc.property(pictures, (given) => {
      const events = eventsOf(numbered(given), GAP_S);
      const images = events.flatMap((event) => event.pictures.map(({ image }) => image));
      expect(images.sort((a, b) => a - b)).toEqual(given.map((_, image) => image));
      events.forEach((event, at) => {
        const times = event.pictures.map(({ time }) => time);
        expect([times[0], times.at(-1)]).toEqual([event.first, event.last]);
        if (event.first === null) expect(times).toHaveLength(1);
        times.forEach((time, index) => {
          if (index > 0)
            expect((time ?? NaN) - (times[index - 1] ?? NaN)).toBeLessThanOrEqual(GAP_S);
        });
        const next = events[at + 1]?.first ?? null;
        if (next !== null) expect(next - (event.last ?? NaN)).toBeGreaterThan(GAP_S);
      });
    }),
  );
});

test('an event has the most boxes of each class that one of its pictures has, whatever their order', () => {
  fc.assert(
    fc.property(pictures, fc.infiniteStream(fc.double({ noNaN: true })), (given, order) => {
      const shuffled = numbered(given)
        .map((picture) => ({ picture, at: order.next().value as number }))
        .sort((a, b) => a.at - b.at)
        .map(({ picture }) => picture);
      const events = eventsOf(shuffled, GAP_S);
      for (const { classes, pictures: own, best, regions } of events) {
        for (const name of ['car', 'bus']) {
          expect(classes[name] ?? 0).toBe(Math.max(...own.map((each) => each.classes[name] ?? 0)));
        }
        const boxes = (each: EventPicture<number>) =>
          (each.classes.car ?? 0) + (each.classes.bus ?? 0);
        const most = Math.max(...own.map(boxes));
        const found = own.find(({ image }) => image === best);
        expect(found === undefined ? 0 : boxes(found)).toBe(most);
        const isCounted = own.some((each) => each.regions !== undefined);
        expect(regions).toEqual(isCounted ? { gate: { car: 2 }, yard: {} } : undefined);
      }
      const sums = (all: typeof events) =>
        all.map(({ first, last, classes }) => [first, last, classes]);
      const known = (all: typeof events) => sums(all.filter(({ first }) => first !== null));
      expect(known(events)).toEqual(known(eventsOf(numbered(given), GAP_S)));
    }),
  );
});
