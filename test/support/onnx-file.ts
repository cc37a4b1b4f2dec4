/** Writes small ONNX files, node by node: networks whose outputs are known, in the layouts of any exporter. */

const FLOAT = 1;
const INT64 = 7;
const OPSET = 17;

export interface Tensor {
  name: string;
  dims: readonly number[];
  values: Float32Array | BigInt64Array;
  /** Where its numbers lie beside the model. */
  beside?: { location: string; offset: number };
}

export interface Node {
  op: string;
  inputs: readonly string[];
  outputs: readonly string[];
  /** Whole numbers, or lists of these. */
  attributes?: Readonly<Record<string, number | readonly number[]>>;
}

/** Sides by name. */
export type Ports = Readonly<Record<string, readonly number[]>>;

export interface Network {
  nodes: readonly Node[];
  tensors: readonly Tensor[];
  /** Sides of `images`. */
  input: readonly number[];
  /** Sides of `output0`, or of all outputs. */
  output: readonly number[] | Ports;
  metadata?: Readonly<Record<string, string>>;
}

export function onnxFile({ nodes, tensors, input, output, metadata = {} }: Network): Buffer {
  const graph = Buffer.concat([
    ...nodes.map((node) => field(1, nodeMessage(node))),
    field(2, 'g'),
    ...tensors.map((tensor) => field(5, tensorMessage(tensor))),
    field(11, port('images', input)),
    ...outputsOf(output).map(([name, dims]) => field(12, port(name, dims))),
  ]);
  return Buffer.concat([
    number(1, 8),
    field(7, graph),
    field(8, Buffer.concat([field(1, ''), number(2, OPSET)])),
    ...Object.entries(metadata).map(([key, value]) => field(14, entry(key, value))),
  ]);
}

const outputsOf = (output: Network['output']) =>
  Object.entries(
    Array.isArray(output) ? { output0: output as readonly number[] } : (output as Ports),
  );

export const floats = (
  name: string,
  dims: readonly number[],
  values: Iterable<number>,
): Tensor => ({
  name,
  dims,
  values: Float32Array.from(values),
});

export const integers = (name: string, values: readonly number[]): Tensor => ({
  name,
  dims: [values.length],
  values: BigInt64Array.from(values, BigInt),
});

export function bytesOf({ values }: Tensor): Buffer {
  return Buffer.from(values.buffer, values.byteOffset, values.byteLength);
}

function tensorMessage(tensor: Tensor): Buffer {
  const { name, dims, values, beside } = tensor;
  const numbers =
    beside === undefined
      ? [field(9, bytesOf(tensor))]
      : [
          field(13, entry('location', beside.location)),
          field(13, entry('offset', String(beside.offset))),
          field(13, entry('length', String(values.byteLength))),
          number(14, 1),
        ];
  const type = values instanceof Float32Array ? FLOAT : INT64;
  return Buffer.concat([
    ...dims.map((dim) => number(1, dim)),
    number(2, type),
    field(8, name),
    ...numbers,
  ]);
}

function nodeMessage({ op, inputs, outputs, attributes = {} }: Node): Buffer {
  return Buffer.concat([
    ...inputs.map((name) => field(1, name)),
    ...outputs.map((name) => field(2, name)),
    field(4, op),
    ...Object.entries(attributes).map(([name, value]) => field(5, attribute(name, value))),
  ]);
}

function attribute(name: string, value: number | readonly number[]): Buffer {
  const content =
    typeof value === 'number'
      ? [number(3, value), number(20, 2)]
      : [...value.map((each) => number(8, each)), number(20, 7)];
  return Buffer.concat([field(1, name), ...content]);
}

function port(name: string, dims: readonly number[]): Buffer {
  const shape = Buffer.concat(dims.map((dim) => field(1, number(1, dim))));
  const tensor = Buffer.concat([number(1, FLOAT), field(2, shape)]);
  return Buffer.concat([field(1, name), field(2, field(1, tensor))]);
}

const entry = (key: string, value: string) => Buffer.concat([field(1, key), field(2, value)]);

export function field(id: number, content: Buffer | string): Buffer {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  return Buffer.concat([varint(id * 8 + 2), varint(bytes.length), bytes]);
}

export const number = (id: number, value: number) => Buffer.concat([varint(id * 8), varint(value)]);

/** Negative ones as 64 bits, as protobuf has them. */
function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  return Buffer.from([...bytes, Number(rest)]);
}
