/** Width of the labels' text, as it will be drawn. */
import { signal } from '@preact/signals';

/** As in `.box-label` of the style sheet. */
const FONT = "600 12px 'Inter Variable', 'Inter Fallback', sans-serif";

/** Changes once the font has come: widths measured before are of another one. */
export const fontEpoch = signal(0);

let context: CanvasRenderingContext2D | null = null;
let widths = new Map<string, number>();

document.fonts.load("600 12px 'Inter Variable'").then(
  () => {
    widths = new Map();
    fontEpoch.value += 1;
  },
  // Without it the text stands in the fallback, which is as wide.
  () => undefined,
);

export function textWidth(text: string): number {
  const known = widths.get(text);
  if (known !== undefined) return known;
  context ??= document.createElement('canvas').getContext('2d');
  if (context === null) return text.length * 7;
  context.font = FONT;
  const width = Math.ceil(context.measureText(text).width);
  widths.set(text, width);
  return width;
}
