/** The look of drawn copies: what is where, in which colour and size. */
import sharp from 'sharp';
import { beforeAll, describe, expect, it } from 'vitest';
import { boxesSvg, SVG_LOADER } from '../../src/annotate/boxes-svg.js';
import { outlinesOf } from '../../src/annotate/label-font.js';
import type { Detection } from '../../src/api/schemas/image.js';
import { classColour } from '../../src/overlay/class-colour.js';

const SIZE = { width: 640, height: 480 };
const car: Detection = { class: 'car', confidence: 0.874, box: [64, 64, 288, 160] };

/** Opaque pixels of one colour, after drawing on a ground that no class has. */
async function pixelsOf(svg: string, colour: string): Promise<number> {
  const { data } = await sharp(Buffer.from(svg)).raw().toBuffer({ resolveWithObject: true });
  const [red, green, blue] = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
  let count = 0;
  for (let at = 0; at < data.length; at += 4) {
    if (data[at] === red && data[at + 1] === green && data[at + 2] === blue) count += 1;
  }
  return count;
}

// Another file of this process may have loaded the addon.
beforeAll(() => {
  sharp.unblock({ operation: [SVG_LOADER] });
});

describe('boxes as SVG', () => {
  it('have no text, which would need fonts on the machine', () => {
    const svg = boxesSvg(SIZE, [car]);
    expect(svg).not.toMatch(/<text|font/);
    expect(svg).toContain('<path');
  });

  it('have the colour of their class, a dark casing and dark letters', async () => {
    const svg = boxesSvg(SIZE, [car]);
    expect(await pixelsOf(svg, classColour('car').colour)).toBeGreaterThan(500);
    expect(await pixelsOf(svg, classColour('car').text)).toBeGreaterThan(10);
    expect(svg).toContain('stroke="#111111"');
  });

  it('are drawn with names that look like markup', async () => {
    const svg = boxesSvg(SIZE, [{ ...car, class: '"/><script>&' }]);
    expect(svg).not.toContain('script');
    expect((await sharp(Buffer.from(svg)).metadata()).width).toBe(640);
  });

  it('grow with the picture', () => {
    const large = boxesSvg({ width: 4000, height: 3000 }, [car]);
    const widths = (svg: string) =>
      [...svg.matchAll(/stroke-width="([\d.]+)"/g)].map(([, width]) => Number(width));
    expect(Math.max(...widths(large))).toBeGreaterThan(
      3 * Math.max(...widths(boxesSvg(SIZE, [car]))),
    );
  });

  it('stay in the picture for boxes at and beyond its edges', async () => {
    const svg = boxesSvg({ width: 50, height: 40 }, [
      { class: 'car', confidence: 1, box: [0, 0, 50, 40] },
      { class: 'ünknown ☃', confidence: 0.5, box: [-20, -20, 500, 500] },
      { class: 'dot', confidence: 0.5, box: [49.6, 39.7, 50, 40] },
    ]);
    expect(svg).not.toMatch(/NaN|="-/);
    expect(await sharp(Buffer.from(svg)).metadata()).toMatchObject({ width: 50, height: 40 });
  });
});

describe('outlines', () => {
  it('are wider for longer and larger text', () => {
    expect(outlinesOf('car 87%', 20).width).toBeGreaterThan(outlinesOf('car', 20).width);
    expect(outlinesOf('car', 40).width).toBeCloseTo(2 * outlinesOf('car', 20).width);
    expect(outlinesOf('', 20)).toEqual({ path: '', width: 0 });
  });

  it.each([
    ['Latin', 'ß'],
    ['Latin extended', 'ł'],
    ['Cyrillic', 'Ж'],
    ['Greek', 'Ω'],
  ])('of %s letters are not the box of an unknown character', (_script, letter) => {
    const unknown = outlinesOf('\u{1f697}', 20);
    expect(unknown.path).not.toBe('');
    expect(outlinesOf(letter, 20).path).not.toBe(unknown.path);
  });
});
