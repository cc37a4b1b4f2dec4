/** How a picture is cut into tiles, so that small things keep their pixels. The addon has the rules of a grid. */
import type { ImageTiles } from './schemas/image.js';

/** Share of a tile's side by which the tile overlaps the next one. */
export const TILE_OVERLAP = { default: 0.2, most: 0.5 };
/** `native/tiles/tile_grid.h` has the same. */
export const MOST_TILES = 64;

/**
 * `auto`: the size of the picture decides. `size`: both sides of a tile in pixels of the picture. With tiles of any
 * kind the whole picture is looked at too.
 */
export type Tiles =
  | 'off'
  | 'auto'
  | { columns: number; rows: number; overlap: number }
  | { size: number; overlap: number };

/** Reads texts such as `auto`, `off`, `3x2`, `640` or `3x2:0.3`. Null for another text; a caller may then read JSON. */
export function tilesOf(text: string): Tiles | null {
  const word = text.trim().toLowerCase();
  if (word === 'off' || word === 'auto') return word;
  const parts = /^(\d+)(?:x(\d+))?(?::(\d*\.?\d+))?$/.exec(word);
  if (parts === null) return null;
  const [, first, rows, given] = parts;
  const overlap = given === undefined ? TILE_OVERLAP.default : Number(given);
  if (rows === undefined) return { size: Number(first), overlap };
  return { columns: Number(first), rows: Number(rows), overlap };
}

/** Writes the text that `tilesOf` reads. */
export function tilesText(tiles: Tiles): string {
  if (typeof tiles === 'string') return tiles;
  const grid = 'size' in tiles ? String(tiles.size) : `${tiles.columns}x${tiles.rows}`;
  return tiles.overlap === TILE_OVERLAP.default ? grid : `${grid}:${tiles.overlap}`;
}

/** Images of the network that a picture counts for: itself and its tiles. Null: its size decides. */
export function imagesOf(tiles: Tiles): number | null {
  if (tiles === 'off') return 1;
  return typeof tiles === 'object' && 'columns' in tiles ? imagesOfGrid(tiles) : null;
}

/** Images of the network for a picture that ran in these tiles, or whole. */
export function imagesOfGrid(grid: Pick<ImageTiles, 'columns' | 'rows'> | undefined): number {
  const tiles = grid === undefined ? 1 : grid.columns * grid.rows;
  return tiles === 1 ? 1 : 1 + tiles;
}
