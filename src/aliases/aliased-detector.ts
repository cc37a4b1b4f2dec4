/** The detector as jobs and requests know it: a name of theirs may be an alias. */
import { createHash } from 'node:crypto';
import { toLatticeError } from '../api/errors.js';
import type { ImageResult } from '../api/schemas/image.js';
import type { ModelDescription } from '../api/schemas/model.js';
import type { StoredAlias } from '../store/alias-rows.js';
import { DEFAULT_PARAMETERS } from '../api/options.js';
import type { DetectRequest, Detector } from '../execution/detector.js';
import { modelOf, type ModelAliases } from './model-aliases.js';
import type { ShadowRuns } from './shadow-runs.js';

/** First bytes of a picture that was sent, hashed to tell it from others. */
const HASHED_BYTES = 64 * 1024;

export function withAliases(
  detector: Detector,
  aliases: ModelAliases,
  shadows: ShadowRuns,
): Detector {
  const detect = async (request: DetectRequest): Promise<ImageResult> => {
    const alias = aliases.find(request.options.modelName);
    const end = shadows.foreground();
    try {
      if (alias === undefined && request.model === undefined) return await detector.detect(request);
      const named = withModel(request, alias);
      const result = await detector.detect(named);
      if (alias !== undefined) shadows.offer(alias, named, result);
      return result;
    } finally {
      end();
    }
  };
  const prepare = (modelName: string, key?: string): Promise<ModelDescription> => {
    const alias = aliases.find(modelName);
    if (alias === undefined) return detector.prepare(modelName);
    return detector.prepare(key === undefined ? alias.model : modelOf(alias, () => key));
  };
  const models = async (): Promise<ModelDescription[]> => {
    const listed = await detector.models();
    const named = await Promise.all(
      aliases.list().map((alias) => describe(alias, listed, detector)),
    );
    const taken = new Set(named.map(({ name }) => name));
    const all = [...listed.filter(({ name }) => !taken.has(name)), ...named];
    return all.sort((a, b) => Number(b.isDefault) - Number(a.isDefault));
  };
  return {
    get workerId() {
      return detector.workerId;
    },
    detect,
    prepare,
    models,
    reloadModels: () => detector.reloadModels(),
    keepModels: (versions) => {
      detector.keepModels(versions);
    },
    readImage: (path) => detector.readImage(path),
    decodeImage: (bytes) => detector.decodeImage(bytes),
    stats: () => detector.stats(),
    unhealthy: () => detector.unhealthy(),
    close: () => detector.close(),
  };
}

/** A job stays on the model that it began with, also when its alias is changed or deleted. */
function withModel(request: DetectRequest, alias: StoredAlias | undefined): DetectRequest {
  const { options, model } = request;
  const present = () => alias && modelOf(alias, () => keyOf(request));
  const modelName = model?.name ?? present() ?? options.modelName;
  return { ...request, options: { ...options, modelName } };
}

function keyOf({ path, image }: DetectRequest): string {
  if (image === undefined) return path;
  const hash = createHash('sha256').update(image.subarray(0, HASHED_BYTES));
  return hash.update(String(image.length)).digest('hex');
}

async function describe(
  { name, model }: StoredAlias,
  listed: readonly ModelDescription[],
  detector: Pick<Detector, 'prepare'>,
): Promise<ModelDescription> {
  const isDefault = listed.some((each) => each.name === name && each.isDefault);
  const found =
    listed.find((each) => each.name === model) ??
    (await detector
      .prepare(model)
      .catch((error: unknown) => missing(toLatticeError(error).message)));
  return { ...found, name, aliasOf: model, isDefault };
}

/** Description of a model whose file is gone. */
function missing(reason: string): Omit<ModelDescription, 'name' | 'aliasOf' | 'isDefault'> {
  return {
    state: 'refused',
    reason,
    classes: [],
    device: null,
    precision: null,
    digest: null,
    quantizedFrom: null,
    agreement: null,
    input: null,
    memoryBytes: null,
    licence: null,
    confidenceThreshold: DEFAULT_PARAMETERS.confidence,
    release: null,
    bundled: false,
  };
}
