/** Networks that give the same boxes for every picture, in the layouts that exporters have. */
import { floats, integers, onnxFile, type Network, type Node, type Tensor } from './onnx-file.js';

const SIDE = 640;
/** Cells of the three grids of the input, 80 x 80, 40 x 40 and 20 x 20. */
export const CELLS = 8_400;

export interface LayoutOptions {
  /** Class names in the file's metadata. */
  names: readonly string[] | string;
  /** Rows of `output0`, without the batch. */
  rows: number;
  columns: number;
  /** The number at this place. */
  at: (row: number, column: number) => number;
  /** The network keeps the rows with the highest number in this column, so many. */
  kept?: { rows: number; by: number };
  /** Side of the input in pixels; 640 when left out. */
  side?: number;
  metadata?: Readonly<Record<string, string>>;
}

/** `output0` is [1, rows, columns], or [1, kept, columns]. */
export function layoutNetwork(options: LayoutOptions): Network {
  const { names, rows, columns, at, kept, side = SIDE } = options;
  const table = Array.from({ length: rows * columns }, (_, index) =>
    at(Math.floor(index / columns), index % columns),
  );
  const picks = kept === undefined ? null : pickRows(kept.rows);
  const scores = Array.from({ length: rows }, (_, row) => at(row, kept?.by ?? 0));
  const nodes: Node[] = [
    // The picture changes nothing, but a network must read it.
    { op: 'ReduceMax', inputs: ['images'], outputs: ['brightest'], attributes: { keepdims: 0 } },
    { op: 'Mul', inputs: ['brightest', 'nothing'], outputs: ['zero'] },
    { op: 'Add', inputs: ['table', 'zero'], outputs: [picks === null ? 'output0' : 'all'] },
    ...(picks?.nodes ?? []),
  ];
  const tensors: Tensor[] = [
    floats('nothing', [], [0]),
    floats('table', [1, rows, columns], table),
    ...(picks === null ? [] : [floats('scores', [rows], scores), ...picks.tensors]),
  ];
  return {
    nodes,
    tensors,
    input: [1, 3, side, side],
    output: [1, kept?.rows ?? rows, columns],
    metadata: {
      task: 'detect',
      stride: '32',
      names: typeof names === 'string' ? names : JSON.stringify(names),
      ...options.metadata,
    },
  };
}

function pickRows(most: number): { nodes: Node[]; tensors: Tensor[] } {
  return {
    nodes: [
      { op: 'Add', inputs: ['scores', 'zero'], outputs: ['live'] },
      {
        op: 'TopK',
        inputs: ['live', 'most'],
        outputs: ['best', 'places'],
        attributes: { axis: 0 },
      },
      { op: 'Gather', inputs: ['all', 'places'], outputs: ['output0'], attributes: { axis: 1 } },
    ],
    tensors: [integers('most', [most])],
  };
}

export const layoutFile = (options: LayoutOptions): Buffer => onnxFile(layoutNetwork(options));

/** Place of an anchor or row: its box in pixels, as centre and size, and a score of which few are high. */
export function placeOf(row: number): { centre: [number, number]; size: number; score: number } {
  const centre: [number, number] = [40 + ((row * 37) % 560), 40 + ((row * 61) % 560)];
  return { centre, size: 20 + (row % 5) * 10, score: row % 100 === 0 ? 0.9 : 0.001 };
}

/** Column 0 to 3 of centre and size. */
export function centreAndSize(row: number, column: number): number {
  const { centre, size } = placeOf(row);
  return column < 2 ? (centre[column] ?? 0) : size;
}

/** Column 0 to 3 of the corners. */
export function corners(row: number, column: number): number {
  const { centre, size } = placeOf(row);
  return (centre[column % 2] ?? 0) + (column < 2 ? -size / 2 : size / 2);
}
