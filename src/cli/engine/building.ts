/** Builds a model's engine ahead of the first start that needs it. */
import { dirname } from 'node:path';
import type { Config } from '../../config.js';
import { openCore } from '../../native/core.js';
import { makeFolder } from '../../make-folder.js';
import { openModelFolder } from '../model/listing.js';
import { withEnding } from '../model/checking.js';
import type { Terminal } from '../terminal.js';

const LOOK_EVERY_MS = 500;

/** Rejects with `gpu_unavailable` where there is no usable GPU, else as loading the model does. */
export async function buildEngine(name: string, config: Config, terminal: Terminal): Promise<void> {
  const folder = await openModelFolder(config);
  const { path } = await folder.find(withEnding(name));
  makeFolder(dirname(config.engineCacheDir));
  const core = openCore({
    roots: [],
    device: 'cuda',
    threads: config.threads,
    engineCache: config.engineCacheDir,
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
    const model = await core.loadModel(path);
    terminal.out(`The engine of ${name} for ${model.device} is ready (${model.precision}).`);
  } finally {
    clearInterval(timer);
    await core.close();
  }
}
