/**
 * Text -> outlines. SVG text would need fonts on the machine; outlines come from the font file that is installed here.
 */
// The page and its tests are compiled with the types of the service, but without its declarations of modules.
// eslint-disable-next-line @typescript-eslint/triple-slash-reference -- a declaration of a module cannot be imported
/// <reference path="./opentype.d.ts" />
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type opentype from 'opentype.js';
import type { Font } from 'opentype.js';

/** Inter, semi-bold, under the SIL Open Font License 1.1, whose text lies in the same package. */
const FILE = (script: string) => `@fontsource/inter/files/inter-${script}-600-normal.woff`;
/** Each file has the characters of one script. A character that none has is drawn as the first one's empty box. */
const SCRIPTS = ['latin', 'latin-ext', 'cyrillic', 'greek'];

const require = createRequire(import.meta.url);
const loaded = new Map<string, Font>();

export interface Outlines {
  /** Path data of SVG; the text begins at x = 0, on the base line y = 0. */
  path: string;
  width: number;
}

/** `size`: pixels from one line of text to the next. */
export function outlinesOf(text: string, size: number): Outlines {
  let width = 0;
  let path = '';
  for (const character of text) {
    const font = fontOf(character);
    const glyph = font.charToGlyph(character);
    path += glyph.getPath(width, 0, size).toPathData(2);
    width += ((glyph.advanceWidth ?? 0) * size) / font.unitsPerEm;
  }
  return { path, width };
}

function fontOf(character: string): Font {
  const script = SCRIPTS.find((each) => load(each).charToGlyphIndex(character) !== 0);
  return load(script ?? 'latin');
}

/** Loads the font once per process and script, when the first character needs it. */
function load(script: string): Font {
  let font = loaded.get(script);
  if (font === undefined) {
    const { buffer, byteOffset, byteLength } = readFileSync(require.resolve(FILE(script)));
    // Only here: it takes 50 ms to load, and most starts draw nothing.
    const fonts = require('opentype.js') as typeof opentype;
    font = fonts.parse(buffer.slice(byteOffset, byteOffset + byteLength));
    loaded.set(script, font);
  }
  return font;
}
