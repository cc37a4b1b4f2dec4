/** Which workers run the images of a model, by the files that they report. */
import { expect, it } from 'vitest';
import { modelFaults, withSameModel } from '../../src/execution/worker-models.js';

const load = (name: string, digest?: string, leaving = false) => ({
  name,
  worker: { leaving, modelDigests: digest === undefined ? {} : { 'm.pt': digest } },
});
const chosen = (loads: ReturnType<typeof load>[], wanted?: string) =>
  withSameModel(loads, 'm.pt', wanted).map(({ name }) => name);

it("takes the workers with the service's file", () => {
  const loads = [load('a', '1'), load('b', '2'), load('c', '2'), load('d')];
  expect(chosen(loads, '1')).toEqual(['a']);
  expect(chosen(loads, '2')).toEqual(['b', 'c']);
});

it('never mixes two files: without that file it takes the one that most have', () => {
  const loads = [load('a', '1'), load('b', '2'), load('c', '2'), load('d')];
  expect(chosen(loads, '3')).toEqual(['b', 'c']);
  expect(chosen(loads)).toEqual(['b', 'c']);
  expect(chosen([load('a', '1', true), load('b', '2')])).toEqual(['b']);
});

it('takes all where none has a file: each says itself what it lacks', () => {
  const loads = [load('a'), load('b')];
  expect(withSameModel(loads, 'm.pt', '1')).toBe(loads);
});

it('a worker that reports no files reads those of the service', () => {
  const here = { worker: { leaving: false } };
  const there = { worker: { leaving: false, modelDigests: { 'm.pt': '2' } } };
  expect(withSameModel([here, there], 'm.pt', '2')).toEqual([here, there]);
  expect(modelFaults(undefined, { 'm.pt': '1' })).toEqual([]);
});

it('says what differs', () => {
  expect(
    modelFaults(
      { 'a.pt': '1', 'b.pt': '2', 'd.pt': '4' },
      { 'a.pt': '1', 'b.pt': '3', 'c.pt': '5' },
    ),
  ).toEqual([
    "b.pt is another file (2) than that of the service (3): copy the service's file to this node.",
    "c.pt is missing: copy the service's file to this node.",
  ]);
});
