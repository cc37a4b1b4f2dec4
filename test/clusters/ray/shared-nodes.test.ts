import { expect, test } from 'vitest';
import { SharedNodes } from '../../../src/clusters/ray/shared-nodes.js';

const node = (
  nodeId: string,
  { alive = true, ...resources }: Record<string, number | boolean>,
) => ({
  nodeId,
  alive: alive === true,
  resources: resources as Record<string, number>,
});
const A = node('a', { CPU: 2 });
const B = node('b', { CPU: 2 });
const on = (...nodeIds: string[]) =>
  nodeIds.map((nodeId, index) => ({ workerId: `worker-${index}`, nodeId }));

test('two workers on one node while another has none are told, once', () => {
  const shared = new SharedNodes(0);
  const told = 'worker-0, worker-1 share node a, and node b has no worker';
  expect(shared.see([A, B], on('a', 'a'))).toBe(told);
  expect(shared.see([A, B], on('a', 'a'))).toBeNull();
  expect(shared.see([A, B], on('a', 'b'))).toBeNull();
  expect(shared.see([A, B], on('a', 'a'))).toBe(told);
});

test.each([
  ['a worker on each', [A, B], on('a', 'b')],
  ['no node is left for the second', [A], on('a', 'a')],
  ['the other node is dead', [A, node('b', { CPU: 2, alive: false })], on('a', 'a')],
  ['the other node has no CPU', [A, node('b', { CPU: 0 })], on('a', 'a')],
  ['fewer workers than nodes', [A, B], on('a')],
  ['workers on GPUs', [node('a', { CPU: 2, GPU: 2 }), B], on('a', 'a')],
])('%s is as it should be', (_what, nodes, workers) => {
  expect(new SharedNodes(0).see(nodes, workers)).toBeNull();
});

test('what changes meanwhile is not told', async () => {
  const shared = new SharedNodes(100);
  expect(shared.see([A, B], on('a', 'a'))).toBeNull();
  await new Promise((resolve) => setTimeout(resolve, 110));
  expect(shared.see([A, B], on('a', 'a', 'a'))).toBeNull();
  await expect.poll(() => shared.see([A, B], on('a', 'a', 'a'))).toMatch(/^worker-0, worker-1/);
});
