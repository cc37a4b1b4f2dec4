/**
 * The boxes that the network found in a picture, before a question is asked of them, and their packed form, in which a
 * job keeps them. Packed and unpacked they are the same to the last digit.
 */
import { PER_PIXEL, PER_SCORE } from './raw-detections.js';
import type { Detection, ImageSize } from '../api/schemas/image.js';

export interface FoundBoxes {
  /** Highest confidence first. */
  detections: Detection[];
  /** Each box with a confidence above this is among them. */
  floor: number;
  /** The list has its greatest length: boxes at the floor and below were left out that the network had found. */
  isCut: boolean;
  /** The model has none of the classes that a request without classes stands for; it then stands for all classes. */
  lacksVehicles: boolean;
  image: ImageSize;
}

/** Most boxes of an image that a job keeps. */
const MOST_KEPT = 300;

/** The first byte of the packed form; another form has another number. */
const FORM = 1;
const IS_CUT = 1;
const LACKS_VEHICLES = 2;

/** Packs the best boxes: corners in thousandths of a pixel, confidences in millionths, as answers have them. */
export function packFound({ detections, ...found }: FoundBoxes): Uint8Array {
  const kept = detections.slice(0, MOST_KEPT);
  const firstLeftOut = detections[MOST_KEPT];
  const isCut = found.isCut || firstLeftOut !== undefined;
  const floor = Math.max(found.floor, firstLeftOut?.confidence ?? 0);
  const names = [...new Set(kept.map((box) => box.class))];
  const writer = new Writer();
  writer.number(FORM);
  writer.number((isCut ? IS_CUT : 0) + (found.lacksVehicles ? LACKS_VEHICLES : 0));
  writer.number(toUnits(floor, PER_SCORE));
  writer.number(found.image.width);
  writer.number(found.image.height);
  writer.number(names.length);
  for (const name of names) writer.text(name);
  writer.number(kept.length);
  let before = PER_SCORE;
  for (const { box, confidence, class: name } of kept) {
    const score = toUnits(confidence, PER_SCORE);
    writer.number(before - score);
    before = score;
    writer.number(names.indexOf(name));
    const [left, top, right, bottom] = box.map((side) => toUnits(side, PER_PIXEL)) as Corners;
    for (const side of [left, top, right - left, bottom - top]) writer.number(side);
  }
  return writer.bytes();
}

/** Unpacks the boxes with a confidence above `least`. Throws an `Error` for bytes of another form. */
export function unpackFound(packed: Uint8Array, least = -Infinity): FoundBoxes {
  const reader = new Reader(packed);
  if (reader.number() !== FORM) throw new Error('The boxes of an image are of another form.');
  const flags = reader.number();
  const floor = reader.number() / PER_SCORE;
  const image = { width: reader.number(), height: reader.number() };
  const names = Array.from({ length: reader.number() }, () => reader.text());
  const count = reader.number();
  const detections: Detection[] = [];
  let score = PER_SCORE;
  for (let index = 0; index < count; index++) {
    score -= reader.number();
    const confidence = score / PER_SCORE;
    if (confidence <= least) break;
    const name = names[reader.number()] ?? '';
    const left = reader.number();
    const top = reader.number();
    const right = left + reader.number();
    const bottom = top + reader.number();
    const box: Corners = [left / PER_PIXEL, top / PER_PIXEL, right / PER_PIXEL, bottom / PER_PIXEL];
    detections.push({ box, confidence, class: name });
  }
  const isCut = (flags & IS_CUT) !== 0;
  const lacksVehicles = (flags & LACKS_VEHICLES) !== 0;
  return { detections, floor, isCut, lacksVehicles, image };
}

type Corners = [left: number, top: number, right: number, bottom: number];

const toUnits = (value: number, perUnit: number): number => Math.round(value * perUnit);

/** Seven bits of a byte are of the number; this one says that another byte follows. */
const MORE = 0x80;
const LOW = MORE - 1;

/**
 * Writes whole numbers of either sign in as few bytes as they need: the sign is the lowest bit, so that small numbers
 * are short.
 */
class Writer {
  readonly #bytes: number[] = [];

  number(value: number): void {
    let left = value < 0 ? -2 * value - 1 : 2 * value;
    for (; left > LOW; left = Math.floor(left / MORE)) this.#bytes.push((left % MORE) | MORE);
    this.#bytes.push(left);
  }

  text(text: string): void {
    const bytes = new TextEncoder().encode(text);
    this.number(bytes.length);
    this.#bytes.push(...bytes);
  }

  bytes(): Uint8Array {
    return Uint8Array.from(this.#bytes);
  }
}

/** Texts that were read: few are different, and one object for each makes them cheap to compare. */
const TEXTS = new Map<string, string>();

class Reader {
  readonly #bytes: Buffer;
  #at = 0;

  constructor({ buffer, byteOffset, byteLength }: Uint8Array) {
    this.#bytes = Buffer.from(buffer, byteOffset, byteLength);
  }

  number(): number {
    const bytes = this.#bytes;
    let value = 0;
    for (let scale = 1; ; scale *= MORE) {
      if (this.#at >= bytes.length) throw new Error('The boxes of an image are cut off.');
      const byte = bytes[this.#at++] ?? 0;
      value += (byte & LOW) * scale;
      if (byte < MORE) break;
    }
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  text(): string {
    const length = this.number();
    const from = this.#at;
    this.#at += length;
    const text = this.#bytes.toString('utf8', from, this.#at);
    const known = TEXTS.get(text);
    if (known !== undefined) return known;
    TEXTS.set(text, text);
    return text;
  }
}
