/**
 * A result as it travels from a worker: binary, little endian, complete in itself.
 *
 *   0  u8   kind, 1
 *   1  u8   1 when more boxes were found than kept
 *   2  u16  boxes n
 *   4  u16  bytes of the class names
 *   6  u16  class names
 *   8  f64  lease
 *  16  u32  width, height of the oriented image in pixels
 *  24  f32  milliseconds of each of STAGES, then each of FIGURES
 *           class names in UTF-8, a zero byte after each, then zeros up to a multiple of 4
 *       f32 n x (x1, y1, x2, y2, confidence, index of the class name)
 */
import {
  FIGURES,
  STAGES,
  type Detection,
  type ProcessedImage,
  type Timings,
} from '../../contract/image-result.js';
import { detectionsFrom } from '../../models/raw-detections.js';

const KIND = 1;
const TIMES_AT = 24;
const HEAD = TIMES_AT + 4 * (STAGES.length + FIGURES.length);
const ROW = 6;

export interface ResultFrame {
  lease: number;
  result: ProcessedImage;
}

export function encodeResult(lease: number, result: ProcessedImage): Buffer {
  const names = [...new Set(result.detections.map((detection) => detection.class))];
  const text = Buffer.from(names.map((name) => `${name}\0`).join(''), 'utf8');
  const padded = Math.ceil(text.length / 4) * 4;
  const frame = Buffer.alloc(HEAD + padded + result.detections.length * ROW * 4);
  frame.writeUInt8(KIND, 0);
  frame.writeUInt8(result.truncated ? 1 : 0, 1);
  frame.writeUInt16LE(result.detections.length, 2);
  frame.writeUInt16LE(text.length, 4);
  frame.writeUInt16LE(names.length, 6);
  frame.writeDoubleLE(lease, 8);
  frame.writeUInt32LE(result.image.width, 16);
  frame.writeUInt32LE(result.image.height, 20);
  const times = [
    ...STAGES.map((stage) => result.timingsMs[stage]),
    ...FIGURES.map((figure) => result[figure]),
  ];
  times.forEach((time, index) => frame.writeFloatLE(time, TIMES_AT + 4 * index));
  text.copy(frame, HEAD);
  result.detections.forEach((detection, index) => {
    writeRow(frame, HEAD + padded + index * ROW * 4, detection, names);
  });
  return frame;
}

function writeRow(frame: Buffer, at: number, detection: Detection, names: string[]): void {
  const row = [...detection.box, detection.confidence, names.indexOf(detection.class)];
  row.forEach((value, index) => frame.writeFloatLE(value, at + 4 * index));
}

/** Null for bytes that are no result, cut off ones for example. */
export function decodeResult(frame: Buffer): ResultFrame | null {
  if (frame.length < HEAD || frame.readUInt8(0) !== KIND) return null;
  const boxes = frame.readUInt16LE(2);
  const textBytes = frame.readUInt16LE(4);
  const rowsAt = HEAD + Math.ceil(textBytes / 4) * 4;
  if (frame.length !== rowsAt + boxes * ROW * 4) return null;
  const names = frame
    .toString('utf8', HEAD, HEAD + textBytes)
    .split('\0')
    .slice(0, -1);
  if (names.length !== frame.readUInt16LE(6)) return null;
  const rows = Float32Array.from({ length: boxes * ROW }, (_, index) =>
    frame.readFloatLE(rowsAt + 4 * index),
  );
  const time = (index: number) => frame.readFloatLE(TIMES_AT + 4 * index);
  const figures = Object.fromEntries(
    FIGURES.map((figure, index) => [figure, time(STAGES.length + index)]),
  ) as Pick<ProcessedImage, (typeof FIGURES)[number]>;
  return {
    lease: frame.readDoubleLE(8),
    result: {
      detections: detectionsFrom(rows, names),
      ...figures,
      image: { width: frame.readUInt32LE(16), height: frame.readUInt32LE(20) },
      timingsMs: Object.fromEntries(STAGES.map((stage, index) => [stage, time(index)])) as Timings,
      truncated: frame.readUInt8(1) === 1,
    },
  };
}
