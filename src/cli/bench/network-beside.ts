/** The network alone beside a service of this machine: what the levels could be at best. */
import { DEFAULT_PARAMETERS, type DetectOptions } from '../../api/options.js';
import type { DetectResponse } from '../../client/records.js';
import { openDetector } from '../../execution/here/open-detector.js';
import { ModelFolder, withSuffix } from '../../models/model-folder.js';
import { loadConfig } from '../../settings/config.js';
import { networkRate, type PictureSize } from '../network-rate.js';
import type { Terminal } from '../terminal.js';
import { terminalLogger } from '../terminal-logger.js';

const FOR_MS = 3_000;

/** The model that answers named, and the sizes of their pictures. */
export interface Answered {
  last: Pick<DetectResponse, 'model' | 'model_digest' | 'precision'>;
  sizes: readonly PictureSize[];
}

/**
 * Images per second, computed in this process on the CPU with the settings of its environment. Null where the time was
 * too short for a figure. Rejects where a figure would say nothing about the service: it uses a GPU, or the model of
 * its answers is not here.
 */
export async function networkBeside(
  { last, sizes }: Answered,
  terminal: Terminal,
): Promise<number | null> {
  const config = { ...loadConfig(), device: 'cpu', canaryMinutes: 0 } as const;
  const modelName = withSuffix(last.model);
  // Without it the detector would start with the models that are here.
  await (await ModelFolder.open(config)).find(modelName);
  const detector = await openDetector(config, terminalLogger(terminal, false), {
    mainModel: modelName,
  });
  try {
    const { digest, precision, input } = await detector.prepare(modelName);
    if (digest !== last.model_digest || precision !== last.precision || input === null) {
      throw new Error(
        `the service answers with ${last.model} ${last.model_digest} in ${last.precision}, and this command has ` +
          `${digest ?? 'none'} in ${precision ?? 'no precision'}.`,
      );
    }
    const options: DetectOptions = { modelName, classes: null, ...DEFAULT_PARAMETERS };
    return await networkRate({ detector, options, input, sizes, forMs: FOR_MS });
  } finally {
    await detector.close();
  }
}
