/** Detections -> an SVG picture to lay over a photo: the boxes and labels of the live page, for a still picture. */
import type { Detection, ImageSize } from '../api/schemas/image.js';
import { CASING, classColour } from '../overlay/class-colour.js';
import { placeLabels, type Rect } from '../overlay/place-labels.js';
import { outlinesOf, type Outlines } from './label-font.js';

/** The loader of libvips that reads `boxesSvg`. The addon blocks it for its whole process. */
export const SVG_LOADER = 'VipsForeignLoadSvgBuffer';

interface Sizes {
  line: number;
  text: number;
  /** Padding around the text of a label. */
  padding: number;
}

const CAP_HEIGHT = 0.73;
const SMALLEST_TEXT = 11;
const SMALLEST_LINE = 2;

/** Detections as they come, highest confidence first. */
export function boxesSvg(size: ImageSize, detections: readonly Detection[]): string {
  const sizes = sizesFor(size);
  const boxes = detections.map((detection) => ({
    ...detection,
    box: clipped(detection.box, size),
  }));
  const labels = boxes.map((detection) => outlinesOf(labelText(detection), sizes.text));
  const places = placeLabels(
    boxes.map(({ box }, index) => ({ rect: rectOf(box), label: labelSize(labels[index], sizes) })),
    size,
  );
  // The box with the highest confidence is drawn last; labels are drawn above all boxes.
  const frames = boxes.map(({ box, class: name }) => frame(box, name, sizes)).reverse();
  const texts = boxes.map(({ class: name }, index) =>
    label(name, labels[index], places[index], sizes),
  );
  const { width, height } = size;
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" ` +
    `viewBox="0 0 ${width} ${height}">${frames.join('')}${texts.join('')}</svg>`
  );
}

/** Sizes in proportion to the picture, so that it looks the same when it is scaled to a screen or a page. */
function sizesFor({ width, height }: ImageSize): Sizes {
  const unit = Math.sqrt(width * height) / 1000;
  const text = Math.max(SMALLEST_TEXT, 15 * unit);
  return { line: Math.max(SMALLEST_LINE, 2.5 * unit), text, padding: 0.3 * text };
}

function labelText({ class: name, confidence }: Detection): string {
  return `${name} ${Math.round(confidence * 100)}%`;
}

function labelSize(outlines: Outlines | undefined, { text, padding }: Sizes) {
  return { width: (outlines?.width ?? 0) + 2 * padding, height: CAP_HEIGHT * text + 2 * padding };
}

function clipped([left, top, right, bottom]: Detection['box'], size: ImageSize): Detection['box'] {
  const within = (value: number, most: number) => Math.max(0, Math.min(value, most));
  return [
    within(left, size.width),
    within(top, size.height),
    within(right, size.width),
    within(bottom, size.height),
  ];
}

function rectOf([x, y, right, bottom]: Detection['box']): Rect {
  return { x, y, width: right - x, height: bottom - y };
}

/** A dark line beneath a coloured one, both inside the box: one of them stands out on any photo. */
function frame(
  [left, top, right, bottom]: Detection['box'],
  name: string,
  { line }: Sizes,
): string {
  const { colour, dashed } = classColour(name);
  const inset = line;
  const width = Math.max(0, right - left - 2 * inset);
  const height = Math.max(0, bottom - top - 2 * inset);
  const rectangle =
    `x="${short(left + inset)}" y="${short(top + inset)}" width="${short(width)}" ` +
    `height="${short(height)}" rx="${short(line)}" fill="none"`;
  const dashes = dashed ? ` stroke-dasharray="${short(5 * line)} ${short(2.5 * line)}"` : '';
  return (
    `<rect ${rectangle} stroke="${CASING}" stroke-opacity="0.75" stroke-width="${short(2 * line)}"/>` +
    `<rect ${rectangle} stroke="${colour}" stroke-width="${short(line)}"${dashes}/>`
  );
}

function label(
  name: string,
  outlines: Outlines | undefined,
  place: Rect | null | undefined,
  sizes: Sizes,
): string {
  if (outlines === undefined || !place) return '';
  const { colour, text } = classColour(name);
  const { width, height } = labelSize(outlines, sizes);
  const { padding } = sizes;
  return (
    `<g transform="translate(${short(place.x)} ${short(place.y)})">` +
    `<rect width="${short(width)}" height="${short(height)}" rx="${short(padding / 2)}" fill="${colour}"/>` +
    `<path transform="translate(${short(padding)} ${short(height - padding)})" fill="${text}" d="${outlines.path}"/></g>`
  );
}

function short(value: number): string {
  return value.toFixed(2);
}
