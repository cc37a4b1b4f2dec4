/** Finds models: in the user's folder first, then among the bundled ones that `manifest.json` lists. */
import { readFile, readdir, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { isPathError } from '../base/path-fault.js';
import { PACKAGE_ROOT } from '../base/package.js';
import type { Config } from '../settings/config.js';
import { LatticeError } from '../api/errors.js';
import { eightBitPath } from './eight-bit-copy.js';

const BUNDLED_MODELS = join(PACKAGE_ROOT, 'models');

/** No path separators, so a name can never leave its folder. */
const MODEL_NAME = /^[A-Za-z0-9._-]+\.pt$/;
const LONGEST_NAME = 128;

const manifestSchema = z.object({
  aliases: z.object({ default: z.string() }),
  models: z.array(
    z.object({
      file: z.string(),
      licence: z.string(),
      /** A model for tests: requests can name it, but no list has it. */
      unlisted: z.literal(true).optional(),
      /** File with a picture's known boxes, relative to the manifest. */
      canary: z.string().optional(),
    }),
  ),
});
type Manifest = z.infer<typeof manifestSchema>;

/** A file that a model name stands for. */
export interface ModelFile {
  name: string;
  /** Absolute. */
  path: string;
  bundled: boolean;
  /** The bundled model that the default name stands for, by its own name. */
  aliasOf: string | null;
  licence: string | null;
  /** Absolute path of a picture's known boxes, for the self-check; null when they are unknown. */
  knownPicturePath: string | null;
}

/** Programs that export models write their own version where a bundled model has its release. */
export function releaseOf(
  { bundled }: Pick<ModelFile, 'bundled'>,
  { version }: Readonly<Record<string, string>>,
): string | null {
  return bundled ? (version ?? null) : null;
}

export type ModelSettings = Pick<Config, 'modelsDir' | 'modelFamily'>;

/** `model_name` of requests that name none: the smallest variant of the configured family. */
export function defaultModelName({ modelFamily }: Pick<ModelSettings, 'modelFamily'>): string {
  return `${modelFamily}v8n.pt`;
}

/** `depot`, `depot.onnx` and `depot.pt` name the same model. */
export function withSuffix(name: string): string {
  return `${name.replace(/\.(pt|onnx)$/, '')}.pt`;
}

export class ModelFolder {
  readonly defaultName: string;
  readonly #modelsDir: string;
  readonly #bundledDir: string;
  readonly #manifest: Manifest;

  private constructor(settings: ModelSettings, bundledDir: string, manifest: Manifest) {
    this.defaultName = defaultModelName(settings);
    this.#modelsDir = settings.modelsDir;
    this.#bundledDir = bundledDir;
    this.#manifest = manifest;
  }

  /** Reads the `manifest.json` of the bundled models; a missing one means that nothing is bundled. */
  static async open(settings: ModelSettings, bundledDir = BUNDLED_MODELS): Promise<ModelFolder> {
    const text = await readFile(join(bundledDir, 'manifest.json'), 'utf8').catch(() => null);
    const manifest: Manifest =
      text === null
        ? { aliases: { default: '' }, models: [] }
        : manifestSchema.parse(JSON.parse(text));
    return new ModelFolder(settings, bundledDir, manifest);
  }

  /** Rejects with `unknown_model` naming what there is. */
  async find(name: string): Promise<ModelFile> {
    if (name.length <= LONGEST_NAME && MODEL_NAME.test(name)) {
      const own = this.#ownFile(name);
      if (await isFile(own.path)) return own;
      const bundled = this.#bundledFiles().find((file) => file.name === name);
      if (bundled !== undefined && (await isFile(bundled.path))) return bundled;
    }
    const names = (await this.list()).map((file) => file.name);
    throw new LatticeError(
      'unknown_model',
      `There is no model '${name.slice(0, LONGEST_NAME)}'. ` +
        (names.length === 0 ? 'No model is installed.' : `Available: ${names.join(', ')}.`),
    );
  }

  /** False while the user's folder does not answer. One that is not there has no models. */
  async isReachable(): Promise<boolean> {
    return stat(this.#modelsDir).then(
      () => true,
      (error: unknown) => isPathError(error) && error.code === 'ENOENT',
    );
  }

  /** Lists every model that `find` knows and that is not unlisted: the default first, then the others by name. */
  async list(): Promise<ModelFile[]> {
    const entries = await readdir(this.#modelsDir).catch(() => []);
    const own = entries
      .filter((entry) => entry.endsWith('.onnx') && !isCopyOf(entry, entries))
      .map((entry) => this.#ownFile(entry.replace(/\.onnx$/, '.pt')))
      .filter((file) => MODEL_NAME.test(file.name));
    const byName = new Map<string, ModelFile>();
    for (const file of [...this.#bundledFiles({ listed: true }), ...own]) {
      if (await isFile(file.path)) byName.set(file.name, file);
    }
    const rank = (file: ModelFile) => (file.name === this.defaultName ? 0 : 1);
    return [...byName.values()].sort(
      (a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : Number(a.name > b.name)),
    );
  }

  /** A file counts as bundled even if the user configured the bundled folder as the models folder. */
  #ownFile(name: string): ModelFile {
    const path = join(this.#modelsDir, name.replace(/\.pt$/, '.onnx'));
    const bundled = this.#bundledFiles().find((file) => file.name === name);
    if (bundled !== undefined && resolve(path) === resolve(bundled.path)) return bundled;
    return {
      name,
      path,
      bundled: false,
      aliasOf: null,
      licence: null,
      knownPicturePath: null,
    };
  }

  /** The bundled files under their own names, then the stand-in for the default name. */
  #bundledFiles({ listed = false } = {}): ModelFile[] {
    const models = this.#manifest.models.filter(({ unlisted }) => !listed || unlisted !== true);
    const files = models.map((model) => ({
      name: (model.file.split('/').at(-1) ?? '').replace(/\.onnx$/, '.pt'),
      path: join(this.#bundledDir, model.file),
      bundled: true,
      aliasOf: null,
      licence: model.licence,
      knownPicturePath: model.canary === undefined ? null : join(this.#bundledDir, model.canary),
    }));
    const standIn = files.find(
      (file) => file.path === join(this.#bundledDir, this.#manifest.aliases.default),
    );
    return standIn === undefined
      ? files
      : [...files, { ...standIn, name: this.defaultName, aliasOf: standIn.name }];
  }
}

/** Whether it is the 8-bit copy of another model of the folder. */
function isCopyOf(entry: string, entries: readonly string[]): boolean {
  return entries.some((other) => entry === eightBitPath(other) && entry !== other);
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (entry) => entry.isFile(),
    () => false,
  );
}
