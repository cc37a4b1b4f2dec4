/** The order of the sides in a turn. In twice as many turns as there are sides each has every place twice. */
export function orderOf<Side>(sides: readonly Side[], turn: number): Side[] {
  const start = Math.floor(turn / 2) % sides.length;
  const rotated = [...sides.slice(start), ...sides.slice(0, start)];
  return turn % 2 === 0 ? rotated : rotated.reverse();
}

/** Parts of at most `size`, in order. */
export function partsOf<Item>(items: readonly Item[], size: number): Item[][] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, part) => items.slice(part * size, (part + 1) * size));
}
