/** `lattice job` against a running service with API keys, in this process and as a process of its own. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { unzipSync } from 'fflate';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { QUOTAS } from '../../src/api/quotas.js';
import type { Usage } from '../../src/client/lattice-client.js';
import { eventually } from '../support/eventually.js';
import { DEMO, FEW_THREADS, writeEnlarged } from '../support/service-client.js';
import { PROJECT_ROOT, startService, type ServiceProcess } from '../support/service-process.js';
import { run, runOn, type CliRun } from './run.js';

const KEY = 'north-gate-0123456789';
const JOB_LINE = /^job_[\w-]+\n$/;

/** No number of JavaScript has all its digits. */
const METADATA = '{"camera":"north","ts_ns":1764064800123456789}';

let folder: string;
let keyFile: string;
let service: ServiceProcess;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-job-'));
  keyFile = join(folder, 'keys.txt');
  writeFileSync(keyFile, `# of the gate\n\n  ${KEY} north\n`);
  await writeEnlarged(join(folder, 'large.png'), 4);
  service = await startService({
    env: {
      ...FEW_THREADS,
      LATTICE_API_KEYS_FILE: keyFile,
      LATTICE_IMAGE_ROOTS: `${DEMO}:${folder}`,
    },
  });
});

beforeEach(() => {
  vi.stubEnv('LATTICE_CORE_API_URL', service.url);
  vi.stubEnv('LATTICE_API_KEY', KEY);
});

