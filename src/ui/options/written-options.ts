/**
 * The options of a detection that people write into fields: their texts, by the names that HTTP has for them, are in
 * the address and in the form of a job.
 */
import { readOption } from '../../api/option-kinds.js';
import { PARAMETER_ROWS, type DetectionParameters } from '../../api/options.js';

/** The slider has the confidence; regions are drawn, and views chosen. */
type Elsewhere = 'confidence' | 'regions' | 'view';
const ELSEWHERE: readonly string[] = ['confidence', 'regions', 'view'] satisfies Elsewhere[];

export type WrittenOptions = Partial<Omit<DetectionParameters, Elsewhere>>;

export const WRITTEN_ROWS = PARAMETER_ROWS.filter(({ name }) => !ELSEWHERE.includes(name));

/** A text that is no value of its option is sent as it is: the service says what is wrong with it. */
export function writtenOptions(textOf: (name: string) => string | undefined): WrittenOptions {
  const given = WRITTEN_ROWS.flatMap((row) => {
    const text = textOf(row.wireName)?.trim() ?? '';
    return text === '' ? [] : [[row.name, readOption(row.kind, text)] as const];
  });
  return Object.fromEntries(given);
}
