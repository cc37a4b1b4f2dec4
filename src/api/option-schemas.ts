/** Schemas of the options, from their rows: in worker frames, in requests and in answers. */
import { z } from 'zod';
import {
  PARAMETER_ROWS,
  type DetectionParameters,
  type ParameterRow,
  type WireParameters,
} from './options.js';

/** Fields by their names here or over HTTP. */
const fields = (name: 'name' | 'wireName', schema: (row: ParameterRow) => z.ZodType) =>
  Object.fromEntries(PARAMETER_ROWS.map((row) => [row[name], schema(row)])) as unknown;

function plain({ kind }: ParameterRow): z.ZodType {
  if (kind === 'switch') return z.boolean();
  return kind === 'count' ? z.int() : z.number();
}

function ranged(row: ParameterRow): z.ZodType {
  if (row.kind === 'switch') return z.boolean();
  return row.kind === 'count' ? z.int().min(1).max(row.most) : z.number().min(0).max(1);
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
  ranged(row).meta({ description: row.text, default: row.default, example: row.default }).nullish(),
) as {
  [Key in keyof WireParameters]: z.ZodOptional<z.ZodNullable<z.ZodType<WireParameters[Key]>>>;
};

/** Of the record of a job. */
export const recordParameters = fields('wireName', plain) as {
  [Key in keyof WireParameters]: z.ZodType<WireParameters[Key]>;
};
