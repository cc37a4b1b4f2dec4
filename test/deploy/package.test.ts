/** The package of a release, installed into an empty folder: it serves without a compiler and without the checkout. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pack, packService } from '../../scripts/pack.mjs';
import { intersectionOverUnion } from '../../src/boxes/overlap.js';
import type { Detection } from '../../src/api/schemas/image.js';
import { packageManifest, packageVersion } from '../../src/base/package.js';
import { buildInfo } from '../../src/native/core.js';
import { listeningUrl, PROJECT_ROOT } from '../support/service-process.js';

interface Locked {
  dev?: boolean;
  optional?: boolean;
}
interface Finding {
  name: string;
  state: string;
  detail: string;
}
interface KnownPicture {
  boxes: { class: string; box: Detection['box'] }[];
}

const execute = promisify(execFile);
const { service, client } = packageManifest().release;
const readProject = (file: string) => readFileSync(join(PROJECT_ROOT, file), 'utf8');
const readJson = (file: string): unknown => JSON.parse(readFileSync(file, 'utf8'));

const unpackable = [
  [buildInfo().cuda, 'this addon is for GPUs, whose libraries no package brings'],
  [!existsSync(join(PROJECT_ROOT, '.deps/openvino/libs')), 'OpenVINO is that of the system'],
].find(([applies]) => applies)?.[1];
if (unpackable !== undefined)
  console.warn(`Left out: the package of the service: ${String(unpackable)}.`);

describe('names', () => {
  test('those of package.json are used wherever a package is named', () => {
    expect(JSON.parse(readProject('clients/node/package.json'))).toMatchObject({ name: client });
    expect(readProject('clients/python/pyproject.toml')).toContain(`\nname = "${client}"\n`);
    expect(readProject('clients/python/lattice_client/extras.py')).toContain(
      `\nDISTRIBUTION = "${client}"\n`,
    );
    expect(readProject('docs/package.md')).toContain(`npm install ${service} `);
    expect(readProject('src/ui/detect/code-samples.ts')).toContain(`\nconst CLIENT = '${client}';`);
  });
});

test('a part replaces its own packages and leaves those of the others', async () => {
  const target = mkdtempSync(join(tmpdir(), 'lattice-packages-'));
  const others = [`${service}-0.0.9.tgz`, `${client.replaceAll('-', '_')}-0.0.9-py3-none-any.whl`];
  for (const name of [...others, `${client}-0.0.9.tgz`]) writeFileSync(join(target, name), '');
  await pack(['node'], target);
  const { version } = readJson(join(PROJECT_ROOT, 'clients/node/package.json')) as {
    version: string;
  };
  expect(readdirSync(target).sort()).toEqual([...others, `${client}-${version}.tgz`].sort());
  rmSync(target, { recursive: true });
});

describe.skipIf(unpackable !== undefined)('the package of the service', () => {
  const home = mkdtempSync(join(tmpdir(), 'lattice-package-'));
  const project = join(home, 'project');
  const installed = join(project, 'node_modules', service);
  const lattice = join(project, 'node_modules/.bin/lattice');
  /** Environment of an empty session: no tools of the checkout, no compiler's variables. */
  const env = { HOME: home, PATH: `${dirname(process.execPath)}:/usr/bin:/bin` };
  const run = async (...args: string[]) =>
    (await execute(lattice, args, { cwd: project, env })).stdout;

  beforeAll(async () => {
    packService(home);
    mkdirSync(project);
    await install(join(home, `${service}-${packageVersion()}.tgz`));
  });

  afterAll(() => {
    rmSync(home, { recursive: true, force: true });
  });

  /** With the versions of package-lock.json, for which npm's cache needs no registry. */
  async function install(tarball: string) {
    const unpacked = join(home, 'package');
    await execute('tar', ['xzf', tarball, '-C', home]);
    const manifest = readJson(join(unpacked, 'package.json')) as Record<string, unknown>;
    const locked = Object.entries(
      (JSON.parse(readProject('package-lock.json')) as { packages: Record<string, Locked> })
        .packages,
    ).filter(([path, { dev }]) => path !== '' && dev !== true);
    const root = { name: 'project', dependencies: { [service]: `file:${tarball}` } };
    const { version, dependencies, bin } = manifest;
    const packages = {
      '': root,
      [`node_modules/${service}`]: { version, dependencies, bin, resolved: `file:${tarball}` },
      ...Object.fromEntries(locked),
    };
    writeFileSync(join(project, 'package.json'), JSON.stringify(root));
    writeFileSync(
      join(project, 'package-lock.json'),
      JSON.stringify({ name: 'project', lockfileVersion: 3, requires: true, packages }),
    );
    try {
      const npm = ['install', '--offline', '--ignore-scripts', '--no-audit', '--no-fund'];
      await execute('npm', npm, { cwd: project, env: { ...env, HOME: homedir() } });
    } catch (error) {
      console.warn(`npm cannot install from its cache, so packages are copied: ${String(error)}`);
      for (const [path] of locked) copyPackage(path);
      cpSync(unpacked, installed, { recursive: true });
      mkdirSync(dirname(lattice), { recursive: true });
      writeFileSync(lattice, `exec node ${installed}/dist/cli/lattice.js "$@"\n`, { mode: 0o755 });
    }
  }

  /** Some are for other platforms, and absent. */
  function copyPackage(path: string) {
    const source = join(PROJECT_ROOT, path);
    if (existsSync(source)) cpSync(source, join(project, path), { recursive: true });
  }

  test('runs no script when it is installed, and is for the system of its addon', () => {
    const manifest = readJson(join(installed, 'package.json')) as Record<string, unknown>;
    expect(manifest).toMatchObject({
      name: service,
      os: ['linux'],
      cpu: [process.arch],
      libc: ['glibc'],
      prebuilt: {
        glibc: expect.stringMatching(/^2\.\d+$/),
        glibcxx: expect.stringMatching(/^GLIBCXX_3\.4\.\d+$/),
      },
    });
    expect(manifest).not.toHaveProperty('scripts');
    expect(manifest).not.toHaveProperty('private');
    expect(manifest.dependencies).not.toHaveProperty('cmake-js');
  });

  test('finds the vehicles of its demo picture, with no file of the checkout', async () => {
    const child = spawn(lattice, ['serve', '--port', '0'], { cwd: project, env });
    const exited = once(child, 'exit').then(
      ([code, signal]) => (code ?? signal) as number | string,
    );
    try {
      let output = '';
      const url = await listeningUrl(child, exited, 100_000, (text) => (output += text));
      const answer = await fetch(`${url}/v1/inference/detect`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ image_path: 'street.jpg' }),
      });
      const { detections } = (await answer.json()) as { detections: Detection[] };
      const { boxes } = readJson(join(installed, 'models/demo/street.json')) as KnownPicture;
      expect(detections).toHaveLength(boxes.length);
      for (const known of boxes) {
        const same = detections.filter((found) => found.class === known.class);
        const overlaps = same.map(({ box }) => intersectionOverUnion(box, known.box));
        expect(Math.max(...overlaps), JSON.stringify(known)).toBeGreaterThan(0.8);
      }
      expect((await fetch(`${url}/ui`)).status).toBe(200);
      for (const facts of ['maps', 'environ', 'cmdline']) {
        expect(readFileSync(`/proc/${child.pid}/${facts}`, 'utf8')).not.toContain(PROJECT_ROOT);
      }
      const addon = readFileSync(join(installed, 'build/Release/lattice.node'), 'latin1');
      expect(addon).not.toContain(PROJECT_ROOT);
    } finally {
      child.kill('SIGTERM');
    }
    expect(await exited).toBe(0);
    // The jobs of a user are not in the folder that the next installation replaces.
    expect(readdirSync(join(project, 'data'))).toContain('jobs.db');
    expect(readdirSync(installed)).not.toContain('data');
  });

  test('lattice doctor asks for no tool of a build, and warns of nothing that is missing', async () => {
    const { ok, findings } = JSON.parse(await run('doctor', '--json', '--port', '0')) as {
      ok: boolean;
      findings: Finding[];
    };
    expect(ok).toBe(true);
    const names = findings.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['addon', 'OpenVINO', 'image root']));
    expect(names).not.toContain('CMake');
    expect(names).not.toContain('models folder');
  });

  test('a model of the user is kept beside its data', async () => {
    const model = join(installed, 'models/tiny/tiny-v8.onnx');
    await run('model', 'add', model, '--name', 'own');
    expect(readdirSync(join(project, 'models'))).toContain('own.onnx');
  });

  test('what its addon lacks is said with the command that brings it', async () => {
    const addon = join(installed, 'build/Release/lattice.node');
    const kept = readFileSync(addon);
    rmSync(addon);
    try {
      await expect(run('detect', join(installed, 'models/demo/street.jpg'))).rejects.toThrow(
        `The addon is not there. Run \`npm install ${service}\`.`,
      );
    } finally {
      writeFileSync(addon, kept);
    }
  });
});
