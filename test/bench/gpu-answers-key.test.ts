import { expect, it } from 'vitest';
import { answersKey } from '../../bench/gpu/answer-store.js';
import { EFFORTS, type Plan } from '../../bench/gpu/plan.js';

const plan: Plan = {
  device: 'cuda',
  threads: 4,
  models: [],
  tinyModel: 'tiny.onnx',
  engineCache: 'engines',
  gpuBatches: [1, 8],
  photoRoot: 'photos',
  photos: [],
  effort: EFFORTS.full,
};
const facts = { names: ['Some GPU'], driver: '580.1' };
const addon = { version: '0.1.0', openvino: '2026.0', cuda: null, libvips: '8.17', jpeg: 'turbo' };

it('takes no answer of another commit, GPU, driver, addon or effort', () => {
  const keys = [
    answersKey('0123abc', facts, addon, plan),
    answersKey('0123abd', facts, addon, plan),
    answersKey('0123abc', { ...facts, names: ['Another GPU'] }, addon, plan),
    answersKey('0123abc', { ...facts, driver: '600.1' }, addon, plan),
    answersKey('0123abc', facts, { ...addon, version: '0.2.0' }, plan),
    answersKey('0123abc', facts, addon, { ...plan, effort: EFFORTS.quick }),
  ];
  expect(new Set(keys).size).toBe(keys.length);
  expect(answersKey('0123abc', { ...facts }, addon, plan)).toBe(keys[0]);
});
