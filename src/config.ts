/** Settings as the service uses them: the only reader of the environment. */
import { readFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { settings } from './settings.js';

/** Folder of package.json, from both `src/` and `dist/`. */
export const PACKAGE_ROOT = fileURLToPath(new URL('..', import.meta.url));

const schema = z.strictObject(settings);
export type Settings = z.infer<typeof schema>;

/** Settings with paths made absolute and lists split. */
export interface Config extends Omit<
  Settings,
  'imageRoots' | 'webhookAllow' | 'corsOrigins' | 'cluster'
> {
  cluster: 'local' | 'ray';
  imageRoots: string[];
  webhookAllow: string[];
  corsOrigins: string[];
}

/** `imageRoots` -> `LATTICE_IMAGE_ROOTS`. */
export function environmentName(key: string): string {
  return `LATTICE_${key.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}

/** Only this machine reaches such an address. */
export function isLoopback(host: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|::1)$/.test(host);
}

export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

const list = (text: string, separator: string) =>
  text
    .split(separator)
    .map((part) => part.trim())
    .filter(Boolean);

/**
 * Flags win over the environment, the environment over the config file (JSON, keys as in `settings`).
 * Relative paths are resolved against the package's folder for defaults, else against the working directory.
 * Throws `ConfigError` naming every wrong setting.
 */
export function loadConfig(
  flags: Record<string, unknown> = {},
  environment: NodeJS.ProcessEnv = process.env,
): Config {
  const file = flags.config ?? environment.LATTICE_CONFIG;
  const given: Record<string, unknown> = typeof file === 'string' ? readConfigFile(file) : {};
  for (const key of Object.keys(settings)) {
    const value = flags[key] ?? environment[environmentName(key)];
    if (value !== undefined && value !== '') given[key] = value;
  }
  const parsed = schema.safeParse(given);
  if (!parsed.success) {
    const lines = parsed.error.issues.map(
      (issue) => `  ${environmentName(String(issue.path[0] ?? '?'))}: ${issue.message}`,
    );
    throw new ConfigError(`Wrong settings:\n${lines.join('\n')}`);
  }
  const absolute = (key: keyof Settings, path: string) =>
    resolve(key in given ? process.cwd() : PACKAGE_ROOT, path);
  const values = parsed.data;
  const dataDir = absolute('dataDir', values.dataDir);
  return {
    ...values,
    cluster: chooseCluster(values),
    imageRoots: list(values.imageRoots, delimiter).map((root) => absolute('imageRoots', root)),
    modelsDir: absolute('modelsDir', values.modelsDir),
    dataDir,
    engineCacheDir:
      'engineCacheDir' in given
        ? resolve(values.engineCacheDir)
        : join(dataDir, values.engineCacheDir),
    webhookAllow: list(values.webhookAllow, ','),
    corsOrigins: list(values.corsOrigins, ','),
  };
}

function chooseCluster({ cluster, rayAddress }: Settings): Config['cluster'] {
  if (cluster !== 'auto') return cluster;
  return rayAddress === '' ? 'local' : 'ray';
}

function readConfigFile(path: string): Record<string, unknown> {
  try {
    return z.record(z.string(), z.unknown()).parse(JSON.parse(readFileSync(path, 'utf8')));
  } catch (error) {
    throw new ConfigError(`Config file ${path} cannot be read: ${String(error)}`);
  }
}
