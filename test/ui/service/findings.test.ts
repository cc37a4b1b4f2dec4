import { expect, test } from 'vitest';
import { serviceState, serviceStateWire } from '../../../src/api/schemas/service-state.js';
import type { ClusterStatus, Model } from '../../../src/client/records.js';
import { findings, type Seen } from '../../../src/ui/service/findings.js';
import { readingOf } from '../../../src/ui/service/reading.js';
import { compose, get } from '../../support/composed-app.js';

const app = compose();
const status = (await get(app, '/v1/cluster/status')).body as ClusterStatus;
const worker = (state: 'ready' | 'unhealthy' | 'lost', reason: string | null) => ({ worker_id: 'w', node_id: 'n', state, reason, device: 'cpu', precision: 'bf16', in_hand: 0, completed: 0, models: [], model_faults: [] as string[] }); // prettier-ignore
const seen = (changes: Partial<Seen> = {}): Seen => ({
  silentFor: null,
  notReady: null,
  status: { ...status, workers: [worker('ready', null)] },
  models: [],
  readings: [],
  ...changes,
});
const texts = (changes: Partial<Seen>) => findings(seen(changes)).map(({ level, text }) => `${level}: ${text}`); // prettier-ignore

test('nothing is wrong', () => {
  expect(texts({})).toEqual([expect.stringMatching(/^good: All is well: 1 worker ready on /)]);
});

test('a service that is away is not well, whatever it said last', () => {
  expect(texts({ silentFor: 95 })).toEqual([
    'bad: The service has not answered for 1 min 35 s: this page shows what it said last.',
  ]);
});

test('the worst comes first', () => {
  const models = [{ name: 'x.pt', state: 'refused', reason: 'wrong task' } as Model];
  expect(texts({ models, notReady: 'the store is full.' })).toEqual([
    'bad: Not ready: the store is full.',
    'warn: x.pt cannot be used: wrong task',
  ]);
});

test('a model whose file was replaced by a bad one', () => {
  const reason = 'The file was replaced, and the new one cannot be used.';
  const models = [{ name: 'x.pt', state: 'ready', reason } as Model];
  expect(texts({ models })).toEqual([`warn: x.pt: ${reason}`]);
});

test('a worker that does not work', () => {
  const one = { ...status, workers: [worker('ready', null), worker('unhealthy', 'it hangs')] };
  expect(texts({ status: one })).toEqual(['warn: 1 of 2 workers does not work: w: it hangs']);
  const all = { ...status, workers: [worker('unhealthy', 'it hangs')] };
  expect(texts({ status: all })).toEqual(['bad: 1 of 1 worker does not work: w: it hangs']);
  const lost = { ...status, workers: [worker('ready', null), worker('lost', 'its node is down')] };
  expect(texts({ status: lost })).toEqual([
    'warn: 1 of 2 workers does not work: w: its node is down',
  ]);
});

test('a head of Ray that does not answer', () => {
  const workers = [worker('ready', null)];
  const silent = (ages: (number | null)[]) => {
    const questions = ['nodes', 'total', 'available'] as const;
    const unanswered = ages.map((age_seconds, index) => ({ question: questions[index]!, age_seconds })); // prettier-ignore
    return texts({ status: { ...status, workers, unanswered } });
  };
  expect(silent([null])).toEqual([expect.stringContaining('has not answered yet')]);
  expect(silent([7.2, 12.4, null])).toEqual([
    'warn: The head of the Ray cluster has not answered for 12.4 s: the numbers of its CPUs are old. Workers and jobs go on.',
  ]);
  expect(silent([])[0]).toMatch(/^good/);
});

test('what the service has too little of, in its words; images that wait are no fault', () => {
  const facts = { cpuWaitRatio: 0.8, load: 31.2, cpus: 2, hangingFolders: 2, waiting: 491 };
  const service = serviceStateWire.toWire(serviceState(facts));
  const workers = [worker('ready', null)];
  expect(texts({ status: { ...status, service, workers } })).toEqual([
    'bad: 2 image folders do not answer.',
    expect.stringMatching(/^warn: The machine is overloaded: .*80 %.*load 31\.2 on 2 CPUs/),
  ]);
});

test('failures of the last minute only, and a queue that does not empty', () => {
  const at = (time: number, failed: number, queueSync: number) => ({ ...readingOf([], time), failures: { image_not_found: failed }, queueSync }); // prettier-ignore
  const old = [at(0, 0, 0), at(10, 9, 0), at(100, 9, 0)];
  expect(texts({ readings: old })[0]).toMatch(/^good/);
  const recent = [at(0, 0, 1), at(10, 9, 3), at(20, 10, 2)];
  expect(texts({ readings: recent })).toEqual([
    'warn: 10 images failed in the last minute: image_not_found.',
    'warn: Requests wait for a worker: more come than the machine can answer at once.',
  ]);
});

test('models that differ between nodes', () => {
  const differs = { ...worker('ready', null), model_faults: ['m.pt is missing.'] };
  const workers = [worker('ready', null), differs];
  expect(findings(seen({ status: { ...status, workers } }))).toEqual([
    {
      level: 'warn',
      text: 'The models of 1 of 2 workers are not those of the service: w on node n: m.pt is missing.',
    },
  ]);
});
