import fc from 'fast-check';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { networkWork } from '../../bench/gpu/network-work.js';
import { v8Layout } from '../../bench/gpu/v8-layout.js';
import { readOnnxGraph, type OnnxGraph, type OnnxNode } from '../../bench/gpu/onnx-graph.js';
import { hasTestdata, PROJECT_ROOT, SHARED_TESTDATA } from '../support/service-process.js';

interface Attributes {
  integers?: Record<string, number>;
  lists?: Record<string, number[]>;
}

function node(
  op: string,
  inputs: string[],
  outputs: string[],
  { integers = {}, lists = {} }: Attributes = {},
): OnnxNode {
  return {
    op,
    inputs,
    outputs,
    integers: new Map(Object.entries(integers)),
    integerLists: new Map(Object.entries(lists)),
    texts: new Map(),
  };
}

/** One input of 3 channels; constants are weights of these sizes. */
function graphOf(nodes: OnnxNode[], weights: Record<string, number[]>): OnnxGraph {
  const constants = Object.entries(weights).map(
    ([name, dims]) => [name, { dims, values: null }] as const,
  );
  return { nodes, constants: new Map(constants), inputs: new Map([['images', [-1, 3, -1, -1]]]) };
}

describe('the work of a network', () => {
  it.skipIf(!hasTestdata)('is what is published for v8n: 8.7 GFLOP in 63 convolutions', () => {
    const graph = readOnnxGraph(join(SHARED_TESTDATA, 'models/yolov8n.onnx'));
    const work = networkWork(graph, 640, 640);
    expect(work.convolutions).toBe(63);
    expect(work.flops / 1e9).toBeCloseTo(8.7, 1);
    expect(work.activationBytes / 1e6).toBeCloseTo(76, 1);
    expect(work.weightBytes / 2e6).toBeCloseTo(3.15, 1);
  });

  it.each([
    ['n', 63, 8.7, 76.0, 3.2],
    ['s', 63, 28.6, 140.7, 11.2],
    ['m', 83, 78.9, 253.0, 25.9],
  ] as const)(
    'of the %s layout is the published one',
    (size, convolutions, gflop, mb, millions) => {
      const folder = mkdtempSync(join(tmpdir(), 'lattice-layout-'));
      const file = join(folder, 'layout.onnx');
      writeFileSync(file, v8Layout(size));
      const work = networkWork(readOnnxGraph(file), 640, 640);
      rmSync(folder, { recursive: true });
      expect(work.convolutions).toBe(convolutions);
      expect(work.flops / 1e9).toBeCloseTo(gflop, 1);
      expect(work.activationBytes / 1e6).toBeCloseTo(mb, 1);
      // The published count has biases and norms as well.
      expect(work.weightBytes / 2e6 / millions).toBeCloseTo(1, 1);
    },
  );

  it('is counted in the bundled model, whose weights are stored as halves', () => {
    const graph = readOnnxGraph(join(PROJECT_ROOT, 'models/vehicles-v8n.onnx'));
    const work = networkWork(graph, 640, 640);
    expect(work.convolutions).toBe(63);
    // 4 classes instead of 80 make the last layers of the head narrower.
    expect(work.flops / 1e9).toBeGreaterThan(7.5);
    expect(work.flops / 1e9).toBeLessThan(8.7);
    const half = networkWork(graph, 320, 320);
    expect(half.flops).toBe(work.flops / 4);
    expect(half.activationBytes).toBe(work.activationBytes / 4);
    expect(half.weightBytes).toBe(work.weightBytes);
  });

  it('of a convolution is each output times what it is made of', () => {
    const small = fc.integer({ min: 1, max: 8 });
    fc.assert(
      fc.property(small, small, fc.constantFrom(1, 3, 5), fc.constantFrom(1, 2), (...drawn) => {
        const [out, half, kernel, stride] = drawn;
        const size = 16 * half;
        const pad = (kernel - 1) / 2;
        const lists = { strides: [stride, stride], pads: [pad, pad, pad, pad] };
        const conv = node('Conv', ['images', 'w'], ['map'], { lists });
        const work = networkWork(graphOf([conv], { w: [out, 3, kernel, kernel] }), size, size);
        const outputs = out * (size / stride) ** 2;
        expect(work).toEqual({
          convolutions: 1,
          flops: 2 * outputs * 3 * kernel * kernel,
          activationBytes: 2 * (3 * size * size + outputs),
          weightBytes: 2 * out * 3 * kernel * kernel,
        });
      }),
    );
  });

  it('follows split, join, enlarging and residuals', () => {
    const point = (input: string, weights: string, output: string) =>
      node('Conv', [input, weights], [output]);
    const nodes = [
      point('images', 'w8', 'a'),
      node('Split', ['a'], ['left', 'right'], { integers: { axis: 1 } }),
      point('left', 'w4', 'b'),
      node('Add', ['b', 'right'], ['c']),
      node('Concat', ['left', 'c'], ['d'], { integers: { axis: 1 } }),
      node('MaxPool', ['d'], ['e'], { lists: { kernel_shape: [2, 2], strides: [2, 2] } }),
      node('Resize', ['e', '', 'scales'], ['f']),
      point('f', 'w8to1', 'g'),
    ];
    const graph = graphOf(nodes, { w8: [8, 3, 1, 1], w4: [4, 4, 1, 1], w8to1: [1, 8, 1, 1] });
    graph.constants.set('scales', { dims: [4], values: [1, 1, 2, 2] });
    const pixels = 16 * 16;
    expect(networkWork(graph, 16, 16)).toEqual({
      convolutions: 3,
      flops: 2 * pixels * (8 * 3 + 4 * 4 + 8),
      // In and out of each convolution; the residual; in and out of the pool, of the enlarging.
      activationBytes: 2 * pixels * (3 + 8 + (4 + 4) + 4 + (8 + 2) + (2 + 8) + (8 + 1)),
      weightBytes: 2 * (24 + 16 + 8),
    });
  });

  it('ends where an operator is not known', () => {
    const nodes = [
      node('Conv', ['images', 'w'], ['a']),
      node('Strange', ['a'], ['b']),
      node('Conv', ['b', 'w'], ['c']),
    ];
    expect(networkWork(graphOf(nodes, { w: [3, 3, 1, 1] }), 8, 8).convolutions).toBe(1);
  });
});

describe('an ONNX file', () => {
  it('that is none is refused', () => {
    const folder = mkdtempSync(join(tmpdir(), 'lattice-onnx-'));
    for (const text of ['', 'no model', '\x3a\x7f']) {
      writeFileSync(join(folder, 'x.onnx'), text);
      expect(() => readOnnxGraph(join(folder, 'x.onnx')), JSON.stringify(text)).toThrow();
    }
    rmSync(folder, { recursive: true });
  });
});
