/** Is everything there that the service needs: tools, addon, models, folders, port, access. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { readdir, rm, statfs, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { ERRORS, LatticeError } from '../../api/errors.js';
import { makeFolder } from '../../base/make-folder.js';
import { isPrebuilt, PACKAGE_ROOT, repairCommand } from '../../base/package.js';
import { pathFault } from '../../base/path-fault.js';
import { chooseDevice, explainChoice } from '../../execution/here/compute-choice.js';
import { ImageLister, isHanging, noFolder } from '../../files/listing/image-lister.js';
import { ApiKeys } from '../../http/access/api-keys.js';
import { defaultModelName, ModelFolder } from '../../models/model-folder.js';
import type { NativeBuildInfo, NativeGpus } from '../../native/contract.js';
import { unknownSettings, type Config } from '../../settings/config.js';
import { modelsFolderFault } from '../../settings/setting-folders.js';

/** Makes the findings in the order of the report. */
export async function examine(config: Config): Promise<Finding[]> {
  const { finding, built, gpus } = await checkAddon();
  return [
    checkNode(process.version.slice(1)),
    // An image and the package have no sources to build.
    ...(existsSync(join(PACKAGE_ROOT, 'CMakeLists.txt')) ? checkBuildTools(built === null) : []),
    finding,
    checkOpenVino(built),
    checkGpu(built),
    checkDevice(config, gpus),
    await checkModels(config),
    ...(await checkModelsDir(config.modelsDir)),
    ...(await checkImageRoots(config.imageRoots)),
    await checkDataDir(config.dataDir),
    await checkPort(config.host, config.port),
    ...checkAccess(config),
    ...checkNames(unknownSettings()),
  ];
}

/** A mistyped variable has no effect and causes no error. */
function checkNames(unknown: readonly string[]): Finding[] {
  if (unknown.length === 0) return [];
  const detail = `${unknown.join(', ')} in the environment: no such setting`;
  return [warn('settings', detail, 'correct the name: docs/configuration.md has all')];
}

const RECOMMENDED = '22.23.4, 24.22.1, 26.12.1 or newer';
const OLDEST = '20.20';
const END_OF_LIFE = new Set([20, 21, 23, 25]);

export function checkNode(version: string): Finding {
  const install = `install Node.js ${RECOMMENDED} (https://nodejs.org)`;
  const shown = `Node.js ${version}`;
  if (isOlder(version, OLDEST)) {
    return fail('Node.js', `${shown} is too old, ${OLDEST} is needed`, install);
  }
  return END_OF_LIFE.has(Number.parseInt(version, 10))
    ? warn('Node.js', `${shown} works, but gets no security fixes any more`, install)
    : ok('Node.js', shown);
}

function isOlder(version: string, least: string): boolean {
  return version.localeCompare(least, 'en', { numeric: true }) < 0;
}

/** `needed`: the addon is not there yet, so a missing tool stops the set-up. */
function checkBuildTools(needed: boolean): Finding[] {
  const missing = needed ? fail : warn;
  const why = needed ? 'missing' : 'missing; only needed to build the addon again';
  const tool = (name: string, text: string | null, fix: string): Finding =>
    text === null ? missing(name, why, fix) : ok(name, text);
  const cmake = outputOf('cmake', ['--version'])?.replace(/^cmake version /, '') ?? null;
  const cmakeFix = "apt-get install -y cmake (or: python3 -m pip install 'cmake>=3.22')";
  return [
    tool('Python 3', outputOf('python3', ['--version']), 'apt-get install -y python3'),
    tool('pip', pipVersion(), 'apt-get install -y python3-pip'),
    cmake !== null && isOlder(cmake, '3.22')
      ? missing('CMake', `${cmake} is too old, 3.22 is needed`, cmakeFix)
      : tool('CMake', cmake, cmakeFix),
    tool('C++20 compiler', compilerVersion(), 'apt-get install -y g++'),
  ];
}

function pipVersion(): string | null {
  return outputOf('python3', ['-m', 'pip', '--version'])?.replace(/ from .*/, '') ?? null;
}

/** The compiler that CMake takes, CXX or c++, if it knows C++20. The shell reads CXX: settings do not. */
function compilerVersion(): string | null {
  const program = '#include <span>\nint main() { std::span<int> s; return s.empty() ? 0 : 1; }\n';
  const compile = '${CXX:-c++} -std=c++20 -fsyntax-only -x c++ - && ${CXX:-c++} --version';
  return outputOf('sh', ['-c', compile], program);
}

/** First line of what it prints; null when it cannot be run, fails, or prints none. */
function outputOf(command: string, args: string[], input = ''): string | null {
  const run = spawnSync(command, args, { encoding: 'utf8', input, timeout: 20_000 });
  if (run.status !== 0) return null;
  const [line = ''] = run.stdout.split('\n');
  return line.trim() === '' ? null : line.trim();
}

