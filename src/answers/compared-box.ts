/** A box that two answers were compared by, as over HTTP: a side that has none is left out. */
import type { Change, ComparedBox } from '../boxes/changes.js';

export function toWireComparedBox<C extends Change, T>({
  change,
  before,
  after,
}: ComparedBox<T> & { change: C }): { change: C; before?: T; after?: T } {
  return { change, ...(before !== null && { before }), ...(after !== null && { after }) };
}
