// Fetches OpenVINO from its Python wheel: headers, libraries and licences, without a Python environment.
// pip only downloads; any Python 3 works, because the code of the wheel is never run.
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const OPENVINO_VERSION = '2026.4.1';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DEPS = join(ROOT, '.deps');
const TARGET = join(DEPS, 'openvino');
const STAMP = join(TARGET, 'VERSION');
const PLATFORMS = { x64: 'manylinux_2_28_x86_64', arm64: 'manylinux_2_28_aarch64' };

// The core, the CPU plugin with its threading, and the two readers in use (ONNX; IR for cached models).
// GPU and NPU plugins and the other readers would add 70 MB and attack surface without use.
const KEPT_LIBRARIES =
  /^lib(openvino|openvino_intel_cpu_plugin|openvino_arm_cpu_plugin|openvino_onnx_frontend|openvino_ir_frontend|tbb|tbbbind_2_5|tbbmalloc|hwloc)\.so/;

function run(command, args) {
  const result = spawnSync(command, args, { encoding: 'utf8' });
  if (result.error) throw new Error(`${command}: ${result.error.message}`);
  if (result.status !== 0) {
    throw new Error(`${command} ${args.join(' ')} failed:\n${result.stdout}${result.stderr}`);
  }
}

/** Copies what the build and the service need out of the unpacked wheel. */
function keepNeeded(wheel, target) {
  const source = join(wheel, 'openvino');
  cpSync(join(source, 'include'), join(target, 'include'), { recursive: true });
  mkdirSync(join(target, 'libs'), { recursive: true });
  for (const name of readdirSync(join(source, 'libs'))) {
    if (KEPT_LIBRARIES.test(name)) {
      cpSync(join(source, 'libs', name), join(target, 'libs', name));
    }
  }
  for (const name of readdirSync(wheel)) {
    const licences = join(wheel, name, 'licenses');
    if (name.endsWith('.dist-info') && existsSync(licences)) {
      cpSync(licences, join(target, 'licenses'), { recursive: true });
    }
  }
}

/** Whether it must be fetched: `.deps/openvino` lacks the pinned version, and CMake has no path to another one. */
export function needsOpenVino() {
  if (process.env.OpenVINO_DIR !== undefined) return false;
  return !existsSync(STAMP) || readFileSync(STAMP, 'utf8').trim() !== OPENVINO_VERSION;
}

/**
 * Installs the pinned OpenVINO in `.deps/openvino`. Idempotent: a rename makes the finished folder visible, so an
 * interruption leaves only a temporary folder, which the next run removes.
 */
export async function ensureOpenVino() {
  if (!needsOpenVino()) return;
  const platform = PLATFORMS[process.arch];
  if (process.platform !== 'linux' || platform === undefined) {
    throw new Error(
      `OpenVINO is set up for Linux on x64 and arm64, not ${process.platform} on ${process.arch}.`,
    );
  }
  mkdirSync(DEPS, { recursive: true });
  for (const name of readdirSync(DEPS)) {
    if (name.startsWith('openvino-')) rmSync(join(DEPS, name), { recursive: true, force: true });
  }
  const work = mkdtempSync(join(DEPS, 'openvino-'));
  run('python3', [
    ...['-m', 'pip', 'download', '--quiet', '--disable-pip-version-check', '--no-deps'],
    ...['--only-binary=:all:', '--python-version', '3.11', '--implementation', 'cp'],
    ...['--platform', platform, '--dest', work, `openvino==${OPENVINO_VERSION}`],
  ]);
  const wheel = readdirSync(work).find((name) => name.endsWith('.whl'));
  if (wheel === undefined) throw new Error('pip reported success but left no OpenVINO wheel.');
  run('python3', ['-m', 'zipfile', '-e', join(work, wheel), join(work, 'wheel')]);
  const kept = join(work, 'openvino');
  keepNeeded(join(work, 'wheel'), kept);
  writeFileSync(join(kept, 'VERSION'), `${OPENVINO_VERSION}\n`);
  rmSync(TARGET, { recursive: true, force: true });
  renameSync(kept, TARGET);
  rmSync(work, { recursive: true, force: true });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await ensureOpenVino();
