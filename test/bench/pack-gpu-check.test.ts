import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { PROJECT_ROOT } from '../support/service-process.js';

/** A project of few files with commands that build nothing, and the folders that are packed with it. */
let folder: string;
const at = (...path: string[]) => join(folder, ...path);
const read = (...path: string[]) => readFileSync(at(...path), 'utf8');

function write(path: string, text: string | Buffer, mode = 0o644): void {
  mkdirSync(dirname(at(path)), { recursive: true });
  writeFileSync(at(path), text);
  chmodSync(at(path), mode);
}

function run(command: string, args: string[], env: Record<string, string> = {}) {
  const path = `${at('bin')}:/usr/bin:/bin`;
  const { status, stdout, stderr } = spawnSync(command, args, {
    cwd: at('project'),
    encoding: 'utf8',
    env: { PATH: path, HOME: folder, ...env },
  });
  return { status, said: stdout + stderr };
}

function git(...args: string[]): string {
  const identity = ['-c', 'user.name=a', '-c', 'user.email=a@b', '-c', 'init.defaultBranch=main'];
  const { status, said } = run('git', [...identity, ...args]);
  if (status !== 0) throw new Error(said);
  return said.trim();
}

function commit(): void {
  git('add', '--all');
  git('commit', '--quiet', '--allow-empty', '--message', 'a state');
}

function pack(env: Record<string, string> = {}) {
  return run('bash', ['scripts/pack-gpu-check.sh', at('out')], {
    CUDAToolkit_ROOT: at('cuda'),
    TENSORRT_ROOT: at('tensorrt'),
    LATTICE_PACK_PLACE: at('place'),
    ...env,
  });
}

const builds = (...lines: string[]) => {
  write('build-says', lines.map((line) => `${line}\n`).join(''));
};

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-pack-'));
  const name = 'scripts/pack-gpu-check.sh';
  mkdirSync(at('project/scripts'), { recursive: true });
  cpSync(join(PROJECT_ROOT, name), at('project', name));
  write('project/.gitignore', 'node_modules/\nbuild/\ndist/\n.deps/\n');
  write('project/native/kernel.cu', 'first');
  write(
    'project/scripts/gpu-check.sh',
    'echo "$LATTICE_COMMIT $LD_LIBRARY_PATH $*"; node; command -v compute-sanitizer; exit 3',
  );
  write('cuda/lib/libnvjpeg.so.13', 'nvJPEG');
  write('cuda/compute-sanitizer/compute-sanitizer', '', 0o755);
  write('tensorrt/include/NvInfer.h', '');
  write('tensorrt/lib/libnvinfer.so.10', 'TensorRT');
  for (const part of ['images/a.jpg', 'coco128/a.jpg', 'expected/a.json', 'models/yolov8n.onnx']) {
    write(`shared/testdata/${part}`, part);
  }
  write('shared/testdata/models/another.onnx', '');
  builds('CUDA: 13.0', 'JPEG: libjpeg-turbo', "nvJPEG: the GPU's JPEG engines decode");
  write(
    'bin/node',
    `#!/bin/bash
case "$1" in
  "") echo "node of $(dirname "$0")" ;;
  -p) echo "$0" ;;
  scripts/build-native.mjs)
    mkdir -p build/Release build/test/native
    cp /bin/true build/Release/lattice.node
    cp /bin/true build/test/native/lattice_base_test
    echo object >build/test/native/base.o
    cat ${at('build-says')} ;;
  *) exec ${process.execPath} "$@" ;;
esac`,
    0o755,
  );
  write(
    'npm/bin/npm-cli.js',
    `#!/bin/bash
case "$1" in
  run)
    mkdir -p dist/cli .deps/openvino/libs node_modules/hono node_modules/eslint
    touch dist/cli/lattice.js .deps/openvino/VERSION node_modules/hono/a.js node_modules/eslint/a.js ;;
  query) echo '[{"location":""},{"location":"node_modules/hono"}]' ;;
esac`,
    0o755,
  );
  symlinkSync('../npm/bin/npm-cli.js', at('bin/npm'));
  git('init', '--quiet');
  commit();
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

