/**
 * The self-check of a model that has several inputs: its picture as a whole goes through one of them only. One network
 * serves them all, so one that is not the model's own stands for the others.
 */
import type { NativeInputSize, NativeModel } from '../../native/contract.js';
import { judgePart, type KnownBox, type KnownPicture, type Picture } from './model-check.js';
import type { Detection } from '../../api/schemas/image.js';

type Size = Pick<Picture, 'width' | 'height'>;

/**
 * The fault at one of two inputs, each checked with the part of the picture that it takes; null where nothing is. The
 * whole picture has been judged before: an input that takes all of it is left out.
 */
export async function faultOfInputs(
  model: NativeModel,
  known: KnownPicture,
  look: (picture: KnownPicture['picture']) => Promise<Detection[]>,
): Promise<string | null> {
  const rectangle = rectangleFor(known.picture, model);
  if (rectangle === null) return null;
  for (const input of [{ width: model.inputWidth, height: model.inputHeight }, rectangle]) {
    const part = partOfShape(known, input);
    if (part.picture.data.length === known.picture.data.length) continue;
    const fault = judgePart(await look(part.picture), part.boxes, model.layout);
    if (fault !== null) return `at ${input.width} x ${input.height} ${fault}`;
  }
  return null;
}

/** The rectangle that shows the most of the picture; null for a model with one input. */
function rectangleFor(picture: Size, { rectangles }: NativeModel): NativeInputSize | null {
  const shown = (shape: Size): number => {
    const { width, height } = sizeOfPart(picture, shape);
    return width * height;
  };
  return rectangles.reduce<NativeInputSize | null>(
    (best, each) => (best === null || shown(each) > shown(best) ? each : best),
    null,
  );
}

/** In pixels, of the largest part of the picture with the shape. */
function sizeOfPart(picture: Size, shape: Size): Size {
  const scale = Math.min(picture.width / shape.width, picture.height / shape.height);
  return { width: Math.floor(shape.width * scale), height: Math.floor(shape.height * scale) };
}

/**
 * The largest part of a known picture that has the shape of an input, so that it goes through that one. It lies about
 * the largest of the boxes, and has the boxes that lie in it as a whole.
 */
export function partOfShape({ picture, boxes }: KnownPicture, shape: Size): KnownPicture {
  const { width, height } = sizeOfPart(picture, shape);
  const [x1, y1, x2, y2] = largest(boxes) ?? [0, 0, picture.width, picture.height];
  const left = start((x1 + x2) / 2, width, picture.width);
  const top = start((y1 + y2) / 2, height, picture.height);
  const moved = boxes.map(({ class: name, box: [l, t, r, b] }): KnownBox => {
    return { class: name, box: [l - left, t - top, r - left, b - top] };
  });
  return {
    picture: { data: cut(picture, left, top, width, height), width, height },
    boxes: moved.filter(({ box: [l, t, r, b] }) => l >= 0 && t >= 0 && r <= width && b <= height),
  };
}

function largest(boxes: readonly KnownBox[]): KnownBox['box'] | null {
  const area = ([x1, y1, x2, y2]: KnownBox['box']) => (x2 - x1) * (y2 - y1);
  return boxes.map(({ box }) => box).sort((a, b) => area(b) - area(a))[0] ?? null;
}

/** Start of a part of this length around `centre`, moved so that it stays inside the whole. */
function start(centre: number, length: number, whole: number): number {
  return Math.round(Math.min(Math.max(0, centre - length / 2), whole - length));
}

function cut(
  { data, width: across }: Picture,
  left: number,
  top: number,
  width: number,
  height: number,
): Uint8Array {
  const part = new Uint8Array(3 * width * height);
  for (let row = 0; row < height; row += 1) {
    const from = 3 * ((top + row) * across + left);
    part.set(data.subarray(from, from + 3 * width), 3 * row * width);
  }
  return part;
}
