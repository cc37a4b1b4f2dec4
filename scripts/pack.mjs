// Makes what a release publishes, in dist-packages/: the npm package of the service with the compiled addon and its
// libraries, so that an installation compiles and downloads nothing beside npm's packages, and the two clients.
//
//   npm run pack [-- PART ...]     PART: service, node, python
//
// The addon is packed as set-up built it: the glibc and libstdc++ that it was linked with are the least that the
// package runs with, so a release is packed on an old system (docs/package.md).
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const PACKAGES = join(ROOT, 'dist-packages');
const ADDON = join(ROOT, 'build/Release/lattice.node');
const OPENVINO = join(ROOT, '.deps/openvino');
const MANIFEST = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
const PLATFORM = { os: 'linux', cpu: process.arch, libc: 'glibc' };
const SHARP_LIBVIPS = `@img/sharp-libvips-${PLATFORM.os}-${PLATFORM.cpu}`;

/** Files that the running service reads, beside the addon and its libraries. */
const FILES = [
  'LICENSE',
  'cluster/lattice_ray',
  'dist',
  'docs',
  'llms.txt',
  'models/README.md',
  'models/demo',
  'models/manifest.json',
  'models/quantize',
  'models/tiny',
  'models/vehicles-v8n.int8.onnx',
  'models/vehicles-v8n.onnx',
  'src/clusters/ray/ray_client.proto',
];
const LEFT_OUT = /\.(map|d\.ts|pyc)$|docs\/images|__pycache__|\.py\.lock$/;
/** Libraries of every glibc system with Node.js, which itself needs them. */
const OF_THE_SYSTEM =
  /^(ld-linux-[\w-]+|lib(c|m|dl|pthread|rt|resolv|gcc_s|stdc\+\+))\.so(\.\d+)+$/;
/** Debian's text on libjpeg-turbo, whose licence asks for it beside the library. */
const TURBOJPEG = {
  library: 'libturbojpeg.so.0',
  licence: '/usr/share/doc/libturbojpeg0/copyright',
};

const output = (command, args, options = {}) =>
  execFileSync(command, args, { cwd: ROOT, encoding: 'utf8', maxBuffer: 2 ** 28, ...options });

const npm = (...args) => output('npm', [...args, '--loglevel', 'error']);

/** Names and versions that a library asks its system for. */
function needsOf(file) {
  const text = output('objdump', ['-p', file]);
  return {
    libraries: [...text.matchAll(/^ +NEEDED +(\S+)$/gm)].map(([, name]) => name),
    versions: [...text.matchAll(/^ +0x\S+ 0x\S+ \d+ (\S+)$/gm)].map(([, version]) => version),
  };
}

function newest(versions, family) {
  const numbers = versions
    .filter((version) => version.startsWith(`${family}_`))
    .map((version) => version.slice(family.length + 1))
    .sort((one, other) => one.localeCompare(other, 'en', { numeric: true }));
  return numbers.at(-1);
}

/** The addon and its libraries in one folder, where its `$ORIGIN` finds them. Returns what they need of the system. */
function stageAddon(folder) {
  const target = join(folder, 'build/Release');
  mkdirSync(target, { recursive: true });
  cpSync(ADDON, join(target, 'lattice.node'));
  for (const name of readdirSync(join(OPENVINO, 'libs'))) {
    cpSync(join(OPENVINO, 'libs', name), join(target, name));
  }
  cpSync(join(OPENVINO, 'licenses'), join(folder, 'licenses/openvino'), { recursive: true });
  if (needsOf(ADDON).libraries.includes(TURBOJPEG.library)) stageTurboJpeg(folder, target);
  output('strip', ['--strip-unneeded', join(target, 'lattice.node')]);

  const files = readdirSync(target);
  const vips = readdirSync(join(ROOT, 'node_modules', SHARP_LIBVIPS, 'lib'));
  const needs = files.map((name) => needsOf(join(target, name)));
  const missing = needs
    .flatMap(({ libraries }) => libraries)
    .filter((name) => !files.includes(name) && !vips.includes(name) && !OF_THE_SYSTEM.test(name));
  if (missing.length > 0) {
    throw new Error(
      `The addon needs libraries that are not packed: ${[...new Set(missing)].join(', ')}. Build it without them: ` +
        'LATTICE_CUDA=OFF, and without an OpenVINO of the system (OpenVINO_DIR).',
    );
  }
  const versions = needs.flatMap((each) => each.versions);
  return { glibc: newest(versions, 'GLIBC'), glibcxx: `GLIBCXX_${newest(versions, 'GLIBCXX')}` };
}

