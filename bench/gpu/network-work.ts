/** Operations and bytes of a network per image, counted from its graph. */
import type { OnnxGraph, OnnxNode } from './onnx-graph.js';

export interface NetworkWork {
  /** Counted ones. One after the head's reshaping (the box decode's, a 10,000th of the work) is not. */
  convolutions: number;
  /** Multiplications and additions of an image, each counted as one. */
  flops: number;
  /**
   * Feature maps in FP16 that cannot stay in the arithmetic units: each convolution reads its input and writes its
   * output once, so do pooling and enlarging; a residual is read once more. Activations and concatenation cost nothing.
   */
  activationBytes: number;
  /** In FP16; moved once for each batch. */
  weightBytes: number;
}

/** Channels, height, width. */
type Shape = readonly [number, number, number];

const HALF = 2;
const SAME_SHAPE = new Set([
  'Sigmoid',
  'Relu',
  'LeakyRelu',
  'Clip',
  'HardSwish',
  'Cast',
  'Identity',
]);
const PAIRWISE = new Set(['Add', 'Mul', 'Sub', 'Div']);
const POOLS = new Set(['MaxPool', 'AveragePool']);

/** Of an image of `width` x `height`. Nodes behind an unknown operator are not counted. */
export function networkWork(
  { nodes, inputs, constants: kept }: OnnxGraph,
  width: number,
  height: number,
): NetworkWork {
  const graph = { nodes, inputs, constants: new Map(kept) };
  const work: NetworkWork = { convolutions: 0, flops: 0, activationBytes: 0, weightBytes: 0 };
  const shapes = new Map<string, Shape>();
  for (const [name, [, channels = -1]] of graph.inputs) {
    if (!graph.constants.has(name)) shapes.set(name, [channels, height, width]);
  }
  for (const node of graph.nodes) {
    // Weights kept in half precision are cast first.
    const stored = node.op === 'Cast' ? graph.constants.get(node.inputs[0] ?? '') : undefined;
    if (stored !== undefined) graph.constants.set(node.outputs[0] ?? '', stored);
    const outputs = outputShapes(graph, node, shapes);
    for (const [at, shape] of outputs.entries()) {
      const name = node.outputs[at];
      if (name !== undefined) shapes.set(name, shape);
    }
    if (outputs.length > 0) count(graph, node, shapes, outputs[0]!, work);
  }
  return work;
}

const sizeOf = ([channels, height, width]: Shape) => channels * height * width;

function count(
  graph: OnnxGraph,
  node: OnnxNode,
  shapes: ReadonlyMap<string, Shape>,
  output: Shape,
  work: NetworkWork,
): void {
  const input = shapes.get(node.inputs[0] ?? '');
  if (node.op === 'Conv' && input !== undefined) {
    const weights = graph.constants.get(node.inputs[1]!)!.dims;
    const [, perGroup = 0, kernelHeight = 0, kernelWidth = 0] = weights;
    work.convolutions += 1;
    work.flops += 2 * sizeOf(output) * perGroup * kernelHeight * kernelWidth;
    work.weightBytes += HALF * weights.reduce((product, size) => product * size, 1);
    work.activationBytes += HALF * (sizeOf(input) + sizeOf(output));
  } else if ((POOLS.has(node.op) || node.op === 'Resize') && input !== undefined) {
    work.activationBytes += HALF * (sizeOf(input) + sizeOf(output));
  } else if (node.op === 'Add' && node.inputs.every((name) => shapes.has(name))) {
    work.activationBytes += HALF * sizeOf(output);
  }
}

/** Empty where they are not known. */
function outputShapes(
  graph: OnnxGraph,
  node: OnnxNode,
  shapes: ReadonlyMap<string, Shape>,
): Shape[] {
  const input = shapes.get(node.inputs[0] ?? '');
  if (PAIRWISE.has(node.op)) {
    const maps = node.inputs.filter((name) => !graph.constants.has(name));
    const first = shapes.get(maps[0] ?? '');
    return first !== undefined && maps.every((name) => shapes.has(name)) ? [first] : [];
  }
  if (node.op === 'Concat') {
    const parts = node.inputs.map((name) => shapes.get(name));
    if (node.integers.get('axis') !== 1 || parts.includes(undefined)) return [];
    const [first] = parts as Shape[];
    return [[(parts as Shape[]).reduce((sum, part) => sum + part[0], 0), first![1], first![2]]];
  }
  if (input === undefined) return [];
  if (SAME_SHAPE.has(node.op)) return [input];
  if (node.op === 'Conv') return convolved(graph, node, input);
  if (POOLS.has(node.op)) return [slid(node, input, node.integerLists.get('kernel_shape') ?? [])];
  if (node.op === 'Split') return split(graph, node, input);
  if (node.op === 'Resize') {
    const [, , high, wide] = graph.constants.get(node.inputs[2] ?? '')?.values ?? [];
    if (high === undefined || wide === undefined) return [];
    return [[input[0], Math.floor(input[1] * high), Math.floor(input[2] * wide)]];
  }
  return [];
}

function convolved(graph: OnnxGraph, node: OnnxNode, input: Shape): Shape[] {
  const weights = graph.constants.get(node.inputs[1] ?? '')?.dims;
  if (weights?.length !== 4) return [];
  const [, height, width] = slid(node, input, weights.slice(2));
  return [[weights[0]!, height, width]];
}

/** What a window of `kernel` that slides over the map gives. */
function slid(node: OnnxNode, [channels, height, width]: Shape, kernel: readonly number[]): Shape {
  const strides = node.integerLists.get('strides') ?? [1, 1];
  const dilations = node.integerLists.get('dilations') ?? [1, 1];
  const pads = node.integerLists.get('pads') ?? [0, 0, 0, 0];
  const same = node.texts.get('auto_pad')?.startsWith('SAME') ?? false;
  const along = (at: 0 | 1, size: number) => {
    const stride = strides[at] ?? 1;
    if (same) return Math.ceil(size / stride);
    const reach = (dilations[at] ?? 1) * ((kernel[at] ?? 1) - 1) + 1;
    const room = size + (pads[at] ?? 0) + (pads[at + 2] ?? 0) - reach;
    const steps = room / stride;
    return (node.integers.get('ceil_mode') === 1 ? Math.ceil(steps) : Math.floor(steps)) + 1;
  };
  return [channels, along(0, height), along(1, width)];
}

function split(graph: OnnxGraph, node: OnnxNode, [channels, height, width]: Shape): Shape[] {
  if (node.integers.get('axis') !== 1) return [];
  const sizes =
    graph.constants.get(node.inputs[1] ?? '')?.values ??
    node.integerLists.get('split') ??
    node.outputs.map(() => channels / node.outputs.length);
  return sizes.map((size) => [size, height, width]);
}
