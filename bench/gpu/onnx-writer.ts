/** Writes an ONNX file piece by piece. */
import { field, number } from '../../test/support/onnx-file.js';

export interface Attribute {
  name: string;
  value: number | number[];
}

/** Field numbers of onnx.proto. */
const FLOAT = 1;
const INT64 = 7;
const FLOAT16 = 10;
const TYPE_INT = 2;
const TYPE_INTS = 7;

export class OnnxWriter {
  readonly #nodes: Buffer[] = [];
  readonly #initializers: Buffer[] = [];
  #names = 0;

  /** The name of the node's first output; the others are NAME.1, NAME.2 ... */
  node(op: string, inputs: string[], attributes: Attribute[] = [], outputs = 1): string {
    const name = `${op}${(this.#names += 1)}`;
    const made = Array.from({ length: outputs }, (_, at) => (at === 0 ? name : `${name}.${at}`));
    this.#nodes.push(
      Buffer.concat([
        ...inputs.map((input) => field(1, input)),
        ...made.map((output) => field(2, output)),
        field(4, op),
        ...attributes.map((attribute) => field(5, attributeBytes(attribute))),
      ]),
    );
    return name;
  }

  floats(values: readonly number[], dims: readonly number[]): string {
    return this.#tensor(FLOAT, dims, Buffer.from(Float32Array.from(values).buffer));
  }

  integers(values: readonly number[]): string {
    const raw = Buffer.from(BigInt64Array.from(values, BigInt).buffer);
    return this.#tensor(INT64, [values.length], raw);
  }

  /** FP16 bits; networks here compute in FP32 until they are converted, so a Cast follows. */
  halves(bits: Uint16Array, dims: readonly number[]): string {
    const raw = Buffer.from(bits.buffer, bits.byteOffset, bits.byteLength);
    return this.node('Cast', [this.#tensor(FLOAT16, dims, raw)], [{ name: 'to', value: FLOAT }]);
  }

  /** FP32 input and output of these names; -1 leaves a size open. */
  file(
    input: { name: string; dims: number[] },
    output: { name: string; from: string; dims: number[] },
    metadata: Record<string, string>,
  ): Buffer {
    const last = Buffer.concat([
      field(1, output.from),
      field(2, output.name),
      field(4, 'Identity'),
    ]);
    const graph = Buffer.concat([
      ...[...this.#nodes, last].map((node) => field(1, node)),
      field(2, 'layout'),
      ...this.#initializers.map((tensor) => field(5, tensor)),
      field(11, port(input)),
      field(12, port(output)),
    ]);
    return Buffer.concat([
      number(1, 8),
      field(7, graph),
      field(8, number(2, 17)),
      ...Object.entries(metadata).map(([key, value]) =>
        field(14, Buffer.concat([field(1, key), field(2, value)])),
      ),
    ]);
  }

  #tensor(type: number, dims: readonly number[], raw: Buffer): string {
    const name = `constant${(this.#names += 1)}`;
    this.#initializers.push(
      Buffer.concat([
        ...dims.map((size) => number(1, size)),
        number(2, type),
        field(8, name),
        field(9, raw),
      ]),
    );
    return name;
  }
}

function attributeBytes({ name, value }: Attribute): Buffer {
  return Array.isArray(value)
    ? Buffer.concat([
        field(1, name),
        ...value.map((each) => number(8, each)),
        number(20, TYPE_INTS),
      ])
    : Buffer.concat([field(1, name), number(3, value), number(20, TYPE_INT)]);
}

function port({ name, dims }: { name: string; dims: readonly number[] }): Buffer {
  const sizes = dims.map((size) => field(1, size < 0 ? field(2, 'open') : number(1, size)));
  const tensor = Buffer.concat([number(1, FLOAT), field(2, Buffer.concat(sizes))]);
  return Buffer.concat([field(1, name), field(2, field(1, tensor))]);
}
