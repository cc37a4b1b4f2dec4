/** Runs images through a detector of this process, in the order given, and prints what came of them. */
import { toLatticeError, type LatticeError, type Problem } from '../errors.js';
import { viewImage } from '../http/inference/image-view.js';
import { Annotator } from '../annotate/annotate.js';
import type { DetectOptions } from '../contract/detect-options.js';
import type { ImageResult } from '../contract/image-result.js';
import type { NativeWorker } from '../execution/native-worker.js';
import { openDetector, type DetectorConfig } from '../execution/open-detector.js';
import { defaultModelName } from '../models/model-folder.js';
import { createLogger } from '../observability/logger.js';
import { DETECTION_HEADER, detectionRows, failedRow } from './detection-rows.js';
import { DrawnCopies } from './drawn-copies.js';
import { rootsOf, type NamedImage } from './image-paths.js';
import { renderTable } from './table.js';
import { UsageError, type Terminal } from './terminal.js';

/** As parsed and checked by `lattice detect`. */
export interface DetectFlags {
  model?: string;
  confidence: number;
  iou: number;
  classes?: string[];
  maxDetections: number;
  annotate?: string;
  json?: boolean;
}

type Outcome =
  | { status: 'ok'; result: ImageResult; annotated: string | undefined }
  | { status: 'error'; error: Problem };

/** Gives the number of images that failed. Rejects with `UsageError` when the model or a class does not exist. */
export async function detectImages(
  images: readonly NamedImage[],
  flags: DetectFlags,
  config: DetectorConfig,
  terminal: Terminal,
  verbose: boolean,
): Promise<number> {
  const logger = createLogger(
    { logLevel: verbose ? 'debug' : 'silent' },
    {
      write: (line) => {
        terminal.err(line.trimEnd());
      },
    },
  );
  const detector = await openDetector({ ...config, imageRoots: rootsOf(images) }, logger);
  const copies =
    flags.annotate === undefined
      ? null
      : new DrawnCopies(
          flags.annotate,
          (dataDir) => new Annotator({ detector, dataDir, maxPixels: config.maxPixels }),
        );
  try {
    const options = await detectOptions(detector, flags, config);
    const print = flags.json === true ? jsonPrinter(terminal) : tablePrinter(terminal);
    const startedAt = performance.now();
    let failed = 0;
    for await (const [image, outcome] of outcomes(images, detector, options, copies)) {
      if (outcome.status === 'error') failed += 1;
      print.image(image, outcome);
    }
    print.end({
      images: images.length,
      failed,
      seconds: (performance.now() - startedAt) / 1000,
      detector,
      options,
    });
    return failed;
  } finally {
    await copies?.close();
    await detector.close();
  }
}

async function detectOptions(
  detector: NativeWorker,
  flags: DetectFlags,
  config: DetectorConfig,
): Promise<DetectOptions> {
  const modelName = flags.model ?? defaultModelName(config);
  const model = await detector.prepare(modelName).catch((error: unknown) => {
    const { code, message } = toLatticeError(error);
    throw code === 'unknown_model' || code === 'invalid_model' ? new UsageError(message) : error;
  });
  const classes = flags.classes ?? null;
  const known = new Set(model.classes.map((name) => name.toLowerCase()));
  const unknown = classes?.find((name) => !known.has(name.toLowerCase()));
  if (unknown !== undefined) {
    throw new UsageError(
      `${modelName} has no class '${unknown}'. Its classes: ${model.classes.join(', ')}.`,
    );
  }
  const { confidence, iou, maxDetections } = flags;
  return { modelName, confidence, iou, maxDetections, classes };
}

/** Keeps the detector busy and yields in input order. */
async function* outcomes(
  images: readonly NamedImage[],
  detector: NativeWorker,
  options: DetectOptions,
  copies: DrawnCopies | null,
): AsyncGenerator<[NamedImage, Outcome]> {
  const running: Promise<Outcome>[] = [];
  const window = Math.max(1, detector.stats().suggestedWindow);
  let next = 0;
  for (const image of images) {
    while (next < images.length && running.length < window) {
      const following = images[next++];
      if (following !== undefined) running.push(detectOne(following, detector, options, copies));
    }
    const outcome = await running.shift();
    if (outcome !== undefined) yield [image, outcome];
  }
}

/** Never rejects. */
async function detectOne(
  { path }: NamedImage,
  detector: NativeWorker,
  options: DetectOptions,
  copies: DrawnCopies | null,
): Promise<Outcome> {
  try {
    const result = await detector.detect({ path, options, class: 'async' });
    return { status: 'ok', result, annotated: await copies?.write(path, result.detections) };
  } catch (error) {
    return { status: 'error', error: (toLatticeError(error) satisfies LatticeError).toProblem() };
  }
}

interface Summary {
  images: number;
  failed: number;
  seconds: number;
  detector: NativeWorker;
  options: DetectOptions;
}

interface Printer {
  image(image: NamedImage, outcome: Outcome): void;
  end(summary: Summary): void;
}

/** One object a line, as soon as it is known, in the fields of the HTTP interface. */
function jsonPrinter(terminal: Terminal): Printer {
  return {
    image({ shown }, outcome) {
      if (outcome.status === 'error') {
        terminal.out(JSON.stringify({ image_path: shown, status: 'error', error: outcome.error }));
        return;
      }
      const { result, annotated } = outcome;
      terminal.out(
        JSON.stringify({
          image_path: shown,
          status: 'ok',
          ...viewImage(result),
          model: result.model,
          ...(annotated === undefined ? {} : { annotated_path: annotated }),
        }),
      );
    },
    end: () => undefined,
  };
}

function tablePrinter(terminal: Terminal): Printer {
  const rows: string[][] = [];
  let boxes = 0;
  return {
    image({ shown }, outcome) {
      if (outcome.status === 'error') {
        rows.push(failedRow(shown, outcome.error));
        return;
      }
      const { detections } = outcome.result;
      boxes += detections.length;
      rows.push(...detectionRows(shown, detections));
    },
    end({ images, failed, seconds, detector, options }) {
      for (const line of renderTable([DETECTION_HEADER, ...rows])) terminal.out(line);
      const { device, precision } = detector.stats();
      terminal.out(
        `\n${images} image(s), ${boxes} box(es), ${failed} failed, ${seconds.toFixed(2)} s; ` +
          `${options.modelName} on ${device}, ${precision}`,
      );
    },
  };
}
