/**
 * Images of a job that are counted when their outcomes are stored. A figure is one row: records, results, events, the
 * log and the CLI have it. `src/store/figure-columns.ts` says which outcomes it counts. Plain data, safe for browsers.
 */
import { rowsOf } from './rows.js';
import type { Snake } from './snake-case.js';

export interface FigureRow {
  /**
   * Column of `outbox`, and of `jobs` except for `failed`: `jobs` stores `succeeded`, and `figure-columns.ts` computes
   * the failed ones.
   */
  column: string;
  /** Description in the OpenAPI document. */
  text: string;
  /**
   * The CLI adds this line to the status of a job when the number is above 0: the name of the line, and the text after
   * the number.
   */
  shown?: readonly [name: string, text: string];
}

const FIGURES = {
  failedImages: { column: 'failed', text: 'Images that ended in an error so far' },
  reusedImages: {
    column: 'reused',
    text: 'Images that took over a stored result so far, see `reuse`',
    shown: ['reused', 'took over a stored result'],
  },
} as const satisfies Record<string, FigureRow>;

export type FigureName = keyof typeof FIGURES;
export type JobFigures = Record<FigureName, number>;
/** The figures by their HTTP names. */
export type WireFigures = Record<Snake<FigureName>, number>;

export const FIGURE_ROWS = rowsOf(FIGURES) as readonly (FigureRow & {
  name: FigureName;
  wireName: keyof WireFigures;
})[];

export const figuresBy = (value: (name: FigureName) => number): JobFigures =>
  Object.fromEntries(FIGURE_ROWS.map(({ name }) => [name, value(name)])) as JobFigures;

export const NO_FIGURES = figuresBy(() => 0);

/** The figures of an object that has other fields too. */
export const figuresOf = (job: JobFigures): JobFigures => figuresBy((name) => job[name]);

export const toWireFigures = (job: JobFigures): WireFigures =>
  Object.fromEntries(FIGURE_ROWS.map(({ name, wireName }) => [wireName, job[name]])) as WireFigures;
