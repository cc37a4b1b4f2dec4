/** Schemas of the labels of jobs, from their rows: in requests and in answers. */
import { z } from 'zod';
import { LABEL_ROWS, type JobLabels, type LabelRow } from '../job-labels.js';
import { forOwnPages } from './own-pages.js';

/** Line breaks are among them. */
const CONTROL = /[\p{Cc}\u2028\u2029]/u;
const CONTROL_IN_TEXT = /[^\P{Cc}\t\n\r]/u;
const LONE_SURROGATE = /\p{Surrogate}/u;

/** Characters as people count them in limits, not UTF-16 units. */
const isWithin = (most: number) => (text: string) =>
  text.length <= most || Array.from(text).length <= most;

function plainText(most: number, refused: RegExp, rule: string) {
  return z
    .string()
    .refine(isWithin(most), { error: `It must have at most ${most} characters.` })
    .refine((text) => !refused.test(text), { error: rule })
    .refine((text) => !LONE_SURROGATE.test(text), { error: 'It must be well-formed Unicode.' });
}

const line = (most: number) =>
  plainText(most, CONTROL, 'It has no line breaks and no control characters.');

/** Empty is as good as not given. */
const orNull = (text: string) => (text === '' ? null : text);

function given(row: LabelRow): z.ZodType {
  const description = row.text;
  switch (row.kind) {
    case 'line':
      return line(row.most)
        .overwrite((text) => text.trim())
        .meta({ description, maxLength: row.most, example: 'North gate, Monday' })
        .transform(orNull)
        .nullish();
    case 'text':
      return plainText(row.most, CONTROL_IN_TEXT, 'It has no control characters.')
        .meta({ description, maxLength: row.most })
        .transform(orNull)
        .nullish();
    case 'tags': {
      const tag = line(row.longest)
        .overwrite((text) => text.trim())
        .refine((text) => text !== '', { error: 'A tag has at least one character.' })
        .meta({ minLength: 1, maxLength: row.longest });
      return z
        .array(tag)
        .max(row.most)
        .overwrite((tags) => [...new Set(tags)])
        .meta({ description: `${description}. Each counts once`, example: ['gate'] })
        .nullish();
    }
    case 'keep': {
      const error = `It must be true, false or a number of days from 1 to ${row.mostDays}.`;
      // With names, for generators.
      const days = z.int({ error }).min(1, { error }).max(row.mostDays, { error });
      return z
        .union([z.boolean().meta({ id: 'KeepSwitch' }), days.meta({ id: 'KeepDays' })], { error })
        .meta({ description, example: 30 })
        .nullish();
    }
  }
}

function recorded({ kind, text: description }: LabelRow): z.ZodType {
  switch (kind) {
    case 'line':
    case 'text':
      return z.string().nullable().meta({ description });
    case 'tags':
      return z.array(z.string()).readonly().meta({ description });
    case 'keep':
      return z
        .union([z.boolean().meta({ id: 'KeepSwitch' }), z.int().meta({ id: 'KeepDays' })])
        .meta({ description: 'As it was asked for; false once the days have passed' });
  }
}

const fields = (schema: (row: LabelRow) => z.ZodType) =>
  Object.fromEntries(LABEL_ROWS.map((row) => [row.name, schema(row)])) as unknown;

/** Fields of a request: each may be left out or null. */
export const requestLabels = fields((row) =>
  row.forOwnPages === true ? forOwnPages(given(row)) : given(row),
) as {
  [Name in keyof JobLabels]: z.ZodOptional<z.ZodNullable<z.ZodType<JobLabels[Name]>>>;
};

/** Fields of the record of a job. */
export const recordLabels = fields(recorded) as {
  [Name in keyof JobLabels]: z.ZodType<JobLabels[Name]>;
};
