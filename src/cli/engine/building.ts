/** Builds a model's engines before the first start that needs them. */
import { dirname } from 'node:path';
import type { Config } from '../../settings/config.js';
import { openCore, type Core, type CoreOptions } from '../../native/core.js';
import { makeFolder } from '../../base/make-folder.js';
import { readBatches } from '../../settings/settings.js';
import { checkEngine } from '../../models/engine-agreement.js';
import { ModelFolder, withSuffix, type ModelFile } from '../../models/model-folder.js';
import { sharePercent } from '../model/agreement-lines.js';
import type { Terminal } from '../terminal.js';
import { untilSignal } from '../until-signal.js';

const LOOK_EVERY_MS = 500;

type Builder = Pick<Core, 'loadModel' | 'run' | 'stats' | 'close'>;

interface Build {
  file: ModelFile;
  config: Config;
  terminal: Terminal;
  open: (options: CoreOptions) => Builder;
}

/**
 * Rejects with `gpu_unavailable` where there is no usable GPU, else as loading the model does. The first SIGINT or
 * SIGTERM gives the build up at its next step, keeps the timings measured so far, frees the engine's lock and sets
 * exit code 130 or 143; a second one ends the process at once. `open` is for tests.
 */
export async function buildEngine(
  name: string,
  config: Config,
  terminal: Terminal,
  open: (options: CoreOptions) => Builder = openCore,
): Promise<void> {
  const folder = await ModelFolder.open(config);
  const file = await folder.find(withSuffix(name));
  makeFolder(dirname(config.engineCacheDir));
  const build = { file, config, terminal, open };
  await untilSignal(terminal, async (signal) => {
    try {
      for (const batch of readBatches(config.gpuBatches)) {
        const built = await buildForBatch(batch, build, signal);
        if (built !== batch) return;
      }
    } catch (error) {
      if (!signal.aborted) throw error;
      const { message } = signal.reason as Error;
      terminal.err(`The build was stopped (${message}); the next one continues with its timings.`);
    }
  });
}

/** Resolves with the batch size that the engine has: another one where the network holds that of its file. */
async function buildForBatch(
  batch: number,
  { file, config, terminal, open }: Build,
  signal: AbortSignal,
): Promise<number> {
  const core = open({
    roots: [],
    device: 'cuda',
    threads: config.threads,
    engineCache: config.engineCacheDir,
    gpuBatches: [batch],
    maxFileBytes: config.maxFileBytes,
    maxPixels: config.maxPixels,
    maxSide: config.maxSide,
  });
  let shown = -1;
  const timer = setInterval(() => {
    const percent = Math.floor(core.stats().buildShare * 100);
    if (percent > shown) terminal.err(`${percent} %`);
    shown = Math.max(shown, percent);
  }, LOOK_EVERY_MS);
  const giveUp = () => {
    clearInterval(timer);
    void core.close();
  };
  signal.addEventListener('abort', giveUp);
  try {
    const native = await core.loadModel(file.path);
    const engine = native.engines[0] ?? { batch };
    terminal.err('checking its boxes against those of f32 on the CPU');
    const { engineCacheDir: engineFolder, threads } = config;
    const share = await checkEngine({ file, native }, { core, engineFolder, threads });
    terminal.out(
      `The engine of ${file.name} for batches of ${engine.batch} on ${native.device} is ready (${native.precision}): ${agreed(share)}.`,
    );
    return engine.batch;
  } finally {
    signal.removeEventListener('abort', giveUp);
    clearInterval(timer);
    await core.close();
  }
}

function agreed(share: number | null): string {
  return share === null
    ? 'the demo pictures have nothing that it finds'
    : `${sharePercent(share)} of its boxes on the demo pictures are those of f32 on the CPU`;
}
