/**
 * The question that the page of a job asks of its boxes. It is a part of the page's address, with the names and texts
 * that the service has for its parameters.
 */
import { classKey } from '../../api/class-key.js';
import { readOption } from '../../api/option-kinds.js';
import { ALL_CLASSES } from '../../api/options.js';
import { QUESTION_ROWS } from '../../api/question.js';
import type { Region } from '../../api/region-rules.js';
import type { JobQuestion, JobSummary } from '../../client/records.js';
import { listOf, listText, type Query } from '../address/address.js';

const NAMES = [...QUESTION_ROWS.map(({ wireName }) => wireName), 'classes'];

/** The question of the job itself, in the address. */
export const OWN_QUESTION: Query = Object.fromEntries(NAMES.map((name) => [name, '']));

/** The part of an address that is the question: links to other views of the job take it along. */
export const questionTexts = (query: Query): Query =>
  Object.fromEntries(NAMES.map((name) => [name, query[name] ?? '']));

/**
 * The question of an address; empty: that of the job. A text that is no value of its option is sent as it is, for the
 * service to say what is wrong with it. `regions`: the drawn ones, as far as they can be sent.
 */
export function questionOf(query: Query, regions: readonly Region[] | null): JobQuestion {
  const fields = QUESTION_ROWS.flatMap(({ kind, wireName }) => {
    const text = query[wireName] ?? '';
    // The service takes either regions or a view.
    const isLeft = text === '' || kind === 'regions' || (kind === 'view' && regions !== null);
    return isLeft ? [] : [[wireName, readOption(kind, text)] as const];
  });
  const classes = listOf(query.classes);
  return {
    ...(Object.fromEntries(fields) as JobQuestion),
    ...(classes.length > 0 && { classes }),
    ...(regions !== null && { regions }),
  };
}

export const isOwnQuestion = (question: JobQuestion): boolean => Object.keys(question).length === 0;

interface ListedClass {
  name: string;
  boxes: number;
  isAsked: boolean;
  /** It cannot be switched: it is the last one, or the model does not have it any more. */
  isFixed: boolean;
}

/** Which classes are asked for. */
export interface ClassChoice {
  /** Classes that have boxes or that the job or the question names, most boxes first. */
  listed: readonly ListedClass[];
  /** Classes that can be added. */
  others: readonly string[];
  /** The question with this class switched. */
  toggled: (name: string) => Query;
}

type Figures = Pick<JobSummary, 'classes'> & { request: Pick<JobSummary['request'], 'classes'> };

interface ChoiceParts {
  /** The figures of the job's own question. */
  own: Figures;
  /** The figures that are shown. */
  shown: Pick<Figures, 'classes'>;
  /** The classes of the question; undefined: those of the job. */
  asked: readonly string[] | undefined;
  /** Classes of the model; none: it is gone. */
  offered: readonly string[];
}

export function classChoice({ own, shown, asked, offered }: ChoiceParts): ClassChoice {
  const found = [...shown.classes, ...own.classes].map((each) => each.class);
  const named = own.request.classes;
  // Without the model the classes are those of the boxes.
  const known = once(offered.length > 0 ? offered : [...found, ...(named ?? []), ...(asked ?? [])]);
  const fitting = (names: readonly string[]): string[] => {
    const keys = new Set(names.map(classKey));
    return known.filter((name) => keys.has(classKey(name)));
  };
  const ofJob = named === undefined ? known : fitting(named);
  const isAll = asked?.includes(ALL_CLASSES) === true;
  const wanted = asked === undefined ? ofJob : isAll ? known : fitting(asked);
  const added = wanted.filter((name) => !ofJob.includes(name));
  const boxes = new Map(shown.classes.map((each) => [each.class, each.boxes]));
  const listed = once([...found, ...(named === undefined ? [] : ofJob), ...(isAll ? [] : added)]);
  const isOfAll = isAll || (asked === undefined && named === undefined);
  return {
    listed: listed.map((name) => ({
      name,
      boxes: boxes.get(name) ?? 0,
      isAsked: isOfAll || wanted.includes(name),
      isFixed: !known.includes(name) || (wanted.length === 1 && wanted.includes(name)),
    })),
    others: known.filter((name) => !wanted.includes(name) && !listed.includes(name)),
    toggled: (name) => {
      const next = known.filter((each) => (each === name) !== wanted.includes(each));
      if (next.length === 0) return {};
      const isOwn = next.length === ofJob.length && next.every((each) => ofJob.includes(each));
      const isEvery = offered.length > 0 && next.length === known.length;
      return { classes: isOwn ? '' : isEvery ? ALL_CLASSES : listText(next) };
    },
  };
}

const once = (names: readonly string[]): string[] => [...new Set(names)];

/** The text of the threshold in the address: in whole percent, no lower than the floor; empty for that of the job. */
export function thresholdText(
  value: number,
  { floor, own }: { floor: number; own: number },
): string {
  const least = Math.ceil(Math.round(floor * 1e4) / 100);
  const percent = Math.min(100, Math.max(least, Math.round(value * 100)));
  return percent === Math.round(own * 100) ? '' : String(percent / 100);
}
