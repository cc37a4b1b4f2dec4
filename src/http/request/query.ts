/** Parameters of a query: each once, checked by a schema of texts. */
import { z } from '@hono/zod-openapi';
import { validate, validationFailed } from './validation.js';

/** Throws `validation_failed` for unknown, repeated or wrong parameters. */
export function readQuery<T extends z.ZodType>(
  schema: T,
  given: Record<string, string[]>,
): z.output<T> {
  const repeated = Object.keys(given).filter((name) => (given[name]?.length ?? 0) > 1);
  if (repeated.length > 0) {
    throw validationFailed(
      repeated.map((name) => ({ detail: `${name} is given more than once.` })),
    );
  }
  const flat = Object.fromEntries(Object.entries(given).map(([name, values]) => [name, values[0]]));
  return validate(schema, flat, null);
}

/** A whole number as text; `what` names it in the message. */
export function wholeNumber(what: string, least: number, most: number) {
  const error = `${what} is ${least} to ${most}.`;
  return z
    .string()
    .regex(/^\d{1,6}$/, { error })
    .transform(Number)
    .pipe(z.int().min(least, { error }).max(most, { error }))
    .openapi({ type: 'integer', minimum: least, maximum: most });
}
