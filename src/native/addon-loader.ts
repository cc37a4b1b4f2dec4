/** Loads the compiled addon, and says what to do when that fails. */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { isPrebuilt, packageManifest, repairCommand } from '../base/package.js';
import type { NativeAddon } from './contract.js';

/** The same file from `src/` and from `dist/`. */
const ADDON_PATH = fileURLToPath(new URL('../../build/Release/lattice.node', import.meta.url));

export class AddonLoadError extends Error {
  override readonly name = 'AddonLoadError';
}

let loaded: NativeAddon | undefined;

/** Throws `AddonLoadError` with the reason and the command that helps. Loads once per environment. */
export function loadAddon(path = ADDON_PATH): NativeAddon {
  if (path === ADDON_PATH && loaded !== undefined) return loaded;
  let addon: NativeAddon;
  try {
    addon = createRequire(import.meta.url)(path) as NativeAddon;
  } catch (error) {
    throw new AddonLoadError(explainLoadFailure(error, path), { cause: error });
  }
  if (path === ADDON_PATH) loaded = addon;
  return addon;
}

function explainLoadFailure(error: unknown, path: string): string {
  const repair = `Run \`${repairCommand()}\`.`;
  const rebuild = isPrebuilt() ? repair : `Remove build/. ${repair}`;
  if (!existsSync(path)) return `The addon is not ${isPrebuilt() ? 'there' : 'built'}. ${repair}`;
  const reason = error instanceof Error ? error.message : String(error);
  if (/version `GLIBC\S*' not found/.test(reason)) return explainOlderSystem(reason, rebuild);
  const library = /(\S+): cannot open shared object file/.exec(reason)?.[1];
  if (library !== undefined) {
    return `The addon needs the library ${library}, which is missing. ${repair}`;
  }
  if (/invalid ELF header|file too short|wrong ELF class|NODE_MODULE_VERSION/.test(reason)) {
    return `The addon is damaged or was built for another machine. ${rebuild}`;
  }
  if (loadsAlone(path)) {
    return `The addon loads in a process of its own but not in this one: a library that it shares with another addon was loaded in another version first (${reason}).`;
  }
  return `The addon cannot be loaded (${reason}). ${rebuild}`;
}

function explainOlderSystem(reason: string, rebuild: string): string {
  const { prebuilt } = packageManifest();
  if (prebuilt === undefined)
    return `The addon was built on a newer system (${reason}). ${rebuild}`;
  return `The addon of this package needs glibc ${prebuilt.glibc} and a libstdc++ with ${prebuilt.glibcxx} (${reason}). Use a newer system, or set the project up from its sources.`;
}

/** Tries the addon in a child process, because a library that failed half-way may end its process. */
function loadsAlone(path: string): boolean {
  const script = `require(${JSON.stringify(path)})`;
  return spawnSync(process.execPath, ['-e', script], { timeout: 30_000 }).status === 0;
}
