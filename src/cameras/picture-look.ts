/** A picture reduced to few numbers, from which faults of its camera are found, whatever the size of the picture. */

/** Cells of a look from left to right, and from top to bottom. */
export const LOOK_SIDE = 32;
export const LOOK_CELLS = LOOK_SIDE * LOOK_SIDE;

export interface Levels {
  /** Mean level, 0 to 255. */
  brightness: number;
  /** Standard deviation of the levels. */
  spread: number;
}

export function levelsOf(grey: Uint8Array): Levels {
  let sum = 0;
  let squares = 0;
  for (const level of grey) {
    sum += level;
    squares += level * level;
  }
  const brightness = sum / grey.length;
  const variance = squares / grey.length - brightness * brightness;
  return { brightness, spread: Math.sqrt(Math.max(0, variance)) };
}

/** Mean difference of a cell, in levels. */
export function differenceOf(first: Uint8Array, second: Uint8Array): number {
  let sum = 0;
  for (let cell = 0; cell < first.length; cell += 1) {
    sum += Math.abs((first[cell] ?? 0) - (second[cell] ?? 0));
  }
  return sum / first.length;
}

/** Below this spread a look shows no scene: what there is may be noise. */
export const LEAST_SPREAD = 4;

const EVEN_BRIGHTNESS = 128;
const EVEN_SPREAD = 40;

/** The same view with a brightness and a contrast that are the same for all pictures. */
export function inEvenLight(grey: Uint8Array): Uint8Array {
  const { brightness, spread } = levelsOf(grey);
  const gain = spread > 0 ? EVEN_SPREAD / spread : 0;
  const even = (level: number) => Math.round(EVEN_BRIGHTNESS + gain * (level - brightness));
  return grey.map((level) => Math.min(255, Math.max(0, even(level))));
}

/** An edge of so many levels counts half of the strongest: lamps and sunlit cars do not outweigh the scene. */
const HALF_EDGE = 12;
const ACROSS = LOOK_SIDE - 1;

/** The direction of the edge at each cell of a view in even light, as long as the edge is strong. */
export function edgesOf(view: Uint8Array): Float32Array {
  const edges = new Float32Array(2 * ACROSS * ACROSS);
  let index = 0;
  for (let y = 0; y < ACROSS; y += 1) {
    for (let cell = y * LOOK_SIDE; cell < y * LOOK_SIDE + ACROSS; cell += 1) {
      const level = view[cell] ?? 0;
      const across = (view[cell + 1] ?? 0) - level;
      const down = (view[cell + LOOK_SIDE] ?? 0) - level;
      const scale = 1 / (Math.sqrt(across * across + down * down) + HALF_EDGE);
      edges[index] = across * scale;
      edges[index + 1] = down * scale;
      index += 2;
    }
  }
  return edges;
}

/** How far the edges of two views lie in the same places: 1 for the same view, about 0 for different scenes. */
export function likenessOf(first: Float32Array, second: Float32Array): number {
  let both = 0;
  let ofFirst = 0;
  let ofSecond = 0;
  for (let index = 0; index < first.length; index += 1) {
    const a = first[index] ?? 0;
    const b = second[index] ?? 0;
    both += a * b;
    ofFirst += a * a;
    ofSecond += b * b;
  }
  const scale = Math.sqrt(ofFirst * ofSecond);
  return scale > 0 ? both / scale : 0;
}
