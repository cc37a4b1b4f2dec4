/** A model file as other exporters write them: without metadata. */
import { readFileSync, writeFileSync } from 'node:fs';

const METADATA_PROPS = 14;

/** Writes the ONNX file `from` without its metadata to `to`. */
export function writeBareModel(from: string, to: string): void {
  const bytes = readFileSync(from);
  const kept: Buffer[] = [];
  let at = 0;
  const varint = () => {
    let value = 0;
    for (let factor = 1; ; factor *= 128) {
      const byte = bytes.readUInt8(at++);
      value += (byte & 0x7f) * factor;
      if (byte < 0x80) return value;
    }
  };
  while (at < bytes.length) {
    const start = at;
    const tag = varint();
    // Top-level fields of a model are numbers or delimited.
    const length = varint();
    if ((tag & 7) === 2) at += length;
    if (tag >> 3 !== METADATA_PROPS) kept.push(bytes.subarray(start, at));
  }
  writeFileSync(to, Buffer.concat(kept));
}