function stageTurboJpeg(folder, target) {
  const [, path] = /libturbojpeg\.so\.0 => (\S+)/.exec(output('ldd', [ADDON])) ?? [];
  if (path === undefined || !existsSync(TURBOJPEG.licence)) {
    throw new Error(
      `${TURBOJPEG.library} cannot be packed: ${path ?? TURBOJPEG.licence} is missing.`,
    );
  }
  cpSync(realpathSync(path), join(target, TURBOJPEG.library));
  cpSync(realpathSync(TURBOJPEG.licence), join(folder, 'licenses/libjpeg-turbo.txt'));
}

function serviceManifest(prebuilt) {
  const { version, description, license, type, engines, bin, release } = MANIFEST;
  const libvips = readManifest(join(ROOT, 'node_modules', SHARP_LIBVIPS)).version;
  const dependencies = { ...MANIFEST.dependencies, [SHARP_LIBVIPS]: libvips };
  const platform = Object.fromEntries(
    Object.entries(PLATFORM).map(([key, value]) => [key, [value]]),
  );
  return {
    ...{ name: release.service, version, description, license, type, engines, ...platform, bin },
    ...{ dependencies, release, prebuilt },
  };
}

const readManifest = (folder) => JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));

/** Writes the service's package into `target`. Returns what it needs of the system. */
export function packService(target) {
  const folder = mkdtempSync(join(tmpdir(), 'lattice-pack-'));
  try {
    const prebuilt = stageService(folder);
    npm('pack', folder, '--pack-destination', target);
    return prebuilt;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function stageService(folder) {
  for (const path of FILES) {
    const filter = (source) => !LEFT_OUT.test(source);
    cpSync(join(ROOT, path), join(folder, path), { recursive: true, filter });
  }
  chmodSync(join(folder, MANIFEST.bin.lattice), 0o755);
  cpSync(join(ROOT, 'docs/package.md'), join(folder, 'README.md'));
  const prebuilt = stageAddon(folder);
  writeFileSync(join(folder, 'package.json'), JSON.stringify(serviceManifest(prebuilt), null, 2));
  return prebuilt;
}

async function packNodeClient(target) {
  await import('../clients/node/build.mjs');
  npm('pack', './clients/node', '--pack-destination', target);
}

/** pip fetches the builder that pyproject.toml names. */
function packPythonClient(target) {
  const pip = ['-m', 'pip', 'wheel', '--quiet', '--disable-pip-version-check', '--no-deps'];
  output('python3', [...pip, '--wheel-dir', target, './clients/python']);
}

const { service, client } = MANIFEST.release;
const PARTS = {
  service: {
    makes: new RegExp(`^${service}-\\d.*\\.tgz$`),
    make(target) {
      const { glibc, glibcxx } = packService(target);
      console.log(`The addon of the service needs glibc ${glibc} and ${glibcxx}, or newer.`);
    },
  },
  node: { makes: new RegExp(`^${client}-\\d.*\\.tgz$`), make: packNodeClient },
  python: {
    makes: new RegExp(`^${client.replaceAll('-', '_')}-\\d.*\\.whl$`),
    make: packPythonClient,
  },
};

/** Replaces what earlier runs made of the parts, and that alone. Prints one line per package in the folder. */
export async function pack(parts, target = PACKAGES) {
  const unknown = parts.filter((part) => !(part in PARTS));
  if (unknown.length > 0) {
    throw new Error(
      `No package: ${unknown.join(', ')}. There are ${Object.keys(PARTS).join(', ')}.`,
    );
  }
  mkdirSync(target, { recursive: true });
  for (const { makes, make } of parts.map((part) => PARTS[part])) {
    for (const name of readdirSync(target)) if (makes.test(name)) rmSync(join(target, name));
    await make(target);
  }
  for (const name of readdirSync(target)) {
    const size = statSync(join(target, name)).size / 1e6;
    console.log(`${relative(ROOT, target)}/${name}: ${size.toFixed(2)} MB`);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const named = process.argv.slice(2);
  await pack(named.length > 0 ? named : Object.keys(PARTS));
}
