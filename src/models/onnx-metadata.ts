/** Reads the metadata of an ONNX file without loading the network: it skips over the weights. */
import { open } from 'node:fs/promises';
import type { FileHandle } from 'node:fs/promises';

/** Field numbers of `ModelProto` and `StringStringEntryProto`. */
const METADATA_PROPS = 14;
const KEY = 1;
const VALUE = 2;
/** More metadata than this is no metadata of an export. */
const MAX_ENTRY_BYTES = 1024 * 1024;
const MAX_FIELDS = 10_000;

/** Key -> value; empty for a file without metadata. Rejects when the file is no ONNX or cannot be read. */
export async function readOnnxMetadata(path: string): Promise<Record<string, string>> {
  const file = await open(path, 'r');
  try {
    return await scan(file, (await file.stat()).size);
  } finally {
    await file.close();
  }
}

async function scan(file: FileHandle, size: number): Promise<Record<string, string>> {
  const metadata: Record<string, string> = {};
  const head = Buffer.alloc(20);
  let position = 0;
  for (let fields = 0; position < size; fields++) {
    if (fields > MAX_FIELDS) throw new Error('too many fields');
    const { bytesRead } = await file.read(head, 0, head.length, position);
    const reader = new WireReader(head.subarray(0, bytesRead));
    const { number, type } = reader.tag();
    const length = reader.skipLength(type);
    const body = position + reader.offset;
    if (body + length > size) throw new Error('truncated');
    if (number === METADATA_PROPS && type === 2 && length <= MAX_ENTRY_BYTES) {
      const entry = Buffer.alloc(length);
      await file.read(entry, 0, length, body);
      const [key, value] = readEntry(entry);
      metadata[key] = value;
    }
    position = body + length;
  }
  return metadata;
}

function readEntry(bytes: Buffer): [key: string, value: string] {
  const reader = new WireReader(bytes);
  let key = '';
  let value = '';
  while (reader.offset < bytes.length) {
    const { number, type } = reader.tag();
    const length = reader.skipLength(type);
    const text = bytes.toString('utf8', reader.offset, reader.offset + length);
    if (number === KEY) key = text;
    if (number === VALUE) value = text;
    reader.offset += length;
  }
  return [key, value];
}

/** The few pieces of the protobuf wire format that an ONNX file uses at its top level. */
class WireReader {
  offset = 0;
  readonly #bytes: Buffer;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  tag(): { number: number; type: number } {
    const tag = this.#varint();
    return { number: Math.floor(tag / 8), type: tag % 8 };
  }

  /** Bytes of the field's body that follow `offset`; a varint body is consumed and counts 0. */
  skipLength(type: number): number {
    switch (type) {
      case 0:
        this.#varint();
        return 0;
      case 1:
        return 8;
      case 2:
        return this.#varint();
      case 5:
        return 4;
      default:
        throw new Error('not an ONNX file');
    }
  }

  #varint(): number {
    let value = 0;
    for (let shift = 0; shift < 70; shift += 7) {
      const byte = this.#bytes[this.offset++];
      if (byte === undefined) throw new Error('truncated');
      // Multiplication, not a shift: files over 2 GiB need more than 32 bits.
      value += (byte & 0x7f) * 2 ** shift;
      if (byte < 0x80) return value;
    }
    throw new Error('not an ONNX file');
  }
}

/** `{0: 'person', 1: "driver's seat"}`, a Python dict literal, as an array by class id. Empty when it is none. */
export function parseClassNames(text: string): string[] {
  const names: string[] = [];
  // Ids start where digits do and are short: a text of digits alone must not be tried from each of them.
  for (const [, id, , single, double] of text.matchAll(
    /(?<!\d)(\d{1,9})\s*:\s*('((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")/g,
  )) {
    names[Number(id)] = unescaped(single ?? double ?? '');
  }
  return names.length <= 100_000 ? Array.from(names, (name, id) => name || `class ${id}`) : [];
}

const CONTROL: Record<string, string> = { n: '\n', r: '\r', t: '\t' };
const REPLACEMENT = 0xfffd;

/** As native/onnx/python_literal.cc, which names the classes of loaded models, reads escapes. */
function unescaped(text: string): string {
  return text.replace(
    /\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|(.))/g,
    (whole: string, byte?: string, unit?: string, point?: string, other?: string) => {
      const digits = byte ?? unit ?? point;
      if (digits !== undefined) return character(parseInt(digits, 16));
      return other === undefined ? whole : (CONTROL[other] ?? other);
    },
  );
}

function character(code: number): string {
  const none = (code >= 0xd800 && code < 0xe000) || code > 0x10ffff;
  return String.fromCodePoint(none ? REPLACEMENT : code);
}
