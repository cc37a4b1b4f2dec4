/**
 * The part of opentype.js that is used here: the package has no types, and those of others need the ones of a browser.
 */
declare module 'opentype.js' {
  interface Glyph {
    advanceWidth?: number;
    getPath(x: number, y: number, fontSize: number): { toPathData(decimals: number): string };
  }
  export interface Font {
    unitsPerEm: number;
    charToGlyph(character: string): Glyph;
    charToGlyphIndex(character: string): number;
  }
  const opentype: { parse(bytes: ArrayBuffer): Font };
  export default opentype;
}