afterAll(async () => {
  vi.unstubAllEnvs();
  await service[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

const job = (...args: string[]): Promise<CliRun> => run('job', ...args);
const LONG = Array<string>(60).fill('large.png');

async function submitted(...args: string[]): Promise<string> {
  const { out, code } = await job('submit', ...args);
  expect(code).toBe(0);
  expect(out).toMatch(JOB_LINE);
  return out.trim();
}

describe('submit', () => {
  test('prints the id alone, and says how to follow it', async () => {
    const { out, err, code } = await job('submit', 'shapes.png');
    expect({ code, err }).toEqual({
      code: 0,
      err: `Job accepted with 1 image. lattice job watch ${out.trim()} follows it.\n`,
    });
    expect(out).toMatch(JOB_LINE);
  });

  test('sends every option', async () => {
    const id = await submitted(
      ...['shapes.png', '-t', 'detect_vehicles', '--vehicle-types', 'bus, truck', '-p', '7'],
      ...['--confidence', '0.6', '--model', 'yolov8n.pt', '--metadata', METADATA],
      ...['--callback-url', 'http://127.0.0.1:9/hook', '--wait'],
    );
    const status = JSON.parse((await job('status', id, '--json')).out) as object;
    expect(status).toMatchObject({ status: 'completed', priority: 7, job_type: 'detect_vehicles' });
    expect(status).toHaveProperty('webhooks');
    const { out } = await job('result', id, '--json');
    const record = JSON.parse(out) as { result: { class_counts: object; model: string } };
    expect(out).toContain(`"metadata":${METADATA}}`);
    expect(Object.keys(record.result.class_counts).sort()).toEqual(['bus', 'truck']);
  });

  test('--wait shows the progress and ends 0 for a completed job', async () => {
    const { out, err, code } = await job('submit', ...LONG.slice(0, 20), '--wait');
    expect(code).toBe(0);
    expect(out).toMatch(JOB_LINE);
    const lines = err.trimEnd().split('\n');
    expect(lines.slice(0, -1).join('\n')).toMatch(/^(\d+\/20 images, (pending|running)\n?)+$/);
    expect(lines.at(-1)).toMatch(/^job_\S+ completed, 20\/20 images, [\d.]+ s$/);
  });

  test('--wait ends 1 for a job that failed, and says why', async () => {
    const { err, code } = await job('submit', 'absent.png', '--wait');
    expect(code).toBe(1);
    expect(err).toMatch(/^job_\S+ failed, 0 done, 1 failed.*absent\.png.*\(image_not_found\)$/m);
  });

  test('--literal names files alone', async () => {
    const glob = await job('submit', 'absent*.png', '--wait');
    expect([glob.code, glob.err]).toEqual([1, expect.stringContaining('matches no image')]);
    const file = await job('submit', 'absent*.png', '--literal', '--wait');
    expect([file.code, file.err]).toEqual([1, expect.stringContaining('(image_not_found)')]);
    expect(await job('submit', '--upload', 'x', '--literal')).toMatchObject({ code: 2 });
  });

  test('--wait ends 3 where some images failed, with the first ten reasons', async () => {
    const absent = Array.from({ length: 12 }, (_, index) => `absent-${index}.png`);
    const { out, err, code } = await job('submit', 'shapes.png', ...absent, '--wait');
    expect(code).toBe(3);
    const lines = err.trimEnd().split('\n').slice(-12);
    expect(lines[0]).toMatch(/^job_\S+ completed, 1 done, 12 failed, [\d.]+ s$/);
    for (const [index, line] of lines.slice(1, 11).entries()) {
      expect(line).toMatch(new RegExp(`^  absent-${index}\\.png: .*\\(image_not_found\\)$`));
    }
    expect(lines[11]).toBe('  and 2 more');
    const watched = await job('watch', out.trim());
    expect(watched.code).toBe(3);
    expect(watched.out.trimEnd().split('\n')).toEqual(lines);
    expect((await job('watch', out.trim(), '--json')).code).toBe(3);
  });

  test('--wait --json prints the records, one per line', async () => {
    const { out, err, code } = await job('submit', 'shapes.png', '--wait', '--json');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const lines = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { job_id: string; status: string; message?: string });
    expect(lines[0]?.message).toBe('Job accepted with 1 image.');
    expect(lines.at(-1)).toMatchObject({ job_id: lines[0]?.job_id, status: 'completed' });
  });

  test('a wait ends at --timeout with 1; the job goes on', async () => {
    const { out, err, code } = await job('submit', ...LONG, '--wait', '--timeout', '0.2');
    expect(code).toBe(1);
    // A busy machine has not answered once by then.
    expect(err).toMatch(
      /had not ended after 0\.2 s: it (is .* of 60 images|was never reached)\. It goes on\. \(timeout\)/,
    );
    const cancelled = await job('cancel', out.trim());
    expect(cancelled.out).toMatch(/^job_\S+ failed, .*\(cancelled\)$/m);
    expect(cancelled.code).toBe(0);
    expect(await job('cancel', out.trim())).toMatchObject({
      code: 1,
      err: 'lattice: The job has already ended. (job_already_finished)\n',
    });
  });

  test('a refusal names the broken rules', async () => {
    const { err, code, out } = await job('submit', 'shapes.png', '../x.png');
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain("lattice: A path must not contain '..'. (path_not_allowed)\n");
    expect(err).toContain('#/image_paths/1');
  });
});

test('status and result for people', async () => {
  const id = (
    await job('submit', 'shapes.png', 'absent.png', '-t', 'batch_detect', '-w')
  ).out.trim();
  const status = await job('status', id);
  expect(status.code).toBe(3);
  expect(status.out).toMatch(/^status +completed$/m);
  expect(status.out).toMatch(/^images +1 done, 1 failed$/m);
  expect(status.out).toMatch(/^boxes +\d+ \(\d+ \w+.*\)$/m);
  expect(status.out).toMatch(/^request +[\w-]{36}$/m);
  expect(status.out).toMatch(/^ {2}absent\.png: .*\(image_not_found\)$/m);
  const { out, code } = await job('result', id);
  expect(code).toBe(3);
  expect(out).toMatch(/^IMAGE +CLASS +CONFIDENCE +BOX/);
  expect(out).toMatch(/^shapes\.png +\w+ +0\.\d{3} +[\d.]+ {2}[\d.]+ {2}[\d.]+ {2}[\d.]+$/m);
  expect(out).toMatch(/^absent\.png +failed: image_not_found/m);
  expect(out).toMatch(
    /\n\n1 done, 1 failed; 6 box\(es\)\n {2}absent\.png: .*\(image_not_found\)\n$/,
  );
});

test('pictures are a zip: drawn, covered or cut out', async () => {
  const id = await submitted('shapes.png', '--wait');
  const namesOf = async (...flags: string[]) => {
    const file = join(folder, 'pictures.zip');
    expect(await job('pictures', id, '-o', file, ...flags)).toMatchObject({ code: 0, out: '' });
    return Object.keys(unzipSync(readFileSync(file)));
  };
  expect(await namesOf()).toEqual(['pictures/shapes.jpg', 'pictures.csv']);
  const fill = ['--cover', 'car', '--cover-with', 'fill', '--margin', '0.2'];
  expect(await namesOf(...fill)).toEqual(['covered/shapes.jpg', 'covered.csv']);
  const crops = await namesOf('--crops', '--confidence', '0.4');
  expect(crops[0]).toMatch(/^crops\/\w+\/shapes-1\.jpg$/);
  expect(crops.at(-1)).toBe('crops.csv');
  const screen = await runOn({ isScreen: true }, 'job', 'pictures', id);
  expect(screen.err).toContain('This is a zip archive, which a terminal cannot show');
  const unknown = await job('pictures', id, '--cover', 'submarine');
  expect(unknown.code).toBe(1);
  expect(unknown.err).toContain("no class 'submarine'");
  expect(await job('pictures', id, '--cover', 'car', '--crops')).toMatchObject({ code: 2 });
});

test('retry makes a new job of the failed images', async () => {
  writeFileSync(join(folder, 'late.png'), 'not yet a picture');
  const { out } = await job('submit', 'late.png', 'shapes.png', '-t', 'batch_detect', '-w');
  const id = out.trim();
  copyFileSync(join(DEMO, 'shapes.png'), join(folder, 'late.png'));
  const retry = await job('retry', id);
  expect(retry).toMatchObject({
    code: 0,
    err: `Job accepted with 1 image. lattice job watch ${retry.out.trim()} follows it.\n`,
  });
  expect(await job('watch', retry.out.trim())).toMatchObject({
    code: 0,
    out: expect.stringMatching(/completed, 1\/1 images/),
  });
  expect((await job('status', retry.out.trim())).out).toMatch(new RegExp(`^retry of +${id}$`, 'm'));
  expect(await job('retry', retry.out.trim())).toMatchObject({
    code: 1,
    err: 'lattice: Every image of the job was processed. (nothing_to_retry)\n',
  });
});

test('the result of a failed job says why and ends 1, that of a running job there is none', async () => {
  const failed = (await job('submit', 'absent.png', '--wait')).out.trim();
  expect(await job('result', failed)).toMatchObject({
    code: 1,
    out: expect.stringMatching(/^failed: .*\(image_not_found\); 0 done, 0 failed; 0 box\(es\)/),
  });
  const running = await submitted(...LONG);
  expect((await job('result', running)).err).toMatch(/\(job_not_finished\)/);
  await job('cancel', running);
});

test('list is of the newest, filtered', async () => {
  const batch = await submitted('shapes.png', '--type', 'batch_detect');
  const { out } = await job('list', '--limit', '2', '--type', 'batch_detect');
  const [header, ...rows] = out.trimEnd().split('\n');
  expect(header).toMatch(
    /^JOB +TITLE +STATUS +TYPE +PRIORITY +IMAGES +FAILED +BOXES +SUBMITTED +ERROR$/,
  );
  expect(rows[0]).toMatch(
    new RegExp(`^${batch} +shapes\\.png +\\w+ +batch_detect +0 +[01]/1 +\\d+ +2\\S+Z`),
  );
  expect(rows.every((row) => row.includes(' batch_detect '))).toBe(true);
  const ended = (await job('list', '--status', 'failed,completed', '--json')).out;
  expect(JSON.parse(ended)).not.toContainEqual(expect.objectContaining({ status: 'running' }));
  // A job may end between two lists.
  const listed = async (...flags: string[]) =>
    (JSON.parse((await job('list', '--json', ...flags)).out) as { job_id: string }[]).map(
      ({ job_id }) => job_id,
    );
  const all = await listed();
  expect(all.length).toBeGreaterThan(3);
  expect(await listed('-n', '2')).toEqual(all.slice(0, 2));
});

test('a job is named, found, changed, kept and removed', async () => {
  const id = await submitted(
    ...['shapes.png', '--name', 'North Gate', '--tag', 'gate', '--tag', 'a,b', '--notes', 'lamp'],
    ...['--keep', '--wait'],
  );
  const status = async () => JSON.parse((await job('status', id, '--json')).out) as object;
  expect(await status()).toMatchObject({
    ...{ name: 'North Gate', tags: ['gate', 'a,b'], notes: 'lamp', keep: true },
  });
  const shown = (await job('status', id)).out;
  expect(shown).toMatch(/^title +North Gate$/m);
  expect(shown).toMatch(/^tags +gate, a,b$/m);
  expect(shown).toMatch(/^kept until +it is removed by hand$/m);
  const found = async (...flags: string[]) =>
    (JSON.parse((await job('list', '--json', ...flags)).out) as { job_id: string }[]).map(
      ({ job_id }) => job_id,
    );
  expect(await found('--search', 'LAMP north', '--tag', 'GATE', '--model', 'yolov8n')).toEqual([
    id,
  ]);
  expect(await found('--search', 'harbour')).toEqual([]);
  expect((await found('--sort', '-submitted')).at(-1)).toBe(id);
  const edited = await job('edit', id, '--name', '', '--keep', '90');
  expect(edited).toMatchObject({ code: 0, out: expect.stringMatching(/completed, 1\/1 images/) });
  expect(await status()).toMatchObject({ name: null, tags: ['gate', 'a,b'], keep: 90 });
  expect((await job('status', id)).out).toMatch(/^kept until +2\S+Z$/m);
  await job('edit', id, '--keep', '0', '--tag', 'x');
  expect(await status()).toMatchObject({ keep: false, tags: ['x'] });
  expect((await job('edit', id)).err).toMatch(/Say what is to be changed/);
  expect(await job('edit', id, '--keep', 'long')).toMatchObject({ code: 2 });
  const running = await submitted(...LONG);
  const removed = await job('remove', running, id);
  expect(removed).toMatchObject({ code: 1, out: `${id} removed\n` });
  expect(removed.err).toMatch(new RegExp(`^${running}: The job is \\w+: cancel it first\\.`));
  expect((await job('status', id)).err).toMatch(/job_not_found/);
  const cancelled = await job('cancel', running);
  expect(cancelled.out).toMatch(/ failed, \d+ done, 0 failed, \d+ not run, .*\(cancelled\)/);
  expect((await job('list', '-n', '1')).out).toMatch(/ cancelled +detect_vehicles /);
  expect(await job('remove', running, '--json')).toMatchObject({ code: 0 });
});

describe('watch', () => {
  test('follows a job before and after its end', async () => {
    const id = await submitted('shapes.png', '--wait');
    const { out, err, code } = await job('watch', id);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toMatch(/^job_\S+ completed, 1\/1 images, [\d.]+ s\n$/);
  });

  test('Ctrl-C leaves the job running and says how to watch it again', async () => {
    const id = await submitted(...LONG, ...LONG);
    const watching = spawned('watch', id, '--url', service.url);
    await eventually(() => {
      expect(watching.err()).toMatch(/images, running/);
    });
    watching.child.kill('SIGINT');
    expect(await watching.exited).toBe(130);
    expect(watching.err()).toMatch(
      new RegExp(
        `The job goes on\\. lattice job watch ${id} --url ${service.url} watches it again`,
      ),
    );
    expect((await job('status', id)).out).toMatch(/^status +running$/m);
    await job('cancel', id);
  });

  test('without a job shows the events of all until Ctrl-C', async () => {
    const watching = spawned('watch');
    // Until it listens, events pass it by.
    await eventually(async () => {
      await submitted('shapes.png');
      expect(watching.out()).not.toBe('');
    });
    await eventually(() => {
      expect(watching.out()).toMatch(/^\S+Z {2}job_completed {2}job_\S+ {2}100 %$/m);
    });
    watching.child.kill('SIGINT');
    expect(await watching.exited).toBe(130);
  });
});

describe('access', () => {
  test('the key comes from a file, the address from a flag; both win over the environment', async () => {
    vi.stubEnv('LATTICE_API_KEY', 'other-gate-0123456789');
    vi.stubEnv('LATTICE_CORE_API_URL', 'http://127.0.0.1:9');
    const flags = ['--url', service.url, '--api-key-file', keyFile];
    const id = await submitted('shapes.png', ...flags);
    expect((await job('watch', id, ...flags)).code).toBe(0);
    expect((await job('submit', 'shapes.png', ...flags)).err).toContain(flags.join(' '));
  });

  test('a wrong key is told, and where one comes from', async () => {
    vi.stubEnv('LATTICE_API_KEY', 'other-gate-0123456789');
    const { err, code } = await job('list');
    expect(code).toBe(1);
    expect(err).toMatch(/\(unauthorized\)\n.*--api-key-file or LATTICE_API_KEY/);
    expect(err).not.toContain('other-gate');
  });

  test('a service that is not there is told with its address', async () => {
    const url = 'http://127.0.0.1:59';
    const { err, code } = await job('watch', 'job_x', '--url', url);
    expect(code).toBe(1);
    expect(err).toMatch(
      /^lattice: The service at http:\/\/127\.0\.0\.1:59 cannot be reached: .*\n`lattice serve` starts one; --url/,
    );
  });

  test.each([
    [['status', 'x', '--url', 'ftp://host'], /must start with http/],
    [['status', 'x', '--api-key-file', '/absent'], /There is no file or folder \/absent/],
    [['submit'], /Name images that the service has/],
    [['submit', 'a', '--type', 'detect_trains'], /Allowed choices are detect_cars/],
    [['submit', 'a', '--metadata', '[1]'], /must be a JSON object/],
    [['submit', 'a', '--metadata', '{'], /is no JSON/],
    [['submit', 'a', '--priority', '1.5'], /from 0 to 10/],
    [['submit', 'a', '--timeout', '5'], /bounds the wait of --wait/],
    [['watch', '--timeout', '5'], /needs a job/],
    [['list', '--status', 'done'], /'done' is none of pending/],
  ])('%j is a usage error', async (args, reason) => {
    const { err, code, out } = await job(...args);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(reason);
  });
});

test('what a key has is shown by name, quota and unit', async () => {
  const shown = await run('usage');
  expect(shown).toMatchObject({ code: 0, err: '' });
  expect(shown.out).toMatch(/^key +of +has +limit +fair share +whole$/m);
  expect(shown.out).toMatch(/^north +uploads +0\.0 MiB +/m);
  expect(shown.out).toMatch(/^north +jobs +\d+ /m);
  const record = JSON.parse((await run('usage', '--json')).out) as Usage;
  expect(record.keys.map(({ name }) => name)).toEqual(['north']);
  expect(record.keys[0]?.quotas.map(({ quota }) => quota)).toEqual(Object.keys(QUOTAS));
});

function spawned(...args: string[]) {
  const child = spawn(process.execPath, ['dist/cli/lattice.js', 'job', ...args], {
    cwd: PROJECT_ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()));
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  return { child, exited, out: () => out, err: () => err };
}
