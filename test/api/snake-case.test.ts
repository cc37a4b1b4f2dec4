/** The shapes of the contract in snake_case. */
import { expect, it } from 'vitest';
import { z } from 'zod';
import { snakeCase } from '../../src/api/snake-case.js';

it('renames fields, keeps their order and shows no field that the shape lacks', () => {
  const { shape, toWire } = snakeCase(z.object({ timingsMs: z.number(), image: z.string() }));
  expect(Object.keys(shape)).toEqual(['timings_ms', 'image']);
  const stored = { image: 'a', extra: 1, timingsMs: 2 };
  expect(JSON.stringify(toWire(stored))).toBe('{"timings_ms":2,"image":"a"}');
});
