/** Adds to the metadata of an ONNX file. */
import { appendFile } from 'node:fs/promises';

/** `ModelProto.metadata_props`, a `StringStringEntryProto` of the ONNX format. */
const METADATA_PROPS = 14;

/** A protobuf message: a field at its end adds to the list of that field, and the last entry of a key counts. */
export async function appendMetadata(path: string, key: string, value: string): Promise<void> {
  const entry = Buffer.concat([delimited(1, Buffer.from(key)), delimited(2, Buffer.from(value))]);
  await appendFile(path, delimited(METADATA_PROPS, entry));
}

/** A protobuf field of bytes: tag, length, content. */
function delimited(field: number, content: Buffer): Buffer {
  const BYTES = 2;
  return Buffer.concat([varint((field << 3) | BYTES), varint(content.length), content]);
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest > 0x7f; rest = Math.floor(rest / 0x80)) bytes.push((rest & 0x7f) | 0x80);
  return Buffer.from([...bytes, rest]);
}
