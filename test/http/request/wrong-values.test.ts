/** Every field of every request says in the words of the interface what it must be. */
import { expect, test } from 'vitest';
import { validate } from '../../../src/http/request/validation.js';
import { clientMessageSchema } from '../../../src/stream/stream-messages.js';
import { REGIONS } from '../../support/asked-options.js';
import { compose, get, post, submitted, type Harness } from '../../support/composed-app.js';

interface Schema {
  $ref?: string;
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  items?: Schema;
  prefixItems?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
}
interface Operation {
  requestBody?: { content: Record<string, { schema: Schema }> };
  parameters?: { name: string; in: string }[];
}

interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

const app = compose();
const document = (await get(app, '/openapi.json')).body as Document;
const operationsOf = ({ paths }: Document, of: Harness) =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ of, path, method, operation })),
  );

/** With the routes of LATTICE_COMPAT, of which a service has one kind. */
const operations = operationsOf(document, app);
for (const compat of ['deepstack', 'cvat', 'label-studio'] as const) {
  const other = compose({ compat });
  const more = (await get(other, '/openapi.json')).body as Document;
  Object.assign(document.components.schemas, more.components.schemas);
  operations.push(...operationsOf(more, other).filter(({ path }) => !(path in document.paths)));
}

const WRONG = [null, true, -1, 1e12, 'x y', '', [], [[]], {}, { a: 1 }, [1, 2, 3]];
const DEEPEST = 7;

/** Makes a body whose one field has the value. */
type Place = (value: unknown) => unknown;

/** Where a value can stand in a body of the schema. */
function placesOf(schema: Schema, place: Place = (value) => value, depth = 0): Place[] {
  if (depth > DEEPEST) return [];
  const { $ref, properties = {}, additionalProperties, items, prefixItems = [] } = schema;
  const named = $ref === undefined ? [] : [document.components.schemas[$ref.split('/').at(-1)!]!];
  const forms = [
    ...named,
    ...(schema.anyOf ?? []),
    ...(schema.oneOf ?? []),
    ...(schema.allOf ?? []),
  ];
  const inside: [Schema, Place][] = [
    ...Object.entries(properties).map(([name, inner]): [Schema, Place] => [
      inner,
      (value) => ({ [name]: value }),
    ]),
    ...[items, ...prefixItems].flatMap((inner): [Schema, Place][] =>
      inner === undefined ? [] : [[inner, (value) => [value]]],
    ),
  ];
  if (typeof additionalProperties === 'object') {
    inside.push([additionalProperties, (value) => ({ key: value })]);
  }
  return [
    place,
    ...forms.flatMap((form) => placesOf(form, place, depth + 1)),
    ...inside.flatMap(([inner, wrap]) => placesOf(inner, (value) => place(wrap(value)), depth + 1)),
  ];
}

/** Words of the library that checks, and of the language that it is written in. */
const FOREIGN =
  /\binvalid\b|expected|received|tuple|undefined|\bNaN\b|unrecognized|too (big|small)|optional|discriminator|\bunion\b|\brecord\b|\[object|no value of this field/i;

const details = ({ body }: { body: { detail: string; errors?: { detail: string }[] } }) => [
  body.detail,
  ...(body.errors ?? []).map(({ detail }) => detail),
];

const jobId = await submitted(app);
await post(app, '/v1/views/north', { regions: REGIONS }, {}, 'PUT');
const ID: Record<string, string> = { job_id: jobId };
const addressOf = (path: string) =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => ID[name] ?? 'north');

const bodies = operations.flatMap(({ of, path, method, operation }) => {
  const schema = operation.requestBody?.content['application/json']?.schema;
  return schema === undefined
    ? []
    : [[`${method.toUpperCase()} ${path}`, { of, path, method, schema }] as const];
});

