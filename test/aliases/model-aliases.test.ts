/** Two changes of one alias at a time, over the real store: one loads its models while the other is stored. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { ModelAliases } from '../../src/aliases/model-aliases.js';
import { openStore, type ServiceStore } from '../../src/store/service-store.js';
import { TemporaryFolder } from '../jobs/job-folder.js';
import { ScriptedDetector } from '../support/scripted-detector.js';

const NAME = 'depot.pt';
const TRIAL = { model: 'first.pt', canary: null, shadow: 'slow.pt' };
const standsFor = (model: string) => ({ model, canary: null, shadow: null });

let folder: TemporaryFolder;
let store: ServiceStore;
let aliases: ModelAliases;
/** A load of `slow.pt` waits for it. */
let loading: Promise<void>;
let endLoading: () => void;

beforeEach(async () => {
  folder = new TemporaryFolder();
  store = await openStore(folder.path);
  const detector = new ScriptedDetector();
  const models = {
    prepare: async (name: string) => {
      if (name === 'slow.pt') await loading;
      return detector.prepare('yolov8n.pt');
    },
  };
  aliases = new ModelAliases(store, models, await store.aliases());
  loading = Promise.resolve();
  await aliases.put(NAME, standsFor('slow.pt'));
  await aliases.put(NAME, TRIAL);
  loading = new Promise((resolve) => (endLoading = resolve));
});
afterEach(async () => {
  endLoading();
  await store.close();
  folder[Symbol.dispose]();
});

const changes: [string, () => Promise<unknown>][] = [
  ['a promotion', () => aliases.promote(NAME)],
  ['a rollback', () => aliases.rollBack(NAME)],
  ['a replacement', () => aliases.put(NAME, standsFor('slow.pt'))],
];

test.each(changes)('%s that began before another change is refused', async (_what, change) => {
  const refused = expect(change()).rejects.toMatchObject({ code: 'alias_changed' });
  await aliases.put(NAME, standsFor('other.pt'));
  endLoading();
  await refused;
  const present = { version: 3, model: 'other.pt', shadow: null };
  expect(aliases.find(NAME)).toMatchObject(present);
  expect(await store.aliases()).toMatchObject([present]);
});

test('one that began before the alias was deleted does not bring it back', async () => {
  const refused = expect(aliases.promote(NAME)).rejects.toThrow("'depot.pt' was deleted while");
  await aliases.remove(NAME);
  endLoading();
  await refused;
  expect(await store.aliases()).toEqual([]);
});

test('of two that make one alias the later one is refused', async () => {
  const refused = expect(aliases.put('new.pt', standsFor('slow.pt'))).rejects.toMatchObject({
    code: 'alias_changed',
  });
  await aliases.put('new.pt', standsFor('other.pt'));
  endLoading();
  await refused;
  expect(aliases.find('new.pt')).toMatchObject({ version: 1, model: 'other.pt' });
});

test('two that want the same both succeed, with one new version', async () => {
  const both = [aliases.promote(NAME), aliases.promote(NAME)];
  endLoading();
  for (const alias of await Promise.all(both)) {
    expect(alias).toMatchObject({ version: 3, model: 'slow.pt', shadow: null });
  }
});
