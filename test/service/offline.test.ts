/** Cut off from every network the service starts, detects and shows its documentation. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { PROJECT_ROOT } from '../support/service-process.js';

const cutOff = (command: string) =>
  spawnSync('unshare', ['-rn', 'sh', '-c', `ip link set lo up && ${command}`], {
    cwd: PROJECT_ROOT,
    encoding: 'utf8',
    timeout: 60_000,
  });

const trial = cutOff('true');
const permitted = trial.status === 0;
if (!permitted) {
  const reason = trial.error?.message ?? trial.stderr.trim();
  console.warn(`Left out: no network namespace of our own can be made here (${reason}).`);
}

test.skipIf(!permitted)('no network is needed to start, to detect and to read the docs', () => {
  const run = cutOff(`exec '${process.execPath}' test/support/offline-probe.mjs`);
  expect(run.status, run.stderr).toBe(0);
  const seen = JSON.parse(run.stdout) as {
    interfaces: string[];
    outside: string;
    detection: { status: string; detections: { class: string }[] };
    files: Record<string, number>;
  };
  expect(seen.interfaces).toEqual(['lo']);
  expect(seen.outside).toBe('ENETUNREACH');
  expect(seen.detection.status).toBe('success');
  const street = join(PROJECT_ROOT, 'models', 'demo', 'street.json');
  const known = JSON.parse(readFileSync(street, 'utf8')) as { boxes: { class: string }[] };
  const classes = (boxes: { class: string }[]) => boxes.map((box) => box.class).sort();
  expect(classes(seen.detection.detections)).toEqual(classes(known.boxes));
  expect(seen.files).toEqual({
    '/ui': 200,
    '/docs/page.css': 200,
    '/docs/favicon-32x32.png': 200,
    '/docs/swagger-ui.css': 200,
    '/docs/swagger-ui-bundle.js': 200,
    '/docs/start.js': 200,
    '/openapi.json': 200,
  });
});
