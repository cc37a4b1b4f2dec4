/** Pictures that tell versions apart: each has a size of its own, which its result shows. */
import { crc32, deflateSync } from 'node:zlib';

const LEAST = 64;
const SIZES = 160;
/** So many have a size of their own. */
export const MOST_PICTURES = SIZES * SIZES;

/** Width and height of the picture of this number. */
export function sizeOf(number: number): { width: number; height: number } {
  return { width: LEAST + (number % SIZES), height: LEAST + Math.floor(number / SIZES) };
}

export function numberOf({ width, height }: { width: number; height: number }): number {
  return width - LEAST + SIZES * (height - LEAST);
}

/** As PNG. A part of it cannot be decoded. */
export function picture(number: number): Buffer {
  const { width, height } = sizeOf(number);
  return greyPng(width, height, (at) => (at * 37) & 255);
}

/** `grey` gives the pixel at this place of the rows, each of which begins with a byte more. */
export function greyPng(width: number, height: number, grey: (at: number) => number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // 8 bit grey.
  header.writeUInt8(8, 8);
  const rows = Buffer.alloc(height * (width + 1));
  for (let at = 0; at < rows.length; at += 1) rows[at] = at % (width + 1) === 0 ? 0 : grey(at);
  return Buffer.concat([
    Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(rows, { level: 1 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const framed = Buffer.alloc(body.length + 8);
  framed.writeUInt32BE(data.length, 0);
  body.copy(framed, 4);
  framed.writeUInt32BE(crc32(body), body.length + 4);
  return framed;
}