describe('scripts/pack-gpu-check.sh', () => {
  it('makes parts that a machine with nothing installed can unpack and run', () => {
    write('project/uncommitted', '');
    const packed = pack();
    expect(packed).toMatchObject({ status: 0 });
    expect(packed.said).toMatch(/Uncommitted changes are not packed/);
    expect(packed.said).toMatch(/1 parts, \d+ MB, unpacked \d+ MiB/);
    expect(packed.said).toContain(`bash ${at('place')}/check.sh`);

    rmSync(at('place'), { recursive: true });
    for (const name of ['bin', 'npm', 'project/node_modules']) {
      rmSync(at(name), { recursive: true, force: true });
    }
    expect(run('bash', [at('out/unpack.sh')])).toEqual({ status: 0, said: '' });
    const tree = readdirSync(at('place/lattice-core'), { recursive: true }).map(String);
    expect(tree).toEqual(
      expect.arrayContaining([
        'native/kernel.cu',
        'dist/cli/lattice.js',
        '.deps/openvino/VERSION',
        'node_modules/hono/a.js',
        'build/Release/lattice.node',
        'build/test/native/lattice_base_test',
      ]),
    );
    for (const left of ['uncommitted', 'node_modules/eslint/a.js', 'build/test/native/base.o']) {
      expect(tree).not.toContain(left);
    }
    expect(readdirSync(at('place/shared/testdata/models'))).toEqual(['yolov8n.onnx']);
    const head = git('rev-parse', '--short', 'HEAD');
    expect(read('place/lattice-core/build/prebuilt').trim()).toBe(head);
    const libraries = `${at('place/tensorrt/lib')}:${at('place/libraries')}`;
    expect(run('bash', [at('place/check.sh'), '--allow-missing'])).toEqual({
      status: 3,
      said: [
        `${head} ${libraries} --allow-missing`,
        `node of ${at('place/node/bin')}`,
        `${at('place/libraries/compute-sanitizer/compute-sanitizer')}\n`,
      ].join('\n'),
    });
    expect(read('place/tensorrt/lib/libnvinfer.so.10')).toBe('TensorRT');
    expect(read('place/libraries/libnvjpeg.so.13')).toBe('nvJPEG');
  });

  it('packs the last commit when it is run again, without what that has removed', () => {
    pack();
    rmSync(at('project/native/kernel.cu'));
    write('project/native/other.cu', 'second');
    commit();
    expect(pack()).toMatchObject({ status: 0 });
    rmSync(at('place'), { recursive: true });
    run('bash', [at('out/unpack.sh')]);
    expect(readdirSync(at('place/lattice-core/native'))).toEqual(['other.cu']);
  });

  it('makes parts of at most 45 MB, and refuses a damaged one', () => {
    write('shared/testdata/images/large.jpg', randomBytes(46_000_000));
    expect(pack().said).toContain('2 parts, 46 MB');
    for (const part of ['part.000', 'part.001']) {
      expect(statSync(at('out', part)).size).toBeLessThanOrEqual(45_000_000);
    }
    rmSync(at('place'), { recursive: true });
    appendFileSync(at('out/part.001'), '!');
    const unpacked = run('bash', [at('out/unpack.sh')]);
    expect(unpacked.status).toBe(1);
    expect(unpacked.said).toContain('part.001: FAILED');
    expect(existsSync(at('place'))).toBe(false);
  });

  it.each([
    ['nvJPEG', 'nvJPEG: left out: no nvjpeg.h in the CUDA toolkit'],
    ['libturbojpeg', 'JPEG: libvips alone.'],
  ])('packs no build without %s', (_, line) => {
    builds('CUDA: 13.0', line);
    const { status, said } = pack();
    expect(status).toBe(1);
    expect(said).toContain(line);
    expect(said).toContain('would measure another product');
    expect(existsSync(at('out/part.000'))).toBe(false);
  });

  it.each([
    ['CUDAToolkit_ROOT', { CUDAToolkit_ROOT: '' }],
    ['TENSORRT_ROOT', { TENSORRT_ROOT: '/nowhere' }],
    ['libnvjpeg.so', {}],
  ])('says that %s is missing', (name, env) => {
    rmSync(at('cuda/lib'), { recursive: true });
    const { status, said } = pack(env);
    expect(status).toBe(1);
    expect(said).toMatch(new RegExp(`pack-gpu-check: .*${name}`));
  });

  it('says that a machine without TensorRT or compute-sanitizer needs its own', () => {
    rmSync(at('tensorrt/lib'), { recursive: true });
    rmSync(at('cuda/compute-sanitizer'), { recursive: true });
    const { said } = pack();
    expect(said).toContain("TensorRT's libraries are not packed");
    expect(said).toContain('compute-sanitizer is not packed');
  });

  it('shows what it does', () => {
    const { status, said } = run('bash', ['scripts/pack-gpu-check.sh', '--help']);
    expect(status).toBe(0);
    expect(said).toMatch(/^Packs scripts\/gpu-check\.sh[^]*only what has changed\.\n$/);
    expect(run('bash', ['scripts/pack-gpu-check.sh']).status).toBe(1);
  });
});
