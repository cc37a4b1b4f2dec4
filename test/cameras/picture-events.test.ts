/** Events: which pictures belong together, and the counts that they have. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EventFold, type EventPicture } from '../../src/cameras/picture-events.js';

const GAP_S = 60;

type Picture = EventPicture<number, 'name' | 'none'>;

const counts = fc.dictionary(fc.constantFrom('car', 'bus'), fc.integer({ min: 1, max: 9 }));
const pictures = fc
  .array(
    fc.record({
      time: fc.option(fc.integer({ min: 0, max: 1_000 })),
      source: fc.constantFrom('name' as const, 'none' as const),
      failed: fc.boolean(),
      classes: counts,
      regions: fc.option(fc.dictionary(fc.constantFrom('gate', 'yard'), counts), {
        nil: undefined,
      }),
    }),
    { maxLength: 40 },
  )
  .map((all): Picture[] =>
    all
      .sort((a, b) => (a.time ?? 2_000) - (b.time ?? 2_000))
      .map((picture, image) => ({ ...picture, image })),
  );

function eventsOf(all: readonly Picture[]) {
  const fold = new EventFold<number, Picture['source']>(GAP_S);
  for (const picture of all) fold.add(picture);
  return fold.events;
}

/** The pictures of each event: a list is cut where a gap is. */
function groupsOf(all: readonly Picture[]): Picture[][] {
  const cuts = all.flatMap(({ time }, at) => {
    const before = all[at - 1]?.time ?? null;
    return before === null || time === null || time - before > GAP_S ? [at] : [];
  });
  return cuts.map((from, at) => all.slice(from, cuts[at + 1]));
}

const boxesOf = ({ classes }: Picture) => (classes.car ?? 0) + (classes.bus ?? 0);
const most = (of: (Readonly<Record<string, number>> | undefined)[], name: string) =>
  Math.max(0, ...of.map((each) => each?.[name] ?? 0));

test('pictures within the gap are one event, with its times, its sums and its best picture', () => {
  fc.assert(
    fc.property(pictures, (all) => {
      const groups = groupsOf(all);
      expect(
        eventsOf(all).map(({ first, last, images, failed, empty, best }) => [
          ...[first, last, images, failed, empty, best],
        ]),
      ).toEqual(
        groups.map((own) => [
          ...[own[0]?.time, own.at(-1)?.time, own.length],
          own.filter(({ failed }) => failed).length,
          own.filter((each) => !each.failed && boxesOf(each) === 0).length,
          own.find((each) => boxesOf(each) > 0 && boxesOf(each) === Math.max(...own.map(boxesOf)))
            ?.image ?? null,
        ]),
      );
    }),
  );
});

test('an event has the most boxes of each class that one of its pictures has, also by region', () => {
  fc.assert(
    fc.property(pictures, (all) => {
      const groups = groupsOf(all);
      eventsOf(all).forEach(({ classes, regions, sources }, at) => {
        const own = groups[at] ?? [];
        for (const name of ['car', 'bus']) {
          expect(classes[name] ?? 0).toBe(
            most(
              own.map((each) => each.classes),
              name,
            ),
          );
          for (const region of ['gate', 'yard']) {
            const inRegion = own.map((each) => each.regions?.[region]);
            expect(regions?.[region]?.[name] ?? 0).toBe(most(inRegion, name));
          }
        }
        const named = own.flatMap((each) => Object.keys(each.regions ?? {}));
        expect(Object.keys(regions ?? {}).sort()).toEqual([...new Set(named)].sort());
        expect((sources.name ?? 0) + (sources.none ?? 0)).toBe(own.length);
      });
    }),
  );
});
