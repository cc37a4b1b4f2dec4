/**
 * The part of opentype.js that is used here. The package has no types, and `@types/opentype.js` needs the types of
 * browsers, without which the server is compiled.
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
