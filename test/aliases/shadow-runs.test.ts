/** When shadows run and what they leave out, with a detector whose answers the test gives. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { AgreementWindow } from '../../src/aliases/agreement-window.js';
import { ShadowRuns, type ShadowOutcome } from '../../src/aliases/shadow-runs.js';
import { LatticeError } from '../../src/api/errors.js';
import type { ImageResult } from '../../src/api/schemas/image.js';
import type { StoredAlias } from '../../src/store/alias-rows.js';
import { DEFAULT_PARAMETERS } from '../../src/api/options.js';
import type { DetectRequest } from '../../src/execution/detector.js';
import { silent } from '../support/silent-logger.js';
import { eventual } from '../support/eventually.js';
import { oneCar, ScriptedDetector } from '../support/scripted-detector.js';

const ALIAS: StoredAlias = {
  name: 'depot.pt',
  version: 1,
  storedAt: 0,
  before: null,
  model: 'first.pt',
  canary: null,
  shadow: 'second.pt',
};
const ANSWERED: ImageResult = { ...oneCar, model: 'first.pt' };
const LATE: ImageResult = {
  ...ANSWERED,
  detections: [{ box: [300, 300, 400, 400], confidence: 0.9, class: 'car' }],
};

let detector: ScriptedDetector;
let shadows: ShadowRuns;
let outcomes: ShadowOutcome[];
let present: StoredAlias | undefined;

beforeEach(() => {
  detector = new ScriptedDetector();
  outcomes = [];
  present = ALIAS;
  shadows = new ShadowRuns({
    detector,
    find: () => present,
    logger: silent,
    onPicture: (_alias, outcome) => outcomes.push(outcome),
  });
});
afterEach(() => {
  shadows.close();
});

const requestOf = (path: string, more: Partial<DetectRequest> = {}): DetectRequest => ({
  path,
  kind: 'sync',
  options: { ...DEFAULT_PARAMETERS, modelName: 'first.pt', classes: null },
  ...more,
});
const offer = (path: string, more: Partial<DetectRequest> = {}, answered = ANSWERED) => {
  shadows.offer(ALIAS, requestOf(path, more), answered);
};
const paths = () => detector.requests.map(({ path }) => path);

test('a shadow runs alone, with the lowest priority, once nothing else is in the detector', async () => {
  const end = shadows.foreground();
  for (const path of ['a', 'b', 'c']) offer(path);
  let inHand = 0;
  let most = 0;
  detector.answer = async () => {
    inHand += 1;
    most = Math.max(most, inHand);
    await Promise.resolve();
    inHand -= 1;
    return { ...ANSWERED, model: 'second.pt' };
  };
  // More than twice the time after which an idle service is idle.
  await new Promise((resolve) => setTimeout(resolve, 60));
  expect(paths()).toEqual([]);
  end();
  await eventual(() => outcomes).toEqual(['compared', 'compared', 'compared']);
  expect({ paths: paths(), most }).toEqual({ paths: ['a', 'b', 'c'], most: 1 });
  expect(detector.requests[0]).toMatchObject({ kind: 'async', priority: 0 });
  expect(detector.requests[0]?.options.modelName).toBe('second.pt');
  expect(shadows.agreement(ALIAS, null)).toMatchObject({ pictures: 3, share: 1 });
});

test('of pictures that wait the oldest are dropped, also where they take too much memory', async () => {
  const end = shadows.foreground();
  for (let index = 0; index < 40; index += 1) offer(`p${index}`);
  expect(outcomes).toEqual(Array.from({ length: 8 }, () => 'dropped'));
  const image = Buffer.alloc(20 * 1024 * 1024);
  offer('large', { image });
  offer('larger', { image });
  end();
  await eventual(() => outcomes.length).toBe(42);
  expect(paths()).toEqual(['larger']);
  expect(shadows.agreement(ALIAS, null)).toMatchObject({ pictures: 1, dropped: 41 });
});

test('what the canary answered is not compared, nor is a picture that was replaced', async () => {
  offer('a', {}, { ...ANSWERED, model: 'canary.pt' });
  const file = { size: 1, modifiedNs: '1', changedNs: '1', device: '1', inode: '1', readAt: 1 };
  detector.answer = () => Promise.resolve({ ...ANSWERED, file: { ...file, changedNs: '2' } });
  offer('b', {}, { ...ANSWERED, file });
  await eventual(() => outcomes).toEqual(['dropped']);
  expect(paths()).toEqual(['b']);
});

test('a shadow that fails is counted with its reason; a busy worker only drops its picture', async () => {
  detector.answer = ({ path }) =>
    Promise.reject(new LatticeError(path === 'a' ? 'invalid_model' : 'overloaded', `at ${path}`));
  offer('a');
  offer('b');
  await eventual(() => outcomes).toEqual(['failed', 'dropped']);
  const { failed, dropped, lastError } = shadows.agreement(ALIAS, null);
  expect({ failed, dropped, reason: lastError?.message }).toEqual({
    failed: 1,
    dropped: 1,
    reason: 'at a',
  });
});

test('pictures of another key count and are not named', () => {
  const window = new AgreementWindow(ALIAS);
  window.add(requestOf('mine', { keyId: 'me' }), ANSWERED, LATE);
  window.add(requestOf('theirs', { keyId: 'they' }), ANSWERED, LATE);
  const { pictures, least, share } = window.report('me');
  expect({ pictures, share }).toEqual({ pictures: 2, share: 0 });
  expect(least.map(({ picture }) => picture.path)).toEqual(['mine']);
  expect(window.report(null).least).toEqual([]);
});

test('a shadow is flagged by the latest 50 pictures, once they have enough boxes', () => {
  const window = new AgreementWindow(ALIAS);
  for (let index = 0; index < 100; index += 1) window.add(requestOf('a'), ANSWERED, ANSWERED);
  expect({ share: window.latestShare, flagged: window.isFlagged }).toEqual({
    share: 1,
    flagged: false,
  });
  let bad = 0;
  for (; !window.isFlagged && bad < 50; bad += 1) window.add(requestOf('b'), ANSWERED, LATE);
  expect(bad).toBe(6);
  const fresh = new AgreementWindow(ALIAS);
  for (let index = 0; index < 9; index += 1) fresh.add(requestOf('b'), ANSWERED, LATE);
  expect(fresh.isFlagged).toBe(false);
  fresh.add(requestOf('b'), ANSWERED, LATE);
  expect(fresh.isFlagged).toBe(true);
});

test('pictures of a file that was replaced are not in the report', () => {
  const window = new AgreementWindow(ALIAS);
  const of = (modelDigest: string, result: ImageResult) => ({ ...result, modelDigest });
  const first = of('a', ANSWERED);
  for (let index = 0; index < 30; index += 1) window.add(requestOf('old'), first, of('b', LATE));
  expect(window.isFlagged).toBe(true);
  for (let index = 0; index < 10; index += 1)
    window.add(requestOf('new'), first, of('c', ANSWERED));
  expect(window.report(null)).toMatchObject({
    ...{ pictures: 10, share: 1, latestShare: 1, flagged: false, least: [] },
  });
  // A copy in 8 bits is the same model.
  window.add(requestOf('new'), first, { ...of('d', ANSWERED), quantizedFrom: 'c' });
  expect(window.report(null).pictures).toBe(11);
});

test('a shadow that has ended has no figure, and an answer begun before the end is not compared', async () => {
  for (let index = 0; index < 10; index += 1) offer(`${index}`);
  await eventual(() => shadows.shares()).toEqual([{ alias: 'depot.pt', share: 1 }]);
  present = { ...ALIAS, shadow: 'third.pt', version: 2 };
  expect(shadows.shares()).toEqual([]);
  offer('late');
  expect(shadows.agreement(present, null)).toMatchObject({ pictures: 0, latestShare: null });
  present = undefined;
  expect(shadows.shares()).toEqual([]);
  expect(paths()).toHaveLength(10);
});
