import fc from 'fast-check';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { drawChart, type Chart } from '../../bench/gpu/chart.js';

const rasterise = (svg: string) => sharp(Buffer.from(svg)).png().toBuffer();
const chart = (more: Partial<Chart> = {}): Chart => ({
  name: 'some',
  title: 'Some figures',
  unit: 'ms',
  kind: 'bars',
  categories: ['left', 'right'],
  series: [
    { name: 'one', values: [1, 2] },
    { name: 'two', values: [3, null] },
  ],
  ...more,
});
/** Height of each bar in its order. */
const heights = (svg: string) =>
  [...svg.matchAll(/height="([\d.]+)" fill="#\w+"><title>/g)].map(([, height]) => Number(height));

describe('charts', () => {
  it('are refused by the rasteriser when they are no well-formed XML', async () => {
    await expect(rasterise(drawChart(chart(), 'here').replace('</g>', ''))).rejects.toThrow();
  });

  it('draw bars in proportion, and none where there is no value', () => {
    const [one, three, two] = heights(drawChart(chart(), 'here'));
    expect(heights(drawChart(chart(), 'here'))).toHaveLength(3);
    expect(three! / one!).toBeCloseTo(3, 1);
    expect(two! / one!).toBeCloseTo(2, 1);
  });

  it('stack bars on top of each other', () => {
    const svg = drawChart(
      chart({
        kind: 'stack',
        categories: ['all'],
        series: [
          { name: 'one', values: [60] },
          { name: 'two', values: [40] },
        ],
      }),
      'here',
    );
    const tops = [
      ...svg.matchAll(/y="([\d.]+)" width="[\d.]+" height="([\d.]+)" fill="#\w+"><title>/g),
    ];
    const [first, second] = tops.map(([, y, height]) => ({ y: Number(y), height: Number(height) }));
    expect(second!.y + second!.height).toBeCloseTo(first!.y, 1);
  });

  it('say which series was not reported', () => {
    const svg = drawChart(chart({ series: [{ name: 'launch', values: [null, null] }] }), 'here');
    expect(svg).toContain('launch (not reported)');
  });

  it('have colours for dark pages too', () => {
    expect(drawChart(chart(), 'here')).toContain('prefers-color-scheme: dark');
  });

  it.each(['bars', 'stack', 'lines'] as const)('draw the smallest of numbers as %s', (kind) => {
    for (const logarithmic of [false, kind !== 'stack']) {
      const series = [{ name: 'one', values: [Number.MIN_VALUE, 0] }];
      expect(drawChart(chart({ kind, logarithmic, series }), 'here')).not.toMatch(/NaN|Infinity/);
    }
  });

  it('are well formed and inside the page whatever is drawn', async () => {
    // A name may be any, but for the words that are looked for in figures.
    const name = fc
      .string({ minLength: 1, maxLength: 20, unit: 'grapheme-ascii' })
      .filter((text) => !/NaN|Infinity/.test(text));
    const value = fc.option(fc.double({ min: 0, max: 1e9, noNaN: true }), { nil: null });
    const any = fc
      .record({
        categories: fc.array(name, { minLength: 1, maxLength: 12 }),
        names: fc.array(name, { minLength: 1, maxLength: 7 }),
      })
      .chain(({ categories, names }) =>
        fc
          .record({
            title: name,
            kind: fc.constantFrom<Chart['kind']>('bars', 'stack', 'lines'),
            logarithmic: fc.boolean(),
            values: fc.array(
              fc.array(value, { minLength: categories.length, maxLength: categories.length }),
              { minLength: names.length, maxLength: names.length },
            ),
          })
          .map(({ title, kind, logarithmic, values }) =>
            chart({
              title,
              kind,
              categories,
              logarithmic: logarithmic && kind !== 'stack',
              series: names.map((each, at) => ({ name: each, values: values[at]! })),
            }),
          ),
      );
    await fc.assert(
      fc.asyncProperty(any, async (drawn) => {
        const svg = drawChart(drawn, 'here');
        expect(svg).not.toMatch(/NaN|Infinity/);
        await rasterise(svg);
        for (const [, y] of svg.matchAll(/ y="(-?[\d.]+)"/g)) expect(Number(y)).toBeGreaterThan(0);
      }),
      { numRuns: 60 },
    );
  });
});
