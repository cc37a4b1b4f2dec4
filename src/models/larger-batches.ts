/**
 * Batch sizes of a GPU beyond the smallest: a model serves as soon as the engine of that one is there and proven. The
 * other engines are built and compared with f32 beside it, one after another, and then added.
 */
import { LatticeError, toLatticeError } from '../api/errors.js';
import type { Logger } from '../base/logger-port.js';
import type { NativeEngine } from '../native/contract.js';
import type { Core } from '../native/core.js';
import { checkEngine, isTooFarOff, keptAgreement } from './engine-agreement.js';
import type { LoadedModel } from './loaded-model.js';

type Builder = Pick<Core, 'loadModel' | 'run' | 'close'>;

export interface LargerBatchesOptions {
  /** Has the models loaded. */
  core: Pick<Core, 'addBatches'>;
  /** A core of the same GPU with this batch size only; what it builds is kept in `engineFolder`. */
  openBuilder: (batch: number) => Builder;
  engineFolder: string;
  /** Threads of the CPU. */
  threads: number;
  logger: Logger;
}

export class LargerBatches {
  readonly #options: LargerBatchesOptions;
  /** The engines of one model after those of another. */
  #turn: Promise<unknown> = Promise.resolve();
  #loads: Promise<unknown> = Promise.resolve();
  /** Null while none builds, and once it has to end. */
  #builder: Builder | null = null;
  #isClosed = false;

  constructor(options: LargerBatchesOptions) {
    this.#options = options;
  }

  /** Adds those whose engines are kept and proven: builds and compares nothing. Never rejects. */
  async addKept(model: LoadedModel): Promise<void> {
    const batches: number[] = [];
    const shares: (number | null)[] = [];
    for (const { batch, file } of missing(model)) {
      const kept = file === null ? null : await keptAgreement(this.#options.engineFolder, file);
      if (kept === null || isTooFarOff(kept, model.native)) continue;
      batches.push(batch);
      shares.push(kept.share);
    }
    if (batches.length === 0) return;
    // `build` tries what fails here again, one by one, and says why.
    await this.#add(model, batches, shares).catch(() => undefined);
  }

  /** Builds and adds what is missing while the model serves, up to the first one that fails. */
  build(model: LoadedModel): void {
    if (missing(model).length === 0) return;
    model.batchLimit = `It runs batches of ${largest(model)} at most: engines for larger ones are being built.`;
    this.#turn = this.#turn.then(() => this.#buildMissing(model));
  }

  /**
   * `load`, with no build beside it: the one that runs ends at its next step, keeps its timings and goes on afterwards.
   */
  async givingWay<T>(load: () => Promise<T>): Promise<T> {
    const stopped = this.#stopBuilder();
    const loaded = stopped.then(load);
    this.#loads = Promise.allSettled([this.#loads, loaded]);
    return loaded;
  }

  /** Ends the build that runs at its next step. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#stopBuilder();
    await this.#turn;
  }

  async #stopBuilder(): Promise<void> {
    const builder = this.#builder;
    this.#builder = null;
    await builder?.close();
  }

  async #buildMissing(model: LoadedModel): Promise<void> {
    for (const { batch } of missing(model)) {
      try {
        if (!(await this.#buildAndAdd(model, batch))) return;
      } catch (thrown) {
        this.#leaveOut(model, batch, toLatticeError(thrown));
        return;
      }
    }
    model.batchLimit = null;
  }

  /** False where the model is not there any more. */
  async #buildAndAdd(model: LoadedModel, batch: number): Promise<boolean> {
    const since = performance.now();
    const isOver = () => this.#isClosed || model.isUnloaded;
    for (;;) {
      await this.#endOfLoads();
      if (isOver()) return false;
      const built = await this.#build(model, batch);
      if (isOver()) return false;
      if (built === null) continue;
      await this.#add(model, [batch], [built.share]);
      const ms = Math.round(performance.now() - since);
      const facts = { model: model.file.name, batch, ms, agreement: built.share };
      this.#options.logger.info(facts, 'larger batches are ready');
      return true;
    }
  }

  async #endOfLoads(): Promise<void> {
    let seen: unknown;
    while (seen !== this.#loads) await (seen = this.#loads);
  }

  /** Null where the build gave way. Rejects as `checkEngine`, and where the engine is not kept or of another file. */
  async #build(
    { file, native: { sha256 } }: LoadedModel,
    batch: number,
  ): Promise<{ share: number | null } | null> {
    const { openBuilder, engineFolder, threads, logger } = this.#options;
    logger.info({ model: file.name, batch }, 'building the TensorRT engine for larger batches');
    const builder = openBuilder(batch);
    this.#builder = builder;
    const gaveWay = () => this.#builder !== builder;
    try {
      const native = await builder.loadModel(file.path);
      if (native.sha256 !== sha256) throw replaced();
      const share = await checkEngine({ file, native }, { core: builder, engineFolder, threads });
      if (native.engines.some((engine) => engine.file === null)) throw notKept();
      return gaveWay() ? null : { share };
    } catch (thrown) {
      if (gaveWay()) return null;
      throw thrown;
    } finally {
      await builder.close();
      if (!gaveWay()) this.#builder = null;
    }
  }

  async #add(model: LoadedModel, batches: number[], shares: (number | null)[]): Promise<void> {
    const { modelId } = model.native;
    model.native = await this.#options.core.addBatches(modelId, batches);
    const known = [model.agreement, ...shares].filter((share) => share !== null);
    model.agreement = known.length === 0 ? null : Math.min(...known);
  }

  #leaveOut(model: LoadedModel, batch: number, { code, message }: LatticeError): void {
    if (this.#isClosed || model.isUnloaded) return;
    const most = largest(model);
    model.batchLimit = `It runs batches of ${most} at most, because those of ${batch} failed: ${message}`;
    const facts = { model: model.file.name, batch, largest: most, code, fault: message };
    this.#options.logger.warn(facts, 'larger batches are left out');
  }
}

const missing = ({ native }: LoadedModel): NativeEngine[] =>
  native.engines.filter(({ isLoaded }) => !isLoaded);

/** The largest of the batch sizes that it runs. */
const largest = ({ native }: LoadedModel): number =>
  Math.max(...native.engines.filter(({ isLoaded }) => isLoaded).map(({ batch }) => batch));

function replaced(): LatticeError {
  return new LatticeError('model_changed', 'The file was replaced since the model was loaded.');
}

function notKept(): LatticeError {
  return new LatticeError(
    'internal_error',
    'The engine cannot be kept in the folder of engines, from which the service takes it.',
  );
}
