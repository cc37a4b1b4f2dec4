/**
 * A network that ends as the exports of RT-DETR do, with two outputs: boxes and scores are the same for every picture.
 */
import { floats, integers, onnxFile, type Node } from './onnx-file.js';

export interface DetrBox {
  /** Centre and size, as shares of the picture. */
  place: readonly [number, number, number, number];
  /** By class, each above 0 and below 1. */
  scores: readonly number[];
}

export interface DetrOptions {
  names?: readonly string[];
  boxes: readonly DetrBox[];
  /** Sides of the first convolution. */
  kernel?: number;
}

const SIDE = 64;
const logit = (share: number) => Math.log(share / (1 - share));

/** Input 64 x 64. */
export function detrFile({ names = ['car', 'bus'], boxes, kernel = 3 }: DetrOptions): Buffer {
  const classes = boxes[0]?.scores.length ?? 0;
  const pad = Math.floor(kernel / 2);
  const nodes: Node[] = [
    {
      op: 'Conv',
      inputs: ['images', 'first'],
      outputs: ['cells'],
      attributes: { strides: [2, 2], pads: [pad, pad, pad, pad] },
    },
    // The picture changes nothing, but a network must read it.
    {
      op: 'ReduceMean',
      inputs: ['cells'],
      outputs: ['mean'],
      attributes: { axes: [1, 2, 3], keepdims: 1 },
    },
    { op: 'Reshape', inputs: ['mean', 'flat'], outputs: ['one'] },
    { op: 'Add', inputs: ['table', 'one'], outputs: ['queries'] },
    { op: 'MatMul', inputs: ['queries', 'class'], outputs: ['logits'] },
    { op: 'MatMul', inputs: ['queries', 'place'], outputs: ['places'] },
    { op: 'Sigmoid', inputs: ['places'], outputs: ['pred_boxes'] },
  ];
  const table = boxes.flatMap(({ place, scores }) => [...scores, ...place].map(logit));
  const columns = classes + 4;
  const taking = (from: number, count: number) =>
    Array.from({ length: columns * count }, (_, index) =>
      Math.floor(index / count) === from + (index % count) ? 1 : 0,
    );
  return onnxFile({
    nodes,
    tensors: [
      floats('first', [1, 3, kernel, kernel], Array<number>(3 * kernel * kernel).fill(0)),
      integers('flat', [1, 1, 1]),
      floats('table', [1, boxes.length, columns], table),
      floats('class', [columns, classes], taking(0, classes)),
      floats('place', [columns, 4], taking(classes, 4)),
    ],
    input: [1, 3, SIDE, SIDE],
    output: { logits: [1, boxes.length, classes], pred_boxes: [1, boxes.length, 4] },
    metadata: { names: JSON.stringify(names) },
  });
}
