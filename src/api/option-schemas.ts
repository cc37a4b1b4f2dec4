/** Schemas of the options, from their rows: in worker frames, in requests and in answers. */
import { z } from 'zod';
import {
  PARAMETER_ROWS,
  type DetectionParameters,
  type ParameterRow,
  type WireParameters,
} from './options.js';

const MOST_PIXELS = 100_000;
const MOST_NAME = 200;

/** Fields by their names here or over HTTP. */
const fields = (name: 'name' | 'wireName', schema: (row: ParameterRow) => z.ZodType) =>
  Object.fromEntries(PARAMETER_ROWS.map((row) => [row[name], schema(row)])) as unknown;

const fraction = z.number().min(0).max(1);

function plain({ kind }: ParameterRow): z.ZodType {
  switch (kind) {
    case 'switch':
      return z.boolean().nullable();
    case 'count':
      return z.int();
    case 'fraction':
    case 'size':
      return z.number();
    case 'fractions':
      return z.record(z.string(), z.number());
  }
}

function ranged(row: ParameterRow): z.ZodType {
  switch (row.kind) {
    case 'switch':
      return z.boolean();
    case 'count':
      return z.int().min(1).max(row.most);
    case 'fraction':
      return fraction;
    case 'size':
      return z.number().min(0).max(MOST_PIXELS);
    case 'fractions':
      return z.record(z.string().min(1).max(MOST_NAME), fraction);
  }
}

function described({ text, ...row }: ParameterRow): Record<string, unknown> {
  if (row.kind === 'switch') return { description: text, example: true };
  if (row.kind === 'fractions') return { description: text, example: { truck: 0.6 } };
  // Generated clients send a default that the document names.
  if (row.ofModel === true) return { description: text, example: row.default };
  return { description: text, default: row.default, example: row.default };
}

export const detectOptionsSchema = z.object({
  modelName: z.string(),
  classes: z.array(z.string()).readonly().nullable(),
  ...(fields('name', plain) as {
    [Key in keyof DetectionParameters]: z.ZodType<DetectionParameters[Key]>;
  }),
});

/** Of a request: each may be left out or null. */
export const requestParameters = fields('wireName', (row) =>
  ranged(row).meta(described(row)).nullish(),
) as {
  [Key in keyof WireParameters]: z.ZodOptional<z.ZodNullable<z.ZodType<WireParameters[Key]>>>;
};

/** Of the record of a job. */
export const recordParameters = fields('wireName', plain) as {
  [Key in keyof WireParameters]: z.ZodType<WireParameters[Key]>;
};
