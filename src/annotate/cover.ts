/**
 * Covers boxes of a picture so that what they showed cannot be got back: what is written depends on the means of a few
 * large blocks of each box, or on nothing of it.
 */
import { setImmediate } from 'node:timers/promises';
import type { CoverWay } from '../api/job-values.js';
import type { Detection, ImageSize } from '../api/schemas/image.js';
import type { Pixels } from '../files/readable-picture.js';

/** Whole pixels; `right` and `bottom` are the first ones outside. */
interface PixelBox {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** A number plate, or a face, is not read in so few blocks. */
const MOST_BLOCKS = 8;
/** Pixels; smaller blocks would show small boxes. It is the least side of what is covered, too. */
const LEAST_BLOCK = 16;
const CHANNELS = 3;
const FILL = 0;
/** Pixels between two turns of the event loop: they take a few milliseconds. */
const PIXELS_PER_TURN = 1_000_000;

/**
 * Overlapping boxes: the means are those of the picture before, and the largest box is on top, because the blocks of a
 * small one show more of what lies within both.
 */
export async function coverBoxes(
  pixels: Pixels,
  boxes: readonly Detection['box'][],
  how: CoverWay,
  margin: number,
): Promise<void> {
  const areas = boxes
    .map((box) => pixelBox(box, margin, pixels, LEAST_BLOCK))
    .sort((one, other) => sizeOf(one) - sizeOf(other));
  if (how === 'fill') {
    for (const area of areas) await eachRow(pixels, area, (row) => row.fill(FILL));
    return;
  }
  const grids: Grid[] = [];
  for (const area of areas) grids.push(await meansOf(pixels, area));
  for (const grid of grids) await eachRow(pixels, grid, WRITE_ROW[how](grid));
}

/** The box with `margin` of its width and height around it, within the picture, no side shorter than `least`. */
export function pixelBox(
  [x1, y1, x2, y2]: Detection['box'],
  margin: number,
  { width, height }: ImageSize,
  least = 1,
): PixelBox {
  const [left, right] = span(x1, x2, margin, width, least);
  const [top, bottom] = span(y1, y2, margin, height, least);
  return { left, top, right, bottom };
}

const sizeOf = ({ left, top, right, bottom }: PixelBox): number => (right - left) * (bottom - top);

function span(from: number, to: number, margin: number, most: number, least: number) {
  const within = (value: number) => Math.min(most, Math.max(0, value));
  const extra = margin * (to - from);
  const start = within(Math.floor(from - extra));
  const end = within(Math.ceil(to + extra));
  const lack = least - (end - start);
  if (lack <= 0) return [start, end] as const;
  const earlier = Math.max(0, Math.min(start - Math.floor(lack / 2), most - least));
  return [earlier, Math.min(most, earlier + least)] as const;
}

/** Blocks of about one size. */
interface Grid extends PixelBox {
  /** Where the blocks begin, and the end of the last one. */
  columns: readonly number[];
  rows: readonly number[];
  /** Row by row, three for each block. */
  means: Uint8Array;
}

async function meansOf(pixels: Pixels, area: PixelBox): Promise<Grid> {
  const { left, top, right, bottom } = area;
  const block = Math.max(LEAST_BLOCK, Math.max(right - left, bottom - top) / MOST_BLOCKS);
  const columns = edges(left, right, block);
  const rows = edges(top, bottom, block);
  const sums = new Float64Array((columns.length - 1) * (rows.length - 1) * CHANNELS);
  await eachRow(pixels, area, (_row, y) => {
    addRow(pixels, y, columns, sums, blockAt(rows, y) * (columns.length - 1));
  });
  const means = Uint8Array.from(sums, (sum, at) => {
    const block = Math.floor(at / CHANNELS);
    const [row, column] = [Math.floor(block / (columns.length - 1)), block % (columns.length - 1)];
    return Math.round(sum / (lengthOf(rows, row) * lengthOf(columns, column)));
  });
  return { ...area, columns, rows, means };
}

function edges(from: number, to: number, block: number): number[] {
  const count = Math.max(1, Math.floor((to - from) / block));
  return Array.from(
    { length: count + 1 },
    (_, at) => from + Math.round((at * (to - from)) / count),
  );
}

const lengthOf = (marks: readonly number[], at: number): number =>
  (marks[at + 1] ?? 0) - (marks[at] ?? 0);

function blockAt(marks: readonly number[], place: number): number {
  return marks.findIndex((_, at) => place < (marks[at + 1] ?? Infinity));
}

/** `first`: the number of the row's first block. */
function addRow(
  { data, width }: Pixels,
  y: number,
  columns: readonly number[],
  sums: Float64Array,
  first: number,
): void {
  for (let column = 0; column + 1 < columns.length; column += 1) {
    let [red, green, blue] = [0, 0, 0];
    const end = CHANNELS * (y * width + (columns[column + 1] ?? 0));
    for (let at = CHANNELS * (y * width + (columns[column] ?? 0)); at < end; at += CHANNELS) {
      red += data[at] ?? 0;
      green += data[at + 1] ?? 0;
      blue += data[at + 2] ?? 0;
    }
    const at = CHANNELS * (first + column);
    sums[at] = (sums[at] ?? 0) + red;
    sums[at + 1] = (sums[at + 1] ?? 0) + green;
    sums[at + 2] = (sums[at + 2] ?? 0) + blue;
  }
}

type WriteRow = (row: Uint8Array, y: number) => void;

const WRITE_ROW: Readonly<Record<Exclude<CoverWay, 'fill'>, (grid: Grid) => WriteRow>> = {
  pixelate: (grid) => {
    const { left, right, columns, rows } = grid;
    const blocks = Array.from({ length: right - left }, (_, x) => blockAt(columns, left + x));
    const written = rows.slice(1).map((_, block) => {
      const line = lineOf(grid, block);
      return Uint8Array.from({ length: CHANNELS * blocks.length }, (_value, at) => {
        const block = blocks[Math.floor(at / CHANNELS)] ?? 0;
        return line[CHANNELS * block + (at % CHANNELS)] ?? 0;
      });
    });
    return (row, y) => {
      row.set(written[blockAt(rows, y)] ?? []);
    };
  },
  // The means again, with a smooth way from the middle of one block to that of the next.
  blur: (grid) => {
    const { left, right, columns, rows } = grid;
    const ways = Array.from({ length: right - left }, (_, x) => wayAt(columns, left + x));
    return (row, y) => {
      const { block, next, share } = wayAt(rows, y);
      const below = lineOf(grid, next);
      const line = Float64Array.from(lineOf(grid, block), (mean, at) =>
        mix(share, mean, below[at] ?? 0),
      );
      ways.forEach((way, x) => {
        for (let channel = 0; channel < CHANNELS; channel += 1) {
          const one = line[CHANNELS * way.block + channel] ?? 0;
          const other = line[CHANNELS * way.next + channel] ?? 0;
          row[CHANNELS * x + channel] = Math.round(mix(way.share, one, other));
        }
      });
    };
  },
};

/** The means of a row of blocks. */
function lineOf({ columns, means }: Grid, row: number): Uint8Array {
  const length = CHANNELS * (columns.length - 1);
  return means.subarray(row * length, (row + 1) * length);
}

/** Between the middles of two blocks; before the first and after the last one, that block alone. */
interface Way {
  block: number;
  next: number;
  /** 0 at `block`, 1 at `next`. */
  share: number;
}

function wayAt(marks: readonly number[], place: number): Way {
  const middle = (block: number) => ((marks[block] ?? 0) + (marks[block + 1] ?? 0)) / 2;
  const at = blockAt(marks, place);
  const center = place + 0.5;
  const block = center < middle(at) ? at - 1 : at;
  const last = marks.length - 2;
  if (block < 0 || block >= last) {
    const only = Math.max(0, Math.min(block, last));
    return { block: only, next: only, share: 0 };
  }
  const from = middle(block);
  return { block, next: block + 1, share: (center - from) / (middle(block + 1) - from) };
}

const mix = (share: number, one: number, other: number): number => one + share * (other - one);

/** `visit` gets the pixels of each row that lie within the area. */
async function eachRow(
  { data, width }: Pixels,
  { left, top, right, bottom }: PixelBox,
  visit: WriteRow,
): Promise<void> {
  let visited = 0;
  for (let y = top; y < bottom; y += 1) {
    visit(data.subarray(CHANNELS * (y * width + left), CHANNELS * (y * width + right)), y);
    visited += right - left;
    if (visited < PIXELS_PER_TURN) continue;
    await setImmediate();
    visited = 0;
  }
}
