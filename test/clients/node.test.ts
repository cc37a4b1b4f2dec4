/** `clients/node`, packed and installed into an empty project: its types, and against a service that is killed. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { QUOTAS } from '../../src/api/quotas.js';
import { packageManifest } from '../../src/base/package.js';
import { runProgram } from '../../src/cli/python-environment.js';
import { FaultProxy, losesAnswer } from '../support/fault-proxy.js';
import { jsonLines } from '../support/json-lines.js';
import { writeOwnModel } from '../support/own-model.js';
import { writeParkedLot } from '../support/parked-lot.js';
import { DEMO, FEW_THREADS, writeEnlarged } from '../support/service-client.js';
import { PROJECT_ROOT, startService } from '../support/service-process.js';

const TSC = join(PROJECT_ROOT, 'node_modules/typescript/bin/tsc');
const TSCONFIG = {
  compilerOptions: {
    strict: true,
    exactOptionalPropertyTypes: true,
    module: 'nodenext',
    target: 'es2022',
    types: [],
  },
};
const WEB_SOCKET = pathToFileURL(join(PROJECT_ROOT, 'node_modules/ws/wrapper.mjs')).href;

let project: string;
const NAME = packageManifest().release.client;
const installed = () => join(project, 'node_modules', NAME);

beforeAll(async () => {
  project = mkdtempSync(join(tmpdir(), 'lattice-project-'));
  const npm = (...args: string[]) => runProgram('npm', [...args, '--prefix', project], process.env);
  await runProgram('node', [join(PROJECT_ROOT, 'clients/node/build.mjs')], process.env);
  await npm('pack', join(PROJECT_ROOT, 'clients/node'), '--pack-destination', project);
  const [tarball] = readdirSync(project);
  writeFileSync(join(project, 'package.json'), '{"type": "module", "private": true}');
  writeFileSync(join(project, 'tsconfig.json'), JSON.stringify(TSCONFIG));
  const script = readFileSync(join(PROJECT_ROOT, 'test/clients/live.ts'), 'utf8');
  const fromPackage = script.replace('../../src/client/lattice-client.js', NAME);
  writeFileSync(join(project, 'live.ts'), fromPackage);
  await npm('install', '--offline', '--no-audit', '--no-fund', join(project, tarball!));
});

afterAll(() => {
  rmSync(project, { recursive: true, force: true });
});

test('the package brings all that it needs, and nothing of the service', () => {
  expect(
    readdirSync(join(project, 'node_modules')).filter((name) => !name.startsWith('.')),
  ).toEqual([NAME]);
  expect(readdirSync(join(installed(), 'node_modules'))).toEqual(['ws']);
  const dist = join(installed(), 'dist');
  const imports = readdirSync(dist).flatMap((file) =>
    [...readFileSync(join(dist, file), 'utf8').matchAll(/(?:from|import) '([^.'][^']*)'/g)].map(
      ([, name]) => `${file}: ${name}`,
    ),
  );
  expect(imports).toEqual(['event-socket.js: node:events', 'event-socket.js: ws']);
  const versionOf = (path: string) =>
    (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version;
  expect(versionOf(join(installed(), 'package.json'))).toBe(
    versionOf(join(PROJECT_ROOT, 'package.json')),
  );
});

test('the snippets of the documentation compile under strict, as does the script below', async () => {
  for (const readme of ['docs/clients.md', 'clients/node/README.md']) {
    const text = readFileSync(join(PROJECT_ROOT, readme), 'utf8');
    const [, snippet] = /```ts\n(import \{ LatticeClient[^]*?)```/.exec(text) ?? [];
    writeFileSync(join(project, `${readme.replace(/\W/g, '-')}.ts`), snippet!);
  }
  await runProgram(process.execPath, [TSC, '-p', project, '--noEmit']);
});

test('a service that is killed in the midst of a wait', async () => {
  await runProgram(process.execPath, [TSC, '-p', project]);
  const models = join(project, 'models');
  writeOwnModel(models);
  await writeEnlarged(join(project, 'large.png'), 4);
  const options = {
    dataDir: join(project, 'data'),
    env: { ...FEW_THREADS, LATTICE_MODELS_DIR: models, LATTICE_IMAGE_ROOTS: `${DEMO}:${project}` },
  };
  await using first = await startService(options);
  await using proxy = await FaultProxy.open(first.url);
  proxy.faults.push(losesAnswer(first.url)); // the submission of one of them is repeated

  // The file for browsers runs here with the WebSocket that browsers have.
  const setUp = `import { WebSocket } from '${WEB_SOCKET}'; globalThis.WebSocket = WebSocket;`;
  const preload = ['--import', `data:text/javascript,${encodeURIComponent(setUp)}`];
  const runs = [[], ['--conditions=browser', ...preload]].map((flags, at) => {
    writeParkedLot(join(project, `lot-${at}`));
    const args = [join(project, 'live.js'), first.url, proxy.url, `lot-${at}`];
    return jsonLines(process.execPath, [...flags, ...args]);
  });
  const submitted = await Promise.all(runs.map((lines) => lines.next()));
  const ids = submitted.map(({ value }) => (value as Record<string, unknown>).job_id);
  const running = runs.map((lines) => lines.next());
  await Promise.race(running);
  await first.kill('SIGKILL');
  const flags = ['--port', new URL(first.url).port];
  await using second = await startService({ ...options, flags });
  expect(second.url).toBe(first.url);

  const lost: string[][] = [];
  for (const [at, lines] of runs.entries()) {
    await running[at];
    const { value: done } = await lines.next();
    expect(done).toMatchObject({
      own: { car_ahead: 3, stop_sign: 1 },
      status: 'completed',
      counts: [15, 1],
      paths: [...Array<string>(14).fill('large.png'), 'absent.png'],
      errors: ['image_not_found'],
      total: 14 * 6,
      archives: [true, true, true],
      page: [true, true, true],
      counted: [15, 1, 14 * 6, expect.stringMatching(/^\.,15,1,0,84,/)],
      agreed: [1, 14],
      watched: [2_000, true, 'paused', 'watch_not_found'],
      // A vehicle in each of the stills.
      ...{ places: [6, 0, 6], dismissed: [true, 6, 6] },
      usage: Object.keys(QUOTAS),
    });
    const { events, jobs, states } = done as Record<'events' | 'jobs' | 'states', string[]>;
    expect(events.filter((event) => event !== 'job_started')).toEqual([
      'job_submitted',
      'job_completed',
    ]);
    expect(jobs).toEqual(expect.arrayContaining(ids));
    lost.push(states);
    expect((await lines.next()).done).toBe(true);
  }
  // A job that had already ended is not affected.
  expect(lost).toContainEqual(['unreachable', null]);
});
