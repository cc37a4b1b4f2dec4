/** Builds a model's engine before the first start that needs it. */
import { dirname } from 'node:path';
import type { Config } from '../../settings/config.js';
import { openCore, type Core, type CoreOptions } from '../../native/core.js';
import { makeFolder } from '../../base/make-folder.js';
import { readBatches } from '../../settings/settings.js';
import { checkEngine } from '../../models/engine-agreement.js';
import { ModelFolder, withSuffix } from '../../models/model-folder.js';
import type { Terminal } from '../terminal.js';
import { untilSignal } from '../until-signal.js';

const LOOK_EVERY_MS = 500;

type Builder = Pick<Core, 'loadModel' | 'run' | 'stats' | 'close'>;

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
  const core = open({
    roots: [],
    device: 'cuda',
    threads: config.threads,
    engineCache: config.engineCacheDir,
    gpuBatches: readBatches(config.gpuBatches),
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
  try {
    await untilSignal(terminal, async (signal) => {
      signal.addEventListener('abort', () => {
        clearInterval(timer);
        void core.close();
      });
      try {
        const native = await core.loadModel(file.path);
        terminal.err('checking its boxes against those of f32 on the CPU');
        const { engineCacheDir: engineFolder, threads } = config;
        const share = await checkEngine({ file, native }, { core, engineFolder, threads });
        terminal.out(
          `The engine of ${name} for ${native.device} is ready (${native.precision}): ${agreed(share)}.`,
        );
      } catch (error) {
        if (!signal.aborted) throw error;
        const { message } = signal.reason as Error;
        terminal.err(
          `The build was stopped (${message}); the next one continues with its timings.`,
        );
      }
    });
  } finally {
    clearInterval(timer);
    await core.close();
  }
}

function agreed(share: number | null): string {
  return share === null
    ? 'the demo pictures have nothing that it finds'
    : `${(share * 100).toFixed(1)} % of its boxes on the demo pictures are those of f32 on the CPU`;
}
