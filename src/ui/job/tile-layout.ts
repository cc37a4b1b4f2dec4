/** How many tiles of a picture grid stand side by side, and how large they are. */

export interface TileLayout {
  columns: number;
  width: number;
  /** Height of a row, with the gap below it. */
  rowHeight: number;
  gap: number;
}

const GAP = 12;
const WIDEST = 260;
const NARROWEST = 150;
/** The line below the picture. */
const CAPTION = 30;

/** There are at least two columns. The width and height of a picture are 4 to 3. */
export function tileLayout(available: number): TileLayout {
  const most = Math.max(2, Math.floor((available + GAP) / (NARROWEST + GAP)));
  const columns = Math.max(2, Math.min(most, Math.ceil((available + GAP) / (WIDEST + GAP))));
  const width = Math.max(1, (available - (columns - 1) * GAP) / columns);
  return { columns, width, rowHeight: Math.round(width * 0.75) + CAPTION + GAP, gap: GAP };
}

/** The place that a key leads to from `place`; null when the key means nothing here. */
export function placeAfter(
  key: string,
  place: number,
  { columns, count, rowsInView }: { columns: number; count: number; rowsInView: number },
): number | null {
  const page = columns * Math.max(1, rowsInView);
  const target = {
    ArrowRight: place + 1,
    ArrowLeft: place - 1,
    ArrowDown: place + columns,
    ArrowUp: place - columns,
    PageDown: place + page,
    PageUp: place - page,
    Home: 0,
    End: count - 1,
  }[key];
  return target === undefined ? null : Math.max(0, Math.min(target, count - 1));
}
