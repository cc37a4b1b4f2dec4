/**
 * The options of a detection that people write into fields: their texts, by the names that HTTP has for them, are in
 * the address and in the form of a job.
 */
import { PARAMETER_ROWS, type DetectionParameters, type ParameterRow } from '../../api/options.js';
import { tilesOf } from '../../api/tiles.js';
import { namedNumbers } from '../../base/text-list.js';

/** The slider has the confidence; regions are drawn, and views chosen. */
type Elsewhere = 'confidence' | 'regions' | 'view';
const ELSEWHERE: readonly string[] = ['confidence', 'regions', 'view'] satisfies Elsewhere[];

export type WrittenOptions = Partial<Omit<DetectionParameters, Elsewhere>>;

export const WRITTEN_ROWS = PARAMETER_ROWS.filter(({ name }) => !ELSEWHERE.includes(name));

/** A text that is no value of its option is sent as it is: the service says what is wrong with it. */
export function writtenOptions(textOf: (name: string) => string | undefined): WrittenOptions {
  const given = WRITTEN_ROWS.flatMap((row) => {
    const text = textOf(row.wireName)?.trim() ?? '';
    return text === '' ? [] : [[row.name, valueOf(row, text)] as const];
  });
  return Object.fromEntries(given);
}

function valueOf({ kind }: ParameterRow, text: string): unknown {
  switch (kind) {
    case 'switch':
      return text === 'true' || text === 'false' ? text === 'true' : text;
    case 'fractions':
      return namedNumbers(text) ?? text;
    case 'tiles':
      return tilesOf(text) ?? text;
    default:
      return Number.isFinite(Number(text)) ? Number(text) : text;
  }
}
