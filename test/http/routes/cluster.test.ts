import { expect, test } from 'vitest';
import { compose, get } from '../../support/composed-app.js';

test('a worker that is lost is listed with its reason beside those that run', async () => {
  const lost = {
    workerId: 'w-1',
    nodeId: 'n-1',
    state: 'lost',
    reason: 'Its node is down.',
  } as const;
  const detector = { workers: () => [], modelDigests: () => ({}) };
  const app = compose({}, { cluster: { gate: null, detector, absent: () => [lost] } });
  const { workers } = (await get(app, '/v1/cluster/status')).body as { workers: object[] };
  expect(workers.at(-1)).toMatchObject({
    worker_id: 'w-1',
    node_id: 'n-1',
    state: 'lost',
    reason: 'Its node is down.',
    in_hand: 0,
  });
});
