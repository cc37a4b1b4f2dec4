/** The graph of an ONNX file as far as its work can be counted from it: operators, shapes, small constants. */
import { readFileSync } from 'node:fs';

export interface OnnxNode {
  op: string;
  inputs: string[];
  outputs: string[];
  integers: Map<string, number>;
  integerLists: Map<string, number[]>;
  texts: Map<string, string>;
}

export interface OnnxTensor {
  dims: number[];
  /** Of a small integer or FP32 tensor; null for any other. */
  values: number[] | null;
}

export interface OnnxGraph {
  nodes: OnnxNode[];
  /** Initializers and what Constant nodes hold. */
  constants: Map<string, OnnxTensor>;
  /** Sizes of the graph's inputs, -1 where the file leaves one open. */
  inputs: Map<string, number[]>;
}

/** Field numbers of onnx.proto. */
const MODEL_GRAPH = 7;
const GRAPH = { node: 1, initializer: 5, input: 11 };
const NODE = { input: 1, output: 2, op: 4, attribute: 5 };
const ATTRIBUTE = { name: 1, integer: 3, text: 4, tensor: 5, integers: 8 };
const TENSOR = { dims: 1, type: 2, floats: 4, integers: 7, name: 8, raw: 9 };
const VALUE = { name: 1, type: 2 };
const FLOAT = 1;
const INT64 = 7;
/** Shapes and scales are shorter; weights are not read. */
const MOST_VALUES = 64;

interface Field {
  number: number;
  /** Of a varint or fixed field; 0 for a delimited one. */
  value: number;
  bytes: Buffer;
}

/** Throws where the bytes are no ONNX file. */
export function readOnnxGraph(file: string): OnnxGraph {
  const graph: OnnxGraph = { nodes: [], constants: new Map(), inputs: new Map() };
  const found = [...fields(readFileSync(file))].find(({ number }) => number === MODEL_GRAPH);
  if (found === undefined) throw new Error(`${file} holds no graph.`);
  for (const { number, bytes } of fields(found.bytes)) {
    if (number === GRAPH.node) addNode(graph, bytes);
    if (number === GRAPH.initializer) {
      const { name, tensor } = readTensor(bytes);
      graph.constants.set(name, tensor);
    }
    if (number === GRAPH.input) addInput(graph, bytes);
  }
  return graph;
}

function* fields(bytes: Buffer): Generator<Field> {
  let offset = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; shift < 70n; shift += 7n) {
      const byte = bytes[offset++];
      if (byte === undefined) throw new Error('This is no complete ONNX file.');
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return Number(BigInt.asIntN(64, value));
    }
    throw new Error('This is no ONNX file.');
  };
  const take = (length: number) => {
    if (offset + length > bytes.length) throw new Error('This is no complete ONNX file.');
    offset += length;
    return bytes.subarray(offset - length, offset);
  };
  while (offset < bytes.length) {
    const tag = varint();
    const number = Math.floor(tag / 8);
    const none = bytes.subarray(0, 0);
    if (tag % 8 === 0) yield { number, value: varint(), bytes: none };
    else if (tag % 8 === 1) yield { number, value: take(8).readDoubleLE(), bytes: none };
    else if (tag % 8 === 2) yield { number, value: 0, bytes: take(varint()) };
    else if (tag % 8 === 5) yield { number, value: take(4).readFloatLE(), bytes: none };
    else throw new Error('This is no ONNX file.');
  }
}

/** Numbers of a repeated integer field, packed or one by one. */
function integers(field: Field): number[] {
  if (field.bytes.length === 0) return [field.value];
  // A packed list is varints without tags: each is read as the tag of a field would be.
  const values: number[] = [];
  let value = 0n;
  let shift = 0n;
  for (const byte of field.bytes) {
    value |= BigInt(byte & 0x7f) << shift;
    shift += 7n;
    if (byte < 0x80) {
      values.push(Number(BigInt.asIntN(64, value)));
      value = 0n;
      shift = 0n;
    }
  }
  return values;
}

function addNode(graph: OnnxGraph, bytes: Buffer): void {
  const node: OnnxNode = {
    op: '',
    inputs: [],
    outputs: [],
    integers: new Map(),
    integerLists: new Map(),
    texts: new Map(),
  };
  for (const { number, bytes: body } of fields(bytes)) {
    if (number === NODE.input) node.inputs.push(body.toString());
    if (number === NODE.output) node.outputs.push(body.toString());
    if (number === NODE.op) node.op = body.toString();
    if (number === NODE.attribute) addAttribute(graph, node, body);
  }
  graph.nodes.push(node);
}

function addAttribute(graph: OnnxGraph, node: OnnxNode, bytes: Buffer): void {
  const all = [...fields(bytes)];
  const name = all.find(({ number }) => number === ATTRIBUTE.name)?.bytes.toString() ?? '';
  for (const field of all) {
    if (field.number === ATTRIBUTE.integer) node.integers.set(name, field.value);
    if (field.number === ATTRIBUTE.text) node.texts.set(name, field.bytes.toString());
    if (field.number === ATTRIBUTE.integers) {
      node.integerLists.set(name, [...(node.integerLists.get(name) ?? []), ...integers(field)]);
    }
    if (field.number === ATTRIBUTE.tensor && node.op === 'Constant') {
      graph.constants.set(node.outputs[0] ?? '', readTensor(field.bytes).tensor);
    }
  }
}

function addInput(graph: OnnxGraph, bytes: Buffer): void {
  const all = [...fields(bytes)];
  const name = all.find(({ number }) => number === VALUE.name)?.bytes.toString() ?? '';
  const type = all.find(({ number }) => number === VALUE.type)?.bytes ?? Buffer.alloc(0);
  // TypeProto.tensor_type = 1, its shape = 2, a dimension = 1, its size = 1.
  const shape = inner(inner(type, 1), 2);
  const dims = [...fields(shape)].map(
    ({ bytes: dimension }) =>
      [...fields(dimension)].find(({ number }) => number === 1)?.value ?? -1,
  );
  graph.inputs.set(name, dims);
}

function inner(bytes: Buffer, wanted: number): Buffer {
  return [...fields(bytes)].find(({ number }) => number === wanted)?.bytes ?? Buffer.alloc(0);
}

function readTensor(bytes: Buffer): { name: string; tensor: OnnxTensor } {
  const dims: number[] = [];
  const listed: number[] = [];
  let [name, type, raw] = ['', 0, Buffer.alloc(0)];
  for (const field of fields(bytes)) {
    if (field.number === TENSOR.dims) dims.push(...integers(field));
    if (field.number === TENSOR.type) type = field.value;
    if (field.number === TENSOR.name) name = field.bytes.toString();
    if (field.number === TENSOR.raw) raw = field.bytes as Buffer<ArrayBuffer>;
    if (field.number === TENSOR.integers) listed.push(...integers(field));
  }
  const count = dims.reduce((product, size) => product * size, 1);
  if (count > MOST_VALUES || (type !== FLOAT && type !== INT64)) {
    return { name, tensor: { dims, values: null } };
  }
  const width = type === FLOAT ? 4 : 8;
  const values =
    raw.length === count * width
      ? Array.from({ length: count }, (_, at) =>
          type === FLOAT ? raw.readFloatLE(at * width) : Number(raw.readBigInt64LE(at * width)),
        )
      : listed;
  return { name, tensor: { dims, values: values.length === count ? values : null } };
}
