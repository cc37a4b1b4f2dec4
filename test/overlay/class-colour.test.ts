import { expect, test } from 'vitest';
import { classColour, contrast } from '../../src/overlay/class-colour.js';

const NAMES = ['car', 'bus', 'truck', 'motorcycle', 'person', 'bicycle', 'van', 'tram', 'грузовик'];

test('vehicles have the colours of Okabe and Ito', () => {
  const colours = ['car', 'motorcycle', 'bus', 'truck'].map((name) => classColour(name).colour);
  expect(colours).toEqual(['#56B4E9', '#D55E00', '#009E73', '#E69F00']);
});

test('a class has one colour in any letter case', () => {
  expect(classColour('Car')).toEqual(classColour('car'));
  expect(classColour('TRAM')).toEqual(classColour('tram'));
});

test.each([...NAMES, ...Array.from({ length: 60 }, (_, index) => `class ${index}`)])(
  'text on the colour of %s can be read',
  (name) => {
    const { colour, text } = classColour(name);
    expect(colour).toMatch(/^#[0-9a-f]{6}$/i);
    expect(contrast(colour, text)).toBeGreaterThanOrEqual(4.5);
  },
);

test('names without a fixed colour are spread over many', () => {
  const colours = Array.from({ length: 60 }, (_, index) => classColour(`class ${index}`).colour);
  expect(new Set(colours).size).toBeGreaterThan(10);
});

test('the contrast is that of WCAG 2', () => {
  expect(contrast('#000000', '#ffffff')).toBeCloseTo(21);
  expect(contrast('#777777', '#777777')).toBe(1);
});