/** One line of `lattice doctor`. */
export interface Finding {
  name: string;
  /** warn: it runs, but not as well or as safely as it could. fail: it does not run. */
  state: 'ok' | 'warn' | 'fail';
  detail: string;
  /** Command or setting that mends it; there for every warn and fail. */
  fix?: string;
}

function ok(name: string, detail: string): Finding {
  return { name, state: 'ok', detail };
}

function warn(name: string, detail: string, fix: string): Finding {
  return { name, state: 'warn', detail, fix };
}

function fail(name: string, detail: string, fix: string): Finding {
  return { name, state: 'fail', detail, fix };
}

/** `built` is null when the addon cannot be loaded; the finding then says why. */
async function checkAddon() {
  try {
    const { buildInfo, gpus } = await import('../../native/core.js');
    const built = buildInfo();
    const parts = `${built.version}, libvips ${built.libvips}, JPEG ${built.jpeg}`;
    return { finding: ok('addon', parts), built, gpus: gpus() };
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
    return {
      finding: fail('addon', `cannot be loaded: ${reason}`, repairCommand()),
      built: null,
      gpus: { gpus: [], missing: 'the addon cannot be loaded.' },
    };
  }
}

function checkOpenVino(built: NativeBuildInfo | null): Finding {
  if (built?.openvino) return ok('OpenVINO', built.openvino);
  const file = join(PACKAGE_ROOT, '.deps', 'openvino', 'VERSION');
  if (built === null && existsSync(file)) {
    return ok('OpenVINO', `${readFileSync(file, 'utf8').trim()} downloaded`);
  }
  return fail(
    'OpenVINO',
    built === null ? 'not found' : 'not built into the addon',
    repairCommand(),
  );
}

/** The device and the precision that `serve` would choose. */
function checkDevice(config: Config, gpus: NativeGpus): Finding {
  try {
    const { device, precision, reason } = explainChoice(config, chooseDevice(config, gpus), null);
    return ok('device', `${device}, ${precision} (${reason})`);
  } catch (error) {
    const reason = error instanceof LatticeError ? error.message : String(error);
    return fail('device', reason, 'LATTICE_DEVICE=auto');
  }
}

function checkGpu(built: NativeBuildInfo | null): Finding {
  const driver = outputOf('nvidia-smi', [
    '--query-gpu=name,driver_version',
    '--format=csv,noheader',
  ]);
  if (driver === null) return ok('GPU', 'no NVIDIA driver found; the CPU is used');
  if (isPrebuilt()) {
    const fix = 'set the project up from its sources (docs/gpu.md), or LATTICE_DEVICE=cpu';
    return warn('GPU', `${driver}, which this package does not use: its addon is for CPUs`, fix);
  }
  const libraries = outputOf('sh', [
    '-c',
    'PATH=$PATH:/sbin ldconfig -p | grep -m1 -o "libnvinfer\\.so[.0-9]*"',
  ]);
  if (libraries === null) {
    return warn(
      'GPU',
      `${driver}, but TensorRT was not found`,
      'install TensorRT 10 or newer, then npm run setup',
    );
  }
  if (!built?.cuda)
    return warn('GPU', `${driver}, ${libraries}; the addon was built without it`, repairCommand());
  return ok('GPU', `${driver}, ${libraries}`);
}

/** Files only; whether the network can be compiled shows when the service starts. */
async function checkModels(config: Config): Promise<Finding> {
  const defaultName = defaultModelName(config);
  const fix = `put ${defaultName.replace(/\.pt$/, '.onnx')} into ${config.modelsDir} (docs/models.md)`;
  try {
    const bundledDir = join(PACKAGE_ROOT, 'models');
    const folder = await ModelFolder.open(config, bundledDir);
    const files = await folder.list();
    const standard = files.find(({ name }) => name === defaultName);
    const names = files.map(({ name }) => name).join(', ');
    if (standard === undefined) {
      return fail(
        'models',
        `no file for the default ${defaultName}; found: ${names || 'none'}`,
        fix,
      );
    }
    if (standard.bundled) {
      return warn('models', `${names}; ${defaultName} is the bundled stand-in`, fix);
    }
    return ok('models', names);
  } catch (error) {
    const title = error instanceof LatticeError ? ERRORS[error.code].title : String(error);
    return fail('models', title, fix);
  }
}

/** statfs types of file systems without dependable locks and shared memory, which the job store needs. */
const REMOTE_FILE_SYSTEMS = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x01021997, '9P'],
  [0x65735546, 'FUSE'],
  [0x00c36400, 'Ceph'],
  [0x0bd00bd0, 'Lustre'],
  [0x47504653, 'GPFS'],
  [0x5346414f, 'AFS'],
]);
const LOW_SPACE = 1024 ** 3;

