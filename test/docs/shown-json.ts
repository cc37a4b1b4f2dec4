/** Compares an answer with the one that a page shows. */
import { expect } from 'vitest';

/** Stands for `...`: further elements or fields, or any text. */
const REST = '...';
const NAMES = [
  /^job_[\w-]{24}$/,
  /^msg_[\w-]+$/,
  /^local-[0-9a-f]{8}$/,
  /^\/v1\/annotated\/[0-9a-f]{32}\.jpg$/,
];
/** Fields whose values depend on the machine or on the moment: their type is compared. */
const VARIES =
  /^(node_id|precision|digest|model_digest|reason|resources|available_cpus|total_cpus|images_per_second|memory_bytes|seq|at|bytes|timestamp|next_cursor|request_id|\w+(_at|_ms|Ms))$/;
const BOX_PIXELS = 3;
const BOX_KEYS = ['box', 'x_min', 'y_min', 'x_max', 'y_max'];
const CONFIDENCE = 0.03;

/** Each JSON value of `text`, one after the other. */
export function jsonValues(text: string): unknown[] {
  const values: unknown[] = [];
  const open: string[] = [];
  let json = '';
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|\.\.\.|[{}[\]]|[^"{}[\].]+|\./gs)) {
    if (token === REST) json += open.at(-1) === '{' ? `"${REST}${json.length}":0` : `"${REST}"`;
    else json += token.replaceAll('\n', ' ');
    if (token === '{' || token === '[') open.push(token);
    if (token === '}' || token === ']') open.pop();
    if (open.length > 0 || json.trim() === '') continue;
    values.push(JSON.parse(json));
    json = '';
  }
  return values;
}

/** Names that were made anew, by those that the pages show. */
export class Names {
  readonly #actual = new Map<string, string>();

  set(shown: string, actual: string): void {
    this.#actual.set(shown, actual);
  }

  /** `text` with the names of this run. */
  replaceIn(text: string): string {
    return [...this.#actual].reduce((all, [shown, actual]) => all.replaceAll(shown, actual), text);
  }
}

/** Fails with the place where `actual` does not match `shown`; remembers the names that are shown. */
export function expectShown(shown: unknown, actual: unknown, names: Names, place = ''): void {
  const key = place.split('.').at(-1)!;
  if (Array.isArray(shown)) expectArray(shown, actual, names, place);
  else if (typeof shown === 'object' && shown !== null) expectObject(shown, actual, names, place);
  else if (typeof shown === 'string') expectText(shown, actual, names, place);
  else if (isVarying(place)) expect(typeof actual, place).toBe(typeof shown);
  else if (typeof shown === 'number' && key === 'confidence')
    expectNear(shown, actual, CONFIDENCE, place);
  else if (typeof shown === 'number' && BOX_KEYS.includes(key))
    expectNear(shown, actual, BOX_PIXELS, place);
  else expect(actual, place).toBe(shown);
}

const isVarying = (place: string) => place.split('.').some((key) => VARIES.test(key));

function expectArray(shown: unknown[], actual: unknown, names: Names, place: string): void {
  expect(Array.isArray(actual), `${place} is an array`).toBe(true);
  const elements = actual as unknown[];
  const isCut = shown.at(-1) === REST;
  const kept = isCut ? shown.slice(0, -1) : shown;
  if (isCut) expect(elements.length, `${place}, length`).toBeGreaterThanOrEqual(kept.length);
  else expect(elements, `${place}, length`).toHaveLength(kept.length);
  kept.forEach((each, index) => {
    expectShown(each, elements[index], names, place);
  });
}

function expectObject(shown: object, actual: unknown, names: Names, place: string): void {
  expect(actual, place).toBeTypeOf('object');
  expect(actual, place).not.toBeNull();
  const fields = Object.entries(shown).filter(([name]) => !name.startsWith(REST));
  const isCut = fields.length < Object.keys(shown).length;
  if (!isCut) {
    expect(Object.keys(actual as object).toSorted(), `fields of ${place}`).toEqual(
      fields.map(([name]) => name).toSorted(),
    );
  }
  for (const [name, value] of fields) {
    const at = place === '' ? name : `${place}.${name}`;
    expectShown(value, (actual as Record<string, unknown>)[name], names, at);
  }
}

function expectText(shown: string, actual: unknown, names: Names, place: string): void {
  const name = NAMES.find((pattern) => pattern.test(shown));
  if (name !== undefined) {
    const known = names.replaceIn(shown);
    if (known === shown) expect(actual, place).toMatch(name);
    else expect(actual, place).toBe(known);
    names.set(shown, actual as string);
  } else if (isVarying(place) || shown.endsWith(REST)) {
    expect(typeof actual, place).toBe('string');
  } else {
    expect(actual, place).toBe(shown);
  }
}

function expectNear(shown: number, actual: unknown, tolerance: number, place: string): void {
  expect(Math.abs((actual as number) - shown), `${place}: ${String(actual)}`).toBeLessThan(
    tolerance,
  );
}
