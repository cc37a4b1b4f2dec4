import { expect, test } from 'vitest';
import { z } from 'zod';
import {
  FALSE_WORDS,
  OPTION_KINDS,
  readOption,
  shownOption,
  TRUE_WORDS,
} from '../../src/api/option-kinds.js';
import { PARAMETER_ROWS } from '../../src/api/options.js';

test('a switch has the words of settings, in any letter case and with white space around', () => {
  const settings = z.stringbool();
  for (const word of [...TRUE_WORDS, ...FALSE_WORDS]) {
    expect(readOption('switch', ` ${word.toUpperCase()} `)).toBe(settings.parse(word));
  }
});

test.each([
  ['fraction', ' .5 ', 0.5],
  ['count', '1e2', 100],
  ['size', '-3', -3],
  ['fractions', 'car:0.4, truck:1', { car: 0.4, truck: 1 }],
  ['fractions', '{"a,b":0.4}', { 'a,b': 0.4 }],
  ['tiles', 'AUTO', 'auto'],
  ['tiles', '{"columns":3,"rows":2}', { columns: 3, rows: 2 }],
  ['regions', ' [] ', []],
  ['view', 'north', 'north'],
] as const)('%s reads %s', (kind, text, value) => {
  expect(readOption(kind, text)).toEqual(value);
});

test.each([
  ['fraction', 'high'],
  ['count', '0x10'],
  ['size', 'Infinity'],
  ['switch', 'perhaps'],
  ['fractions', 'car'],
  ['tiles', 'many'],
  ['regions', '{}'],
] as const)('%s leaves %s to the check of the request', (kind, text) => {
  expect(readOption(kind, text)).toBe(text);
});

test('the page has a text for the default of each option', () => {
  const shown = PARAMETER_ROWS.map(({ kind, default: value }) => shownOption(kind, value));
  expect(shown).not.toContain('');
  expect(shown).not.toContain('null');
});

test.each([
  ['size', 0.004, '0.4 % of the longer side'],
  ['size', 0.05, '5 % of the longer side'],
  ['size', 1, '100 % of the longer side'],
  ['size', 24, '24 pixels'],
  ['fraction', 0.005, '0.5 %'],
  ['fraction', 0.255, '26 %'],
  ['fraction', 0, '0 %'],
  ['fractions', { car: 0.001, truck: 0.29 }, 'car 0.1 %, truck 29 %'],
] as const)('the page shows %s %j as %s', (kind, value, text) => {
  expect(shownOption(kind, value)).toBe(text);
});

test('each choice of a kind is a value of it, or none', () => {
  for (const { read, choices = [] } of Object.values(OPTION_KINDS)) {
    for (const [text] of choices) expect(text === '' || read(text) !== null).toBe(true);
  }
});
