/** The figures of jobs in the tables, and the outcomes that they count. */
import { FIGURE_ROWS, type FigureName } from '../api/job-figures.js';
import type { ImageOutcome } from './job.js';

export const COUNTED: Readonly<Record<FigureName, (image: ImageOutcome) => boolean>> = {
  failedImages: ({ status }) => status === 'error',
  reusedImages: (image) => image.status === 'ok' && image.reusedFrom !== undefined,
};

/** `jobs` has the images that succeeded in place of those that failed. */
export const OWN_COLUMNS = FIGURE_ROWS.filter(({ column }) => column !== 'failed');

const selected = (columnOf: (column: string) => string): string =>
  FIGURE_ROWS.map(({ name, column }) => `${columnOf(column)} AS ${name}`).join(', ');

export const FIGURES_OF_JOBS = selected((column) =>
  column === 'failed' ? 'finished - succeeded' : column,
);
export const FIGURES_OF_EVENTS = selected((column) => column);
