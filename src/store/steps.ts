/** Long reads in short steps: between two of them the thread of the store serves other calls. */

export type Steps<T> = Generator<undefined, T>;

/** So many rows are read between two other calls: they take a few milliseconds. */
export const ROWS_PER_STEP = 1000;

export interface Numbered {
  number: number;
}

/** Reads rows in the order of their numbers, those after the last one in each step. */
export function* inSteps<T extends Numbered>(
  after: number,
  read: (after: number) => T[],
  add: (row: T) => void,
): Steps<void> {
  for (let last: number | undefined = after; last !== undefined;) {
    const rows = read(last);
    for (const row of rows) add(row);
    last = rows.length < ROWS_PER_STEP ? undefined : rows.at(-1)?.number;
    yield;
  }
}

/** Reads all steps in one, within a transaction. */
export function atOnce<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
