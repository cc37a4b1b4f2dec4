/** The addon, what it was built with, and what it would run. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ERRORS, LatticeError } from '../../api/errors.js';
import { PACKAGE_ROOT } from '../../base/package.js';
import type { Config } from '../../settings/config.js';
import { chooseDevice, explainChoice } from '../../execution/here/compute-choice.js';
import type { NativeGpus } from '../../native/contract.js';
import { defaultModelName, ModelFolder } from '../../models/model-folder.js';
import type { NativeBuildInfo } from '../../native/contract.js';
import { fail, ok, warn, type Finding } from './finding.js';

const SETUP = 'npm run setup';

export interface AddonFindings {
  finding: Finding;
  built: NativeBuildInfo | null;
  gpus: NativeGpus;
}

const NO_ADDON: NativeGpus = { gpus: [], missing: 'the addon cannot be loaded.' };

/** `built` is null when the addon cannot be loaded; the finding then says why. */
export async function checkAddon(): Promise<AddonFindings> {
  try {
    const { buildInfo, gpus } = await import('../../native/core.js');
    const built = buildInfo();
    const parts = `${built.version}, libvips ${built.libvips}, JPEG ${built.jpeg}`;
    return { finding: ok('addon', parts), built, gpus: gpus() };
  } catch (error) {
    const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
    return {
      finding: fail('addon', `cannot be loaded: ${reason}`, SETUP),
      built: null,
      gpus: NO_ADDON,
    };
  }
}

export function checkOpenVino(built: NativeBuildInfo | null): Finding {
  if (built?.openvino) return ok('OpenVINO', built.openvino);
  const file = join(PACKAGE_ROOT, '.deps', 'openvino', 'VERSION');
  if (built === null && existsSync(file)) {
    return ok('OpenVINO', `${readFileSync(file, 'utf8').trim()} downloaded`);
  }
  return fail('OpenVINO', built === null ? 'not found' : 'not built into the addon', SETUP);
}

/** What `serve` would take. */
export function checkDevice(config: Config, gpus: NativeGpus): Finding {
  try {
    const { device, precision, reason } = explainChoice(config, chooseDevice(config, gpus), null);
    return ok('device', `${device}, ${precision} (${reason})`);
  } catch (error) {
    const reason = error instanceof LatticeError ? error.message : String(error);
    return fail('device', reason, 'LATTICE_DEVICE=auto');
  }
}

export function checkGpu(built: NativeBuildInfo | null): Finding {
  const driver = firstLine('nvidia-smi', [
    '--query-gpu=name,driver_version',
    '--format=csv,noheader',
  ]);
  if (driver === null) return ok('GPU', 'no NVIDIA driver found; the CPU is used');
  const libraries = firstLine('sh', [
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
    return warn('GPU', `${driver}, ${libraries}; the addon was built without it`, SETUP);
  return ok('GPU', `${driver}, ${libraries}`);
}

/** Files only; whether the network can be compiled shows when the service starts. */
export async function checkModels(config: Config): Promise<Finding> {
  const defaultName = defaultModelName(config);
  const fix = `put ${defaultName.replace(/\.pt$/, '.onnx')} into ${config.modelsDir} (docs: models/README.md)`;
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

function firstLine(command: string, args: string[]): string | null {
  const run = spawnSync(command, args, { encoding: 'utf8', timeout: 10_000 });
  const line = run.status === 0 ? run.stdout.split('\n')[0]?.trim() : undefined;
  return line === undefined || line === '' ? null : line;
}