async function checkImageRoots(roots: readonly string[]): Promise<Finding[]> {
  if (roots.length === 0) {
    return [fail('image root', 'none is set', 'LATTICE_IMAGE_ROOTS=/folder/with/images')];
  }
  const lister = new ImageLister();
  return Promise.all(
    roots.map(async (root) => {
      // Asks in another process: a call that does not return would keep this one from ending.
      const whyNot = await lister.ask('kindOf', { root, relative: '.' }, 5_000).then(
        () => null,
        (error: unknown) => noFolder(root, error),
      );
      if (isHanging(whyNot)) {
        const fix = 'check its volume, for example a network share whose server is gone';
        return fail('image root', `${root} does not answer`, fix);
      }
      if (whyNot !== null) return fail('image root', `${root}: ${whyNot.message}`, 'try it again');
      try {
        const entries = await readdir(root);
        return ok('image root', `${root} (${entries.length} entries)`);
      } catch (error) {
        const fix = `mkdir -p ${root} (or set LATTICE_IMAGE_ROOTS); it must be readable by this user`;
        return fail('image root', pathFault(error, root, 'read'), fix);
      }
    }),
  );
}

/** The bundled models serve without it. */
async function checkModelsDir(modelsDir: string): Promise<Finding[]> {
  const fault = await modelsFolderFault(modelsDir);
  if (fault === null) return [];
  const fix = 'make or mount it, readable by this user, or correct LATTICE_MODELS_DIR';
  return [warn('models folder', pathFault(fault, modelsDir, 'read'), fix)];
}

/** Makes the folder, as the service would. */
async function checkDataDir(dataDir: string): Promise<Finding> {
  const probe = join(dataDir, `.doctor-${randomBytes(4).toString('hex')}`);
  try {
    makeFolder(dataDir);
    await writeFile(probe, '');
    await rm(probe);
  } catch (error) {
    const fix = `make ${dirname(dataDir)} writable, or set LATTICE_DATA_DIR`;
    return fail('data folder', pathFault(error, dataDir, 'write'), fix);
  }
  const { type, bavail, bsize } = await statfs(dataDir);
  const remote = REMOTE_FILE_SYSTEMS.get(type);
  if (remote !== undefined) {
    const fix = 'point LATTICE_DATA_DIR at a local disk';
    return fail('data folder', `${dataDir} lies on ${remote}, where a job store breaks`, fix);
  }
  const free = bavail * bsize;
  const detail = `${dataDir}, ${(free / 1024 ** 3).toFixed(1)} GiB free`;
  return free < LOW_SPACE
    ? warn('data folder', detail, 'free some space, or set LATTICE_DATA_DIR')
    : ok('data folder', detail);
}

async function checkPort(host: string, port: number): Promise<Finding> {
  const place = `${host}:${port}`;
  if (port === 0) return ok('port', `a free one on ${host}`);
  const server = createServer();
  try {
    await once(server.listen(port, host), 'listening');
    return ok('port', `${place} is free`);
  } catch (error) {
    const taken = REFUSED_PORT[codeOf(error)] ?? `cannot be used (${codeOf(error)})`;
    return fail('port', `${place} ${taken}`, `lattice serve --port ${port + 1} (or LATTICE_PORT)`);
  } finally {
    server.close();
  }
}

/** Authentication where it matters. */
export function checkAccess(
  config: Pick<Config, 'env' | 'apiKeysFile' | 'webhookSecret'>,
): Finding[] {
  const findings = config.apiKeysFile === '' ? [] : [checkApiKeys(config.apiKeysFile)];
  if (config.env !== 'production') return findings;
  if (config.apiKeysFile === '') {
    const fix = 'LATTICE_API_KEYS_FILE=/etc/lattice/keys';
    findings.push(fail('API keys', 'production demands them', fix));
  }
  const fix = 'LATTICE_WEBHOOK_SECRET="whsec_$(openssl rand -base64 32)"';
  if (config.webhookSecret === '')
    findings.push(warn('webhook secret', 'webhooks are unsigned', fix));
  return findings;
}

function checkApiKeys(file: string): Finding {
  try {
    const { marks, hasAdmin } = ApiKeys.readFile(file);
    if (marks.size === 1 || hasAdmin) return ok('API keys', file);
    const fix = 'write [admin] behind the keys that may (docs/operate.md)';
    return warn('API keys', `${file}: every key may change models for all`, fix);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const fix = 'a file that this user can read, with one key of 16 characters or more a line';
    return fail('API keys', reason, fix);
  }
}

const REFUSED_PORT: Record<string, string> = {
  EADDRINUSE: 'is in use',
  EACCES: 'needs a privilege, as every port below 1024',
  EADDRNOTAVAIL: 'is no address of this machine',
};

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error);
}
