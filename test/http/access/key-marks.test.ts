/** Marks of the key file: what they allow, and that no name is read as one. */
import { describe, expect, test } from 'vitest';
import { ApiKeys } from '../../../src/http/access/api-keys.js';
import { ConfigError } from '../../../src/settings/config.js';
import { compose, get, post } from '../../support/composed-app.js';

const ALICE = 'lat_alice_0123456789abcdef';
const BOB = 'lat_bob_0123456789abcdef';
const as = (key: string) => ({ authorization: `Bearer ${key}` });
const parse = (...rows: string[]) => ApiKeys.parse(rows.join('\n'));
const ofAlice = (row: string) => {
  const keys = parse(row);
  const id = keys.find(ALICE) ?? '';
  return { marks: keys.marks.get(id), hasAdmin: keys.hasAdmin, name: keys.nameOf(id) };
};

describe('a row', () => {
  test.each([
    [`${ALICE} [admin] Alice`, { marks: {}, hasAdmin: true, name: 'Alice' }],
    [
      `${ALICE}\t[store=25% , uploads=12.5%,requests=50]`,
      { marks: { store: 0.25, uploads: 0.125, requests: 50 }, hasAdmin: false },
    ],
    [`${ALICE} [jobs=100% watches=1%] a b`, { marks: { jobs: 1, watches: 0.01 }, name: 'a b' }],
    [`${ALICE} []`, { marks: {}, hasAdmin: false }],
  ])('%s', (row, expected) => {
    expect(ofAlice(row)).toMatchObject(expected);
  });

  test.each(['admin', 'Alice admin store=25%', 'Alice [admin]', 'north gate (admin) @admin', ''])(
    'the name %j is a name and no mark',
    (name) => {
      const { marks, hasAdmin, name: read } = ofAlice(`${ALICE}  ${name}`);
      expect({ marks, hasAdmin }).toEqual({ marks: {}, hasAdmin: false });
      if (name !== '') expect(read).toBe(name);
    },
  );

  test.each([
    ['[admn]', "'admn' is no mark"],
    ['[Alice]', "a name does not begin with '['"],
    ['[store]', 'as in store=25%'],
    ['[store=25]', 'above 0% and at most 100%'],
    ['[store=101%]', 'above 0% and at most 100%'],
    ['[store=0%]', 'above 0% and at most 100%'],
    ['[requests=50%]', 'a number above 0'],
    ['[admin admin]', "'admin' stands there twice"],
    ['[admin=yes]', 'is no mark'],
    ['[metrics admin]', 'has no other mark'],
    ['[admin', "end with ']'"],
  ])('%s is refused with its line and without the key', (marks, reason) => {
    const read = () => parse('# keys', `${BOB} bob`, `${ALICE} ${marks} Alice`);
    expect(read).toThrow(ConfigError);
    expect(read).toThrow(reason);
    expect(read).toThrow('line 3');
    expect(read).not.toThrow(ALICE);
  });
});

interface Document {
  paths: Record<string, Record<string, { description?: string }>>;
}
const document = (await get(compose(), '/openapi.json')).body as Document;

test('a key for metrics reads metrics, nothing else, and takes no share', async () => {
  const apiKeys = parse(`${ALICE} alice`, `${BOB} [metrics] prometheus`);
  expect(apiKeys.marks.size).toBe(1);
  const app = compose({}, { apiKeys });
  expect((await get(app, '/metrics', as(BOB))).status).toBe(200);
  for (const path of Object.keys(document.paths).filter((each) => each.startsWith('/v1/'))) {
    if (path === '/v1/stream') continue;
    const answer = await get(app, path, as(BOB));
    expect([path, answer.status, answer.body.code]).toEqual([path, 403, 'forbidden']);
  }
});

describe('admin', () => {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { description = '' }]) => ({
      path,
      method,
      isForAdmin: description.includes('only those may call it'),
    })),
  );
  const forAdmin = operations.filter(({ isForAdmin }) => isForAdmin);
  const ask = (apiKeys: ApiKeys, key: string, { path, method }: (typeof operations)[number]) => {
    const address = path.replace(/\{\w+\}/g, 'yolov8n');
    const body = { model: 'yolov8n' };
    return post(compose({}, { apiKeys }), address, body, as(key), method.toUpperCase());
  };

  test('is needed for every route that changes models or aliases, and for no other', () => {
    const changes = operations.filter(
      ({ path, method }) => path.startsWith('/v1/models') && method !== 'get',
    );
    expect(changes.length).toBeGreaterThan(4);
    expect(forAdmin).toEqual(changes);
  });

  test.each(forAdmin)('$method $path is refused to other keys', async (operation) => {
    const marked = parse(`${ALICE} [admin] alice`, `${BOB} bob`);
    expect(await ask(marked, BOB, operation)).toMatchObject({
      status: 403,
      body: { code: 'forbidden', detail: expect.stringContaining('the mark admin') },
    });
    expect((await ask(marked, ALICE, operation)).status).not.toBe(403);
    const unmarked = parse(`${ALICE} alice`, `${BOB} [jobs=50%] bob`);
    expect((await ask(unmarked, BOB, operation)).status).not.toBe(403);
  });
});
