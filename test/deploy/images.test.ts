/** The images cannot be built where tests run: what goes into them is checked, and run in their layout. */
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PROJECT_ROOT } from '../support/service-process.js';

/** Where the project lies in both images. */
const PLACE = '/opt/lattice-core/';
const IMAGES = ['Dockerfile', 'ray-worker.Dockerfile'];

const read = (file: string) => readFileSync(join(PROJECT_ROOT, file), 'utf8');
const deployed = (file: string) => read(join('deploy', file));

/** `COPY` lines of the last stage, without those from other images; paths as in the project. */
function copies(file: string): { from: string; to: string }[] {
  const lastStage = deployed(file)
    .split(/^FROM /m)
    .at(-1)!;
  const lines = [...lastStage.matchAll(/^COPY (?!--from=node)(?:--from=build )?(.+)$/gm)];
  return lines.flatMap(([, words]) => {
    const sources = words!.split(' ');
    const target = sources.pop()!;
    return sources.map((source) => ({
      from: source.replace(PLACE, ''),
      to: target.endsWith('/') ? join(target, basename(source)) : target,
    }));
  });
}

test.each(IMAGES)('%s: every path that is copied is there and reaches the build', (file) => {
  const ignored = read('.dockerignore').split('\n').filter(Boolean);
  const context = [...deployed(file).matchAll(/^COPY (?!--from)(.+) \S+$/gm)].flatMap(([, paths]) =>
    paths!.split(' '),
  );
  expect(context.length).toBeGreaterThan(5);
  for (const path of context) {
    expect(existsSync(join(PROJECT_ROOT, path)), path).toBe(true);
    const parents = path.split('/').map((_, index, parts) => parts.slice(0, index + 1).join('/'));
    expect(ignored.filter((each) => parents.includes(each))).toEqual([]);
  }
  for (const { from } of copies(file))
    expect(existsSync(join(PROJECT_ROOT, from)), from).toBe(true);
});

describe.each(IMAGES)('the layout of %s', (file) => {
  let layout: string;
  beforeAll(() => {
    layout = mkdtempSync(join(tmpdir(), 'lattice-image-'));
    for (const { from, to } of copies(file)) {
      const target = join(layout, to);
      mkdirSync(dirname(target), { recursive: true });
      const source = join(PROJECT_ROOT, from);
      // Large, and the same wherever they are.
      if (/^(node_modules|\.deps)/.test(from)) symlinkSync(source, target);
      else cpSync(source, target, { recursive: true });
    }
  });
  afterAll(() => {
    rmSync(layout, { recursive: true, force: true });
  });

  /** Runs Node in the layout; what it printed. */
  function node(...args: string[]): string {
    const { status, stdout, stderr } = spawnSync(process.execPath, args, {
      cwd: layout,
      encoding: 'utf8',
      env: { LATTICE_DEVICE: 'cpu', LATTICE_DATA_DIR: join(layout, 'data') },
    });
    expect({ status, stderr }).toMatchObject({ status: 0 });
    return stdout;
  }

  test('is enough to detect', () => {
    const picture = join(PROJECT_ROOT, 'models/demo/street.jpg');
    expect(node('dist/cli/lattice.js', 'detect', picture, '--json')).toContain('"car"');
  });

  test('has nothing that only builds need', () => {
    const findings = node('dist/cli/lattice.js', 'doctor', '--json', '--port', '0');
    expect(findings).toContain('"addon"');
    expect(findings).not.toContain('CMake');
  });

  test('is enough to start the workers', () => {
    const run = (code: string) => node('--input-type=module', '-e', code);
    const pack = `import { packWorkers } from './dist/clusters/ray/worker-package.js';`;
    expect(run(`${pack} console.log((await packWorkers()).name);`)).toMatch(/^_ray_pkg_/);
    expect(existsSync(join(layout, 'dist/worker.js'))).toBe(true);
    // Only the service speaks to Ray's head.
    if (file !== 'Dockerfile') return;
    const protocol = `import { rayProtocol } from './dist/clusters/ray/ray-protocol.js';`;
    expect(run(`${protocol} console.log(Object.keys(rayProtocol()));`)).toContain('RayletDriver');
  });

  if (file !== 'Dockerfile') return; // workers serve no page
  test('is enough for the live page', () => {
    const code = `import { Hono } from 'hono';
      import { uiRoutes } from './dist/http/routes/ui.js';
      const app = new Hono();
      uiRoutes(({ path }, handler) => app.get(path.replace('{asset}', ':asset'), handler));
      for (const path of ['/ui', '/ui/style.css', '/ui/icon.svg', '/ui/main.js']) {
        console.log((await app.request(path)).status);
      }`;
    expect(node('--input-type=module', '-e', code)).toBe('200\n'.repeat(4));
  });
});
