/**
 * Fields that no web page of another origin may send: what they ask for lasts, takes room on the disk or goes out to
 * another machine. The mark is in the OpenAPI document too, as it is at each operation.
 */
import { z } from 'zod';

export const PAGES_MARK = 'x-pages';

export function forOwnPages<T extends z.ZodType>(field: T): T {
  return field.meta({ ...field.meta(), [PAGES_MARK]: 'own' });
}

/** Names of such fields of the schema that a request has. Null and false are as not given. */
export function sentForOwnPages(value: unknown, { shape }: z.ZodObject): string[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(shape)
    .filter(([, field]) => z.globalRegistry.get(field)?.[PAGES_MARK] !== undefined)
    .map(([name]) => name)
    .filter((name) => ![undefined, null, false].includes(Reflect.get(value, name) as null));
}
