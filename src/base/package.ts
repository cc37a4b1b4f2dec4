/** This package: where it is, and what its package.json says. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const PACKAGE_ROOT = fileURLToPath(new URL('../..', import.meta.url));

interface Manifest {
  /** The version of this release, which is stored only here. */
  version: string;
  /** Names of what a release publishes: the one place of them; `scripts/pack.mjs` makes the packages. */
  release: { service: string; client: string };
  /** Only in the package of a release: what its addon, compiled elsewhere, needs of the system. */
  prebuilt?: { glibc: string; glibcxx: string };
}

let manifest: Manifest | undefined;

export function packageManifest(): Manifest {
  manifest ??= JSON.parse(readFileSync(join(PACKAGE_ROOT, 'package.json'), 'utf8')) as Manifest;
  return manifest;
}

export function packageVersion(): string {
  return packageManifest().version;
}

/** Whether this is the package of a release: its folder holds nothing of the user's, nothing is built in it. */
export function isPrebuilt(): boolean {
  return packageManifest().prebuilt !== undefined;
}

/** The command that puts addon, OpenVINO and compiled files in place again. */
export function repairCommand(): string {
  return isPrebuilt() ? `npm install ${packageManifest().release.service}` : 'npm run setup';
}
