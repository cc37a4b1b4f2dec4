/** Settings as the service uses them: the only reader of the environment. */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { isPrebuilt, PACKAGE_ROOT } from '../base/package.js';
import { isPathError, pathFault } from '../base/path-fault.js';
import { splitList } from '../base/text-list.js';
import { readRoots, settings, writeRoots } from './settings.js';

const schema = z.strictObject(settings);
export type Settings = z.infer<typeof schema>;

/** Settings with paths made absolute and lists split. */
export interface Config extends Omit<
  Settings,
  'imageRoots' | 'preload' | 'webhookAllow' | 'corsOrigins' | 'cluster'
> {
  cluster: 'local' | 'ray';
  imageRoots: string[];
  preload: string[];
  webhookAllow: string[];
  corsOrigins: string[];
}

const CONFIG_FILE = 'LATTICE_CONFIG';
/** Variables of clients, the edge node, the build and the tests. */
const OTHER_PARTS =
  /^LATTICE_(CORE_API_URL|API_KEY|EDGE_\w+|\w+_PYTHON|CUDA|NO_INSTALL|SIMULATED_\w+|GPU_CHECK_\w+|COMMIT)$/;

const list = (text: string) => splitList(text, ',');

/** `imageRoots` -> `LATTICE_IMAGE_ROOTS`. */
export function environmentName(key: string): string {
  return `LATTICE_${key.replace(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}

/** These settings as environment variables, for a child process of this package. */
export function environmentOf(
  config: Config,
  keys: readonly (keyof typeof settings)[],
): Record<string, string> {
  const entries = keys.map((key) => {
    const value = config[key];
    if (key === 'imageRoots') return [environmentName(key), writeRoots(config.imageRoots)] as const;
    const text = Array.isArray(value) ? value.join(',') : String(value);
    return [environmentName(key), text] as const;
  });
  return Object.fromEntries(entries.filter(([, value]) => value !== ''));
}

/** The environment of this process without settings, for a child that gets its own settings. */
export function inheritedEnvironment(environment = process.env): NodeJS.ProcessEnv {
  const known = new Set([...Object.keys(settings).map(environmentName), CONFIG_FILE]);
  return Object.fromEntries(Object.entries(environment).filter(([name]) => !known.has(name)));
}

/**
 * The value of `CUDA_VISIBLE_DEVICES` with which a process sees only the GPU that is `ordinal` in this one; empty,
 * which hides all GPUs, where this process does not see so many.
 */
export function onlyVisibleGpu(ordinal: number, environment = process.env): string {
  const visible = environment.CUDA_VISIBLE_DEVICES;
  return visible === undefined ? String(ordinal) : (list(visible)[ordinal] ?? '');
}

/** True for an address that only this machine reaches. */
export function isLoopback(host: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|::1)$/.test(host);
}

/**
 * LATTICE_* variables that are not settings: mistyped, or of another version. Variables of the project's other parts,
 * which may share the environment, are not included.
 */
export function unknownSettings(environment: NodeJS.ProcessEnv = process.env): string[] {
  const known = new Set([...Object.keys(settings).map(environmentName), CONFIG_FILE]);
  return Object.keys(environment).filter(
    (name) => name.startsWith('LATTICE_') && !known.has(name) && !OTHER_PARTS.test(name),
  );
}

export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** Their libraries read the others of OpenTelemetry's variables. */
const COLLECTOR_VARIABLES = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'];

/** The variable that names a collector of traces; null where none does. */
export function traceCollector(): string | null {
  return COLLECTOR_VARIABLES.find((name) => (process.env[name] ?? '') !== '') ?? null;
}

/** Address of a running service and the API key, for commands that call it. */
export interface ServiceAccess {
  /** Undefined for the default. */
  url: string | undefined;
  apiKey: string | undefined;
}

/**
 * Flags take precedence over the environment; the edge node uses the same names. A key comes from a file or a variable:
 * every user of the machine can read a command line. Throws a `ConfigError` for a file without a key.
 */
export function serviceAccess(
  flags: { url?: string | undefined; apiKeyFile?: string | undefined },
  environment: NodeJS.ProcessEnv = process.env,
): ServiceAccess {
  const given = (name: string) => givenText(environment, name);
  return {
    url: flags.url ?? given('LATTICE_CORE_API_URL'),
    apiKey:
      flags.apiKeyFile === undefined ? given('LATTICE_API_KEY') : readApiKey(flags.apiKeyFile),
  };
}

function givenText(environment: NodeJS.ProcessEnv, name: string): string | undefined {
  const text = environment[name]?.trim() ?? '';
  return text === '' ? undefined : text;
}

const LABEL_STUDIO_KEY = 'LABEL_STUDIO_API_KEY';

/** The key of Label Studio, from the variable that its own tools read. Throws a `ConfigError` where there is none. */
export function labelStudioKey(environment: NodeJS.ProcessEnv = process.env): string {
  const key = givenText(environment, LABEL_STUDIO_KEY);
  if (key === undefined || !/^[!-~]+$/.test(key)) {
    throw new ConfigError(
      `${LABEL_STUDIO_KEY} must hold an access token of Label Studio: Account & Settings has it.`,
    );
  }
  return key;
}

/** The first key of the file. It may be the service's own key file. */
function readApiKey(path: string): string {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigError(`API key file: ${pathFault(error, path, 'read')}`);
  }
  const lines = text.split('\n').map((line) => line.trim());
  const [key] = lines.find((line) => line !== '' && !line.startsWith('#'))?.split(/\s/) ?? [];
  if (key === undefined) throw new ConfigError(`API key file ${path} contains no key.`);
  if (key.startsWith('sha256:')) {
    throw new ConfigError(
      `API key file ${path} contains the digest of a key; a client needs the key itself.`,
    );
  }
  return key;
}

/**
 * Flags take precedence over the environment, the environment over the config file (JSON, keys as in `settings`).
 * Relative paths are resolved against the working directory; the defaults against the package's folder, in the package
 * of a release only that of the demo pictures.
 * Throws a `ConfigError` that names every invalid setting.
 */
export function loadConfig(
  flags: Record<string, unknown> = {},
  environment: NodeJS.ProcessEnv = process.env,
): Config {
  const file = flags.config ?? environment[CONFIG_FILE];
  const given: Record<string, unknown> =
    typeof file === 'string' && file !== '' ? readConfigFile(file) : {};
  if (Array.isArray(given.imageRoots)) given.imageRoots = JSON.stringify(given.imageRoots);
  for (const key of Object.keys(settings)) {
    const value = flags[key] ?? environment[environmentName(key)];
    if (value !== undefined && value !== '') given[key] = value;
  }
  const parsed = schema.safeParse(given);
  if (!parsed.success) {
    const lines = parsed.error.issues.flatMap((issue) => describeIssue(issue, given));
    throw new ConfigError(`Invalid settings:\n${lines.join('\n')}`);
  }
  const absolute = (key: keyof Settings, path: string) =>
    key in given ? resolve(path) : resolve(defaultsFolder(key), path);
  const values = parsed.data;
  const dataDir = absolute('dataDir', values.dataDir);
  return {
    ...values,
    cluster: chooseCluster(values),
    imageRoots: readRoots(values.imageRoots).map((root) => absolute('imageRoots', root)),
    modelsDir: absolute('modelsDir', values.modelsDir),
    dataDir,
    engineCacheDir:
      'engineCacheDir' in given
        ? resolve(values.engineCacheDir)
        : join(dataDir, values.engineCacheDir),
    preload: list(values.preload),
    webhookAllow: list(values.webhookAllow),
    corsOrigins: list(values.corsOrigins),
  };
}

/** The folder of a release's package is replaced by the next `npm install`, with all that lies in it. */
function defaultsFolder(key: keyof Settings): string {
  return isPrebuilt() && key !== 'imageRoots' ? process.cwd() : PACKAGE_ROOT;
}

/** The folder of models when no setting names one. It need not exist: `lattice model add` makes it. */
export function defaultModelsDir(): string {
  return resolve(defaultsFolder('modelsDir'), schema.shape.modelsDir.parse(undefined));
}

/** Only a config file can contain an unknown key. */
function describeIssue(issue: z.core.$ZodIssue, given: Record<string, unknown>): string[] {
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => `  ${key}: unknown setting (config file)`);
  }
  const key = String(issue.path[0]);
  return [`  ${environmentName(key)}: ${reasonOf(issue, JSON.stringify(given[key]))}`];
}

/** The reason with the given value: zod's own texts name types and not the text. */
function reasonOf(issue: z.core.$ZodIssue, value: string): string {
  switch (issue.code) {
    case 'invalid_value':
      return `${value} is none of ${issue.values.join(', ')}`;
    case 'invalid_type':
      if (issue.expected === 'number') return `${value} is not a number`;
      return `${value} is not a ${issue.expected === 'int' ? 'whole number' : issue.expected}`;
    case 'too_big':
      return `${value} is too large: at most ${issue.maximum}`;
    case 'too_small':
      return `${value} is too small: at least ${issue.minimum}`;
    default:
      return issue.message;
  }
}

function chooseCluster({ cluster, rayAddress }: Settings): Config['cluster'] {
  if (cluster !== 'auto') return cluster;
  return rayAddress === '' ? 'local' : 'ray';
}

function readConfigFile(path: string): Record<string, unknown> {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    const reason = isPathError(error)
      ? pathFault(error, path, 'read')
      : `${path} is not valid JSON: ${(error as Error).message}.`;
    throw new ConfigError(`Config file: ${reason}`);
  }
  const fields = z.record(z.string(), z.unknown()).safeParse(content);
  if (!fields.success) throw new ConfigError(`Config file ${path} is not a JSON object.`);
  return fields.data;
}