test.each(bodies)('%s', async (_, { of, path, method, schema }) => {
  const sent = new Set(
    placesOf(schema).flatMap((place) => WRONG.map((value) => JSON.stringify(place(value)))),
  );
  let refused = 0;
  for (const text of sent) {
    const answer = await post(of, addressOf(path), text, {}, method.toUpperCase());
    expect(answer.status, text).toBeLessThan(500);
    if (answer.status !== 422) continue;
    refused += 1;
    for (const detail of details(answer)) expect(`${text}: ${detail}`).not.toMatch(FOREIGN);
  }
  expect(refused).toBeGreaterThan(0);
});

const queries = operations.flatMap(({ of, path, method, operation }) => {
  const names = (operation.parameters ?? [])
    .filter((one) => one.in === 'query')
    .map((one) => one.name);
  return names.length === 0
    ? []
    : [[`${method.toUpperCase()} ${path}`, { of, path, method, names }] as const];
});

test.each(queries)('the query of %s', async (_, { of, path, method, names }) => {
  const texts = ['', 'x y', '-1', '1e12', '[]', '{}', '[[1]]', 'true', '{"a":1}'];
  for (const name of [...names, 'other']) {
    for (const text of texts) {
      const query = new URLSearchParams([[name, text]]).toString();
      const answer = await get(of, `${addressOf(path)}?${query}`, {}, method.toUpperCase());
      expect(answer.status, query).toBeLessThan(500);
      if (answer.status !== 422) continue;
      for (const detail of details(answer)) expect(`${query}: ${detail}`).not.toMatch(FOREIGN);
    }
  }
});

const detect = async (fields: object) => {
  const answer = await post(app, '/v1/inference/detect', { image_path: 'a.jpg', ...fields });
  return answer.body.errors as { detail: string; pointer: string }[];
};
const CORNER = 'A corner is [x, y] in shares of the width and height of the picture, each 0 to 1.';
const FORMS =
  'Tiles are "off", "auto", {"columns": 3, "rows": 2} or {"size": 640}; an "overlap" beside columns and rows or size is 0 to 0.5.';

test.each([
  [{ polygon: [[0.1, 0.1], [0.9, 0.1], [320, 240]] }, 'polygon.2.0'], // prettier-ignore
  [{ polygon: [[0.1, 0.1], [0.9, 0.1], 320] }, 'polygon.2'], // prettier-ignore
  [{ polygon: [[0.1, 0.1], [0.9, 0.1], [0.5]] }, 'polygon.2'], // prettier-ignore
])('a region of %j names its wrong corner', async (region, place) => {
  const regions = [{ name: 'gate', ...region }];
  const [first] = await detect({ regions });
  const path = `regions.0.${place}`;
  expect(first).toEqual({
    detail: `${path}: ${CORNER}`,
    pointer: `#/${path.replaceAll('.', '/')}`,
  });
});

test.each([
  ['3x2', `tiles: ${FORMS}`],
  [{}, `tiles: ${FORMS}`],
  [{ columns: 3, rows: 65 }, 'tiles.rows: It must be at most 64.'],
  [{ columns: 9, rows: 9 }, 'tiles: A grid has at most 64 tiles.'],
  [{ columns: 3 }, "Field 'tiles.rows' is missing."],
  [{ size: 640, overlap: 0.7 }, 'tiles.overlap: It must be at most 0.5.'],
])('tiles %j', async (tiles, detail) => {
  expect((await detect({ tiles })).map((item) => item.detail)).toContain(detail);
});

test('a value of the wrong type is not told its length', async () => {
  expect(await detect({ image_path: [] })).toEqual([
    { detail: 'image_path: It must be a text.', pointer: '#/image_path' },
  ]);
});

test.each([
  [{ action: 'stop' }, 'action: It must be one of ping, submit, subscribe, unsubscribe.'],
  [{ action: 'ping', id: true }, 'id: It must be a text or a number.'],
  [{ action: 'subscribe', job_ids: 'all' }, 'job_ids: It must be a list.'],
])('a frame %j', (frame, detail) => {
  expect(() => validate(clientMessageSchema, frame)).toThrow(detail);
});
