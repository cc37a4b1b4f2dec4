/** Writes an ONNX file piece by piece. */

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
        ...inputs.map((input) => text(1, input)),
        ...made.map((output) => text(2, output)),
        text(4, op),
        ...attributes.map((attribute) => bytes(5, attributeBytes(attribute))),
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
    const last = Buffer.concat([text(1, output.from), text(2, output.name), text(4, 'Identity')]);
    const graph = Buffer.concat([
      ...[...this.#nodes, last].map((node) => bytes(1, node)),
      text(2, 'layout'),
      ...this.#initializers.map((tensor) => bytes(5, tensor)),
      bytes(11, port(input)),
      bytes(12, port(output)),
    ]);
    return Buffer.concat([
      number(1, 8),
      bytes(7, graph),
      bytes(8, number(2, 17)),
      ...Object.entries(metadata).map(([key, value]) =>
        bytes(14, Buffer.concat([text(1, key), text(2, value)])),
      ),
    ]);
  }

  #tensor(type: number, dims: readonly number[], raw: Buffer): string {
    const name = `constant${(this.#names += 1)}`;
    this.#initializers.push(
      Buffer.concat([
        ...dims.map((size) => number(1, size)),
        number(2, type),
        text(8, name),
        bytes(9, raw),
      ]),
    );
    return name;
  }
}

function attributeBytes({ name, value }: Attribute): Buffer {
  return Array.isArray(value)
    ? Buffer.concat([text(1, name), ...value.map((each) => number(8, each)), number(20, TYPE_INTS)])
    : Buffer.concat([text(1, name), number(3, value), number(20, TYPE_INT)]);
}

function port({ name, dims }: { name: string; dims: readonly number[] }): Buffer {
  const sizes = dims.map((size) => bytes(1, size < 0 ? text(2, 'open') : number(1, size)));
  const tensor = Buffer.concat([number(1, FLOAT), bytes(2, Buffer.concat(sizes))]);
  return Buffer.concat([text(1, name), bytes(2, bytes(1, tensor))]);
}

/** Negative ones as 64 bits, as protobuf has them. */
function varint(value: number): Buffer {
  const out: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest >= 0x80n; rest >>= 7n) out.push(Number(rest & 0x7fn) | 0x80);
  out.push(Number(rest));
  return Buffer.from(out);
}

const number = (field: number, value: number) => Buffer.concat([varint(field * 8), varint(value)]);
const bytes = (field: number, body: Buffer) =>
  Buffer.concat([varint(field * 8 + 2), varint(body.length), body]);
const text = (field: number, value: string) => bytes(field, Buffer.from(value));
