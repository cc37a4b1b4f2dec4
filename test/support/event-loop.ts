/** How freely the event loop turns beside other work. */

/** Turns of the event loop until `work` has ended: one that blocks lets hardly any pass. */
export async function turnsDuring<T>(work: Promise<T>): Promise<{ value: T; turns: number }> {
  let turns = 0;
  let over = false;
  const settled = work.finally(() => (over = true));
  while (!over) {
    turns += 1;
    await new Promise((resolve) => setImmediate(resolve));
  }
  return { value: await settled, turns };
}
