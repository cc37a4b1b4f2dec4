/** The receiver that docs/webhooks.md shows must accept what is sent and nothing else. */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { DEFAULT_SCHEDULE } from '../../src/webhooks/delivery-verdict.js';
import { composeMessage, createSigner } from '../../src/webhooks/webhook-message.js';

const page = readFileSync(new URL('../../docs/webhooks.md', import.meta.url), 'utf8');
const python = /```python\n(.*?)```/s.exec(page)?.[1] ?? '';
const hasPython = spawnSync('python3', ['--version']).status === 0;
if (!hasPython) console.warn('python3 is absent: the Python receiver of the docs is not run.');

const SECRET = `whsec_${randomBytes(32).toString('base64')}`;
const OTHER = `whsec_${randomBytes(32).toString('base64')}`;
const delivery = {
  deliveryId: 'msg_1',
  jobId: 'job-1',
  url: 'http://a/',
  host: 'h',
  attempt: 0,
  createdAt: 0,
  news: null,
};

function pythonAccepts(secrets: string, sentAt: Date, change: (body: string) => string = String) {
  const { headers, body } = composeMessage(
    delivery,
    { type: 'job.completed', json: '{"job_id":"ü"}' },
    sentAt,
    createSigner(secrets),
  );
  const script = `${python.split('class Receiver')[0]!}
import sys
message = json.load(sys.stdin)
print(verify(message["headers"], message["body"].encode()))`;
  const run = spawnSync('python3', ['-c', script], {
    encoding: 'utf8',
    input: JSON.stringify({ headers, body: change(body) }),
    env: { ...process.env, LATTICE_WEBHOOK_SECRET: SECRET },
  });
  expect(run.stderr).toBe('');
  return run.stdout.trim();
}

test.skipIf(!hasPython)('the Python receiver accepts what is genuine and nothing else', () => {
  const now = new Date();
  expect(pythonAccepts(SECRET, now)).toBe('True');
  expect(pythonAccepts(`${OTHER} ${SECRET}`, now)).toBe('True');
  expect(pythonAccepts(OTHER, now)).toBe('False');
  expect(pythonAccepts('', now)).toBe('False');
  expect(pythonAccepts(SECRET, now, (body) => body.replace('job_id', 'job_ID'))).toBe('False');
  expect(pythonAccepts(SECRET, new Date(now.getTime() - 400_000))).toBe('False');
});

test('the table of waits is the schedule', () => {
  const units: Record<string, number> = { s: 1, min: 60, h: 3600 };
  const cells =
    /Wait before it(.*)/
      .exec(page)?.[1]
      ?.split('|')
      .map((text) => text.trim())
      .filter(Boolean) ?? [];
  const seconds = cells.map((text) => {
    const [amount = '', unit = ''] = text.split(' ');
    return text === 'none' ? 0 : Number(amount) * (units[unit] ?? NaN);
  });
  expect(seconds).toEqual(DEFAULT_SCHEDULE);
});
