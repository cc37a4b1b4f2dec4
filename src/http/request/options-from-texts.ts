/** Options that come as texts, in a query or a form, as the JSON of a request has them. */
import { z } from '@hono/zod-openapi';
import { numberOf, readOption, truthOf } from '../../api/option-kinds.js';
import { PARAMETER_ROWS, type ParameterRow } from '../../api/options.js';
import { jsonList, splitList } from '../../base/text-list.js';
import { validationFailed } from './validation.js';

const KINDS: ReadonlyMap<string, ParameterRow['kind']> = new Map(
  PARAMETER_ROWS.map(({ wireName, kind }) => [wireName, kind]),
);

/**
 * A list of names is JSON, separated by commas, or repeated; a list of objects is JSON; numbers by name are
 * `car:0.4,truck:0.6` or JSON. An empty text counts as not given: forms send one for an untouched field. A text that is
 * no value of its field's type, and an unknown field, is left for `schema` to refuse. Throws `validation_failed` for
 * another field that is given twice.
 */
export function optionsFromTexts(
  { shape }: { shape: z.core.$ZodShape },
  given: Iterable<readonly [string, string]>,
): Record<string, unknown> {
  const texts = new Map<string, string[]>();
  for (const [name, text] of given) {
    if (text !== '') texts.set(name, [...(texts.get(name) ?? []), text]);
  }
  return Object.fromEntries(
    [...texts].map(([name, values]) => [name, readValue(name, shape[name], values)]),
  );
}

function readValue(
  name: string,
  field: z.core.$ZodType | undefined,
  values: readonly string[],
): unknown {
  const inner = field && unwrapped(field);
  if (inner instanceof z.ZodArray && inner.element instanceof z.ZodString) {
    return values.flatMap((text) => jsonList(text.trim()) ?? splitList(text, ','));
  }
  const [text = ''] = values;
  if (values.length > 1) {
    throw validationFailed([{ detail: `${name} is given more than once.`, pointer: `#/${name}` }]);
  }
  const kind = KINDS.get(name);
  if (kind !== undefined) return readOption(kind, text);
  if (inner instanceof z.ZodNumber) return numberOf(text) ?? text;
  return inner instanceof z.ZodBoolean ? (truthOf(text) ?? text) : text;
}

/** A field without its being optional or nullable. */
export function unwrapped(field: z.core.$ZodType): z.core.$ZodType {
  const isWrapped = field instanceof z.ZodOptional || field instanceof z.ZodNullable;
  return isWrapped ? unwrapped(field.unwrap()) : field;
}
