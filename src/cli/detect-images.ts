/** Runs images through a detector of this process, in the given order, and prints their results. */
import { constants } from 'node:fs';
import { access, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { picturesOf, type FoundBoxes } from '../annotate/picture-copies.js';
import { STANDARD_OUTPUT } from '../base/output-place.js';
import { LatticeError, toLatticeError } from '../api/errors.js';
import {
  ALL_CLASSES,
  parametersOf,
  type DetectionParameters,
  type DetectOptions,
  type ModelDefaults,
} from '../api/options.js';
import type { ModelDescription } from '../api/schemas/model.js';
import { regionsSchema } from '../api/schemas/option-schemas.js';
import type { NativeWorker } from '../execution/here/native-worker.js';
import { openDetector } from '../execution/here/open-detector.js';
import { matchClasses, noSuchClass } from '../models/class-filter.js';
import { defaultModelName, withSuffix } from '../models/model-folder.js';
import type { Config } from '../settings/config.js';
import { stemOf } from '../export/file-names.js';
import { UniqueStems } from '../export/yolo.js';
import type { ChosenPictures } from '../http/routes/jobs/picture-maker.js';
import { chosenPictures } from './chosen-pictures.js';
import type { ExportFlags } from './export-output.js';
import {
  exportImages,
  jsonPrinter,
  RunTotals,
  tablePrinter,
  type DetectResult,
} from './detect-results.js';
import { rootsOf, type NamedImage } from './image-paths.js';
import { writeOutput } from './output-file.js';
import type { CoverFlags } from './picture-flags.js';
import { Progress } from './progress.js';
import {
  EXIT_FAILED,
  EXIT_PARTLY,
  onUserPath,
  Refusal,
  UsageError,
  type Terminal,
} from './terminal.js';
import { terminalLogger } from './terminal-logger.js';
import { untilSignal } from './until-signal.js';

/** The flags, parsed and checked by `lattice detect`. */
export interface DetectFlags
  extends
    CoverFlags,
    ExportFlags,
    Omit<DetectionParameters, keyof ModelDefaults>,
    Partial<ModelDefaults> {
  model?: string;
  classes?: string[];
  save?: string;
  json?: boolean;
}

interface Run {
  images: readonly NamedImage[];
  detector: NativeWorker;
  options: DetectOptions;
  writeCopy: WriteCopy | undefined;
}

type Results = AsyncGenerator<[NamedImage, DetectResult], void>;

/**
 * Sets the exit code of images that failed, and of a signal: the first one ends the run after the images that have
 * begun. Rejects with `UsageError` when the model, a class or the folder of the copies cannot be used.
 */
export async function detectImages(
  images: readonly NamedImage[],
  flags: DetectFlags,
  config: Config,
  terminal: Terminal,
  verbose: boolean,
): Promise<void> {
  const detector = await openDetector(
    { ...config, imageRoots: rootsOf(images) },
    terminalLogger(terminal, verbose),
  );
  try {
    const { options, model } = await detectOptions(detector, flags, config);
    const { save, cover } = flags;
    const asked = { ...flags, drawn: save !== undefined && cover === undefined };
    const classesOf = () => Promise.resolve(model.classes);
    const [chosen] = await chosenPictures(asked, options, { classesOf });
    const writeCopy =
      save !== undefined && chosen !== undefined
        ? await copiesInto(save, chosen, detector, config.maxPixels, terminal)
        : undefined;
    await show({ images, detector, options, writeCopy }, model, flags, terminal);
  } finally {
    await detector.close();
  }
}

/**
 * Prints or writes the results of the images, then the totals; if standard output is for programs, the totals go to a
 * screen only.
 */
async function show(
  run: Run,
  { classes, precision }: ModelDescription,
  flags: DetectFlags,
  terminal: Terminal,
): Promise<void> {
  const { images, detector, options } = run;
  const totals = new RunTotals();
  const startedAt = performance.now();
  const stopped = await untilSignal(terminal, async (signal) => {
    signal.addEventListener('abort', () => {
      terminal.err('Stopping after the images that have begun. Ctrl-C again stops at once.');
    });
    const progress = new Progress(terminal, images.length);
    const counted = count(results(run, signal), totals, progress);
    if (flags.format !== undefined) {
      await exportImages(counted, { model: options.modelName, classes }, flags, terminal);
    } else {
      const table = flags.json !== true;
      const print = table ? tablePrinter(images, classes, terminal) : jsonPrinter(terminal);
      for await (const [image, detected] of counted) print(image, detected);
      if (table) terminal.out('');
    }
    return signal.aborted;
  });
  const { device } = detector.stats();
  const engine = `${options.modelName} on ${device}, ${precision ?? ''}`;
  const forPrograms = flags.format !== undefined || flags.json === true;
  if (!forPrograms || terminal.progress !== undefined) {
    for (const line of totals.lines((performance.now() - startedAt) / 1000, engine)) {
      if (forPrograms) terminal.err(line);
      else terminal.out(line);
    }
  }
  const { done, failed } = totals;
  if (stopped !== false) {
    terminal.err(`Stopped: ${images.length - done - failed} of ${images.length} images are left.`);
  } else if (failed > 0) terminal.setExitCode(done > 0 ? EXIT_PARTLY : EXIT_FAILED);
}

async function detectOptions(
  detector: NativeWorker,
  flags: DetectFlags,
  config: Config,
): Promise<{ options: DetectOptions; model: ModelDescription }> {
  const modelName = flags.model === undefined ? defaultModelName(config) : withSuffix(flags.model);
  const model = await detector.prepare(modelName).catch((error: unknown) => {
    const { code, message } = toLatticeError(error);
    if (code === 'unknown_model') throw new UsageError(message);
    throw code === 'invalid_model' ? new Refusal(message) : error;
  });
  refuseRegions(flags);
  const requested = flags.classes ?? [ALL_CLASSES];
  const named = [...requested, ...(flags.regions ?? []).flatMap(({ classes }) => classes ?? [])];
  const [first] = matchClasses(named, model.classes).unknown;
  if (first !== undefined) {
    throw new UsageError(noSuchClass(modelName, named[first] ?? '', model.classes));
  }
  return {
    options: {
      modelName,
      classes: matchClasses(requested, model.classes).classes,
      ...parametersOf({ ...flags, confidence: flags.confidence ?? model.confidenceThreshold }),
      mergeClasses: flags.mergeClasses ?? flags.classes === undefined,
    },
    model,
  };
}

/** The same rules as those of a request. */
function refuseRegions({ regions, view }: DetectFlags): void {
  if (view) throw new UsageError('--view: views are stored in a service. Give --regions here.');
  const [issue] = (regions && regionsSchema.safeParse(regions).error?.issues) ?? [];
  if (issue !== undefined) {
    throw new UsageError(`--regions: ${[...issue.path, ''].join('.')} ${issue.message}`);
  }
}

async function* count(images: Results, totals: RunTotals, progress: Progress): Results {
  for await (const [image, detected] of images) {
    totals.add(image.shown, detected);
    yield [image, detected];
    progress.step();
  }
}

/** Keeps the detector busy and yields in input order; ends after the images that had begun at the signal. */
async function* results(run: Run, signal: AbortSignal): Results {
  const { images, detector } = run;
  const running: Promise<DetectResult>[] = [];
  const window = Math.max(1, detector.stats().suggestedWindow);
  let next = 0;
  for (const image of images) {
    while (next < images.length && running.length < window && !signal.aborted) {
      const following = images[next++];
      if (following !== undefined) running.push(detectOne(following, run));
    }
    const detected = await running.shift();
    if (detected === undefined) return;
    yield [image, detected];
  }
}

/** Never rejects. */
async function detectOne(
  { path }: NamedImage,
  { images, detector, options, writeCopy }: Run,
): Promise<DetectResult> {
  // The network of synchronous images is there already; that of the others is made for the first of them.
  const kind = images.length === 1 ? 'sync' : 'async';
  try {
    const result = await detector.detect({ path, options, kind });
    return { status: 'ok', result, annotated: await writeCopy?.(path, result) };
  } catch (error) {
    return { status: 'error', error: (toLatticeError(error) satisfies LatticeError).toProblem() };
  }
}

/** Gives the path of the copy. */
type WriteCopy = (imagePath: string, found: FoundBoxes) => Promise<string>;

/** Makes the folder. Rejects with `UsageError` when it cannot be written. */
async function copiesInto(
  folder: string,
  { look, isShown }: ChosenPictures,
  detector: NativeWorker,
  maxPixels: number,
  terminal: Terminal,
): Promise<WriteCopy> {
  if (folder === STANDARD_OUTPUT) throw new UsageError('--save takes a folder for the copies.');
  await onUserPath(folder, 'write', mkdir(folder, { recursive: true }));
  await onUserPath(folder, 'write', access(folder, constants.W_OK | constants.X_OK));
  const stems = new UniqueStems();
  return async (imagePath, { detections, image, file }) => {
    const target = join(folder, `${stems.of(stemOf(imagePath))}.jpg`);
    const bytes = await detector.readImage(imagePath);
    const decode = (encoded: Buffer) => detector.decodeImage(encoded);
    const found = { detections: detections.filter(isShown), image, file };
    const copies = await picturesOf({ bytes, decode, maxPixels }, found, look);
    await writeOutput(copies, target, terminal).catch((cause: unknown) => {
      const { message } = cause as Error;
      throw new LatticeError('storage_unavailable', message, { cause });
    });
    return target;
  };
}
