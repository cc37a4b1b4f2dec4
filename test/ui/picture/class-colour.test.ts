import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { classColour, contrast } from '../../../src/ui/picture/class-colour.js';

const NAMES = [
  ...['car', 'truck', 'bus', 'motorcycle', 'person', 'bicycle', 'traffic light', 'stop sign'],
  ...Array.from({ length: 500 }, (_, index) => `class ${index}`),
];

test('text on the colour of any class can be read', () => {
  for (const name of NAMES) {
    const { colour, text } = classColour(name);
    expect(colour, name).toMatch(/^#[0-9a-f]{6}$/);
    expect(contrast(colour, text), name).toBeGreaterThanOrEqual(4.5);
  }
});

test('the line of any class shows on its dark casing', () => {
  for (const name of NAMES) {
    expect(contrast(classColour(name).colour, '#0a0c10'), name).toBeGreaterThanOrEqual(3);
  }
});

test('a class has one colour, whatever its letter case', () => {
  expect(classColour('Car')).toEqual(classColour('car'));
  const vehicles = ['car', 'truck', 'bus', 'motorcycle'].map((name) => classColour(name).colour);
  expect(new Set(vehicles).size).toBe(4);
  expect(new Set(NAMES.map((name) => classColour(name).colour)).size).toBeGreaterThan(200);
});

/** WCAG 2.2 AA: 4.5 for text, 3 for the lines of controls. */
const TEXT_ON = [
  ['text', 'ground'],
  ['text', 'surface'],
  ['text', 'sunken'],
  ['text', 'bad-ground'],
  ['text', 'warn-ground'],
  ['text', 'accent-ground'],
  ['quiet', 'ground'],
  ['quiet', 'surface'],
  ['quiet', 'sunken'],
  ['accent', 'ground'],
  ['accent', 'surface'],
  ['accent', 'accent-ground'],
  ['on-accent', 'accent'],
  ['on-accent', 'accent-hover'],
  ['good', 'surface'],
  ['good', 'good-ground'],
  ['warn', 'surface'],
  ['warn', 'warn-ground'],
  ['bad', 'surface'],
  ['bad', 'bad-ground'],
  ['running', 'surface'],
  ['running', 'running-ground'],
] as const;

const tokens = readFileSync(new URL('../../../src/ui/styles/tokens.css', import.meta.url), 'utf8');
const [light = '', dark = ''] = tokens.split('prefers-color-scheme: dark');
const coloursOf = (text: string) =>
  new Map(
    [...text.matchAll(/--([\w-]+): (#[0-9a-f]{3,6})/g)].map(([, name, colour]) => [
      name!,
      colour!.length === 4 ? colour!.replace(/[0-9a-f]/g, '$&$&') : colour!,
    ]),
  );

test.each([
  ['light', coloursOf(light)],
  ['dark', coloursOf(dark)],
])('the %s colours of the page can be read', (_scheme, colours) => {
  const of = (name: string) => colours.get(name) ?? 'missing';
  for (const [text, ground] of TEXT_ON) {
    expect(contrast(of(text), of(ground)), `${text} on ${ground}`).toBeGreaterThanOrEqual(4.5);
  }
  for (const ground of ['ground', 'surface']) {
    expect(contrast(of('control-line'), of(ground)), ground).toBeGreaterThanOrEqual(3);
  }
});
