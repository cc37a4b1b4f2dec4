/** Malformed and unusual files through sync and async in one process: typed answers, no crash, no wrong neighbour. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import {
  hasTestdata,
  PROJECT_ROOT,
  SHARED_TESTDATA,
  startService,
} from '../support/service-process.js';

const ALLOWED_RSS_GROWTH = 64 * 1024 * 1024;

interface Answer {
  detections: unknown[];
  code?: string;
}

async function detect(url: string, path: string): Promise<{ status: number; body: Answer }> {
  const response = await fetch(`${url}/v1/inference/detect`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ image_path: path }),
  });
  const body = (await response.json()) as Answer;
  return { status: response.status, body };
}

function residentBytes(pid: number): number {
  const line = /VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  return Number(line?.[1]) * 1024;
}

describe.runIf(hasTestdata)('odd images', () => {
  test('every file is answered and the next good image is right', async () => {
    const odd = join(SHARED_TESTDATA, 'odd');
    const files = readdirSync(odd).sort();
    const roots = [join(PROJECT_ROOT, 'models/demo'), odd].join(':');
    await using service = await startService({ env: { LATTICE_IMAGE_ROOTS: roots } });
    const good = await detect(service.url, 'shapes.png');
    expect(good.body.detections.length).toBeGreaterThan(0);
    // Warm-up: pools of allocators, decoders and the job store.
    for (const file of files) await detect(service.url, file);
    await runJob(service.url, files);
    const before = residentBytes(service.pid);

    const outcomes: Record<string, number> = {};
    for (const file of files) {
      const { status, body } = await detect(service.url, file);
      outcomes[body.code ?? 'ok'] = (outcomes[body.code ?? 'ok'] ?? 0) + 1;
      expect([200, 422], `${file}: ${JSON.stringify(body)}`).toContain(status);
      expect(status === 200 ? 'ok' : body.code, file).toMatch(
        /^(ok|invalid_image|image_too_large|unsupported_image_format)$/,
      );
      const next = await detect(service.url, 'shapes.png');
      expect(next.body.detections, `after ${file}`).toEqual(good.body.detections);
    }

    const job = await runJob(
      service.url,
      files.flatMap((file) => [file, 'shapes.png']),
    );
    job.forEach((entry, index) => {
      if (index % 2 === 1) expect(entry.detections).toEqual(job[1]?.detections);
      else expect(entry.status).toMatch(/^(ok|error)$/);
    });
    await sleep(500);
    const growth = residentBytes(service.pid) - before;
    console.log(
      `odd files: ${JSON.stringify(outcomes)}, resident growth ${(growth / 2 ** 20).toFixed(1)} MiB`,
    );
    expect(growth).toBeLessThan(ALLOWED_RSS_GROWTH);
  });
});

interface Entry {
  status: string;
  detections: unknown[];
}

async function runJob(url: string, paths: string[]): Promise<Entry[]> {
  const submitted = await fetch(`${url}/v1/jobs/submit`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ job_type: 'detect_vehicles', image_paths: paths }),
  });
  const { job_id: id } = (await submitted.json()) as { job_id: string };
  for (;;) {
    const response = await fetch(`${url}/v1/jobs/${id}/result`);
    const body = (await response.json()) as { result: { images: Entry[] } };
    if (response.status === 200) return body.result.images;
    await sleep(100);
  }
}
