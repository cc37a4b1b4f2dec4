/** Boxes of two answers as they are drawn and counted. */
import { CHANGES, type Change, type ComparedBox } from '../../boxes/changes.js';
import { grouped } from '../text/format.js';
import type { Detection, ShownBox } from './shown-boxes.js';

/** Numbers of boxes that the first answer does not have; it has at most 300. */
const GAINED_FROM = 1_000;

const TEXTS: Record<Change, string> = {
  gained: 'gained',
  lost: 'lost',
  changed: 'changed',
  same: 'the same',
};

interface AnsweredBox {
  change: Change;
  before?: Detection | undefined;
  after?: Detection | undefined;
}

/** Each box as an answer has it, with a number of its own in the picture. */
export function numberedChanges(boxes: readonly AnsweredBox[]): ComparedBox<ShownBox>[] {
  return boxes.map(({ change, before, after }, id) => ({
    change,
    before: before === undefined ? null : { ...before, id },
    after: after === undefined ? null : { ...after, id },
  }));
}

/** A box of the first answer keeps its number. */
export function drawnChanges(compared: readonly ComparedBox<ShownBox>[]): ShownBox[] {
  return compared.flatMap(({ change, before, after }) => {
    if (before === null)
      return after === null ? [] : [{ ...after, id: GAINED_FROM + after.id, change }];
    return [
      change === 'changed' && after !== null ? { ...before, change, after } : { ...before, change },
    ];
  });
}

export function ChangeCounts({ counts }: { counts: Readonly<Record<Change, number>> }) {
  return (
    <ul class="changes">
      {CHANGES.map((change) => (
        <li key={change} class={change}>
          <b>{grouped(counts[change])}</b> {TEXTS[change]}
        </li>
      ))}
    </ul>
  );
}
