/** Runs images through a detector of this process, in the given order, and prints their outcomes. */
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { join, parse } from 'node:path';
import { Annotator } from '../annotate/annotate.js';
import { toLatticeError, type LatticeError } from '../api/errors.js';
import type { Detection } from '../api/image.js';
import { parametersOf, type DetectionParameters, type DetectOptions } from '../api/options.js';
import { pathFault } from '../base/path-fault.js';
import type { NativeWorker } from '../execution/here/native-worker.js';
import { openDetector } from '../execution/here/open-detector.js';
import { matchClasses, noSuchClass } from '../models/class-filter.js';
import { defaultModelName, withSuffix } from '../models/model-folder.js';
import { createLogger } from '../service/logger.js';
import type { Config } from '../settings/config.js';
import type { ExportFlags } from './export-output.js';
import { exitCodeOf, FirstSignal } from './first-signal.js';
import {
  exportImages,
  jsonPrinter,
  RunTotals,
  tablePrinter,
  type ImageOutcome,
} from './image-outcomes.js';
import { rootsOf, type NamedImage } from './image-paths.js';
import { Progress } from './progress.js';
import { EXIT_FAILED, EXIT_PARTLY, UsageError, type Terminal } from './terminal.js';

/** As parsed and checked by `lattice detect`. */
export interface DetectFlags extends ExportFlags, DetectionParameters {
  model?: string;
  classes?: string[];
  save?: string;
  json?: boolean;
}

interface Run {
  images: readonly NamedImage[];
  detector: NativeWorker;
  options: DetectOptions;
  copies: DrawnCopies | null;
}

type Outcomes = AsyncGenerator<[NamedImage, ImageOutcome], void>;

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
    logger(terminal, verbose),
  );
  let copies: DrawnCopies | null = null;
  try {
    const { options, classes } = await detectOptions(detector, flags, config);
    if (flags.save !== undefined) {
      copies = await DrawnCopies.open(
        flags.save,
        (dataDir) => new Annotator({ detector, dataDir, maxPixels: config.maxPixels }),
      );
    }
    await show({ images, detector, options, copies }, classes, flags, terminal);
  } finally {
    await copies?.close();
    await detector.close();
  }
}

/**
 * Prints or writes the outcomes of the images, then the totals; if standard output is for programs, the totals go to a
 * screen only.
 */
async function show(
  run: Run,
  classes: string[],
  flags: DetectFlags,
  terminal: Terminal,
): Promise<void> {
  const { images, detector, options } = run;
  const totals = new RunTotals();
  const interrupt = new FirstSignal(() => {
    terminal.err('Stopping after the images that have begun. Ctrl-C again stops at once.');
  });
  const startedAt = performance.now();
  const counted = count(
    outcomes(run, () => interrupt.received !== null),
    totals,
    new Progress(terminal, images.length),
  );
  try {
    if (flags.format !== undefined) {
      await exportImages(counted, { model: options.modelName, classes }, flags, terminal);
    } else {
      const table = flags.json !== true;
      const print = table ? tablePrinter(images, classes, terminal) : jsonPrinter(terminal);
      for await (const [image, outcome] of counted) print(image, outcome);
      if (table) terminal.out('');
    }
  } finally {
    interrupt.unlisten();
  }
  const { device, precision } = detector.stats();
  const engine = `${options.modelName} on ${device}, ${precision}`;
  const forPrograms = flags.format !== undefined || flags.json === true;
  if (!forPrograms || terminal.progress !== undefined) {
    for (const line of totals.lines((performance.now() - startedAt) / 1000, engine)) {
      if (forPrograms) terminal.err(line);
      else terminal.out(line);
    }
  }
  const { done, failed } = totals;
  if (interrupt.received !== null) {
    terminal.err(`Stopped: ${images.length - done - failed} of ${images.length} images are left.`);
    terminal.setExitCode(exitCodeOf(interrupt.received));
  } else if (failed > 0) terminal.setExitCode(done > 0 ? EXIT_PARTLY : EXIT_FAILED);
}

function logger(terminal: Terminal, verbose: boolean) {
  const write = (line: string) => {
    terminal.err(line.trimEnd());
  };
  return createLogger({ logLevel: verbose ? 'debug' : 'silent' }, { write });
}

async function detectOptions(
  detector: NativeWorker,
  flags: DetectFlags,
  config: Config,
): Promise<{ options: DetectOptions; classes: string[] }> {
  const modelName = flags.model === undefined ? defaultModelName(config) : withSuffix(flags.model);
  const model = await detector.prepare(modelName).catch((error: unknown) => {
    const { code, message } = toLatticeError(error);
    throw code === 'unknown_model' || code === 'invalid_model' ? new UsageError(message) : error;
  });
  const requested = flags.classes ?? ['*'];
  const { classes, unknown } = matchClasses(requested, model.classes);
  const [first] = unknown;
  if (first !== undefined) {
    throw new UsageError(noSuchClass(modelName, requested[first] ?? '', model.classes));
  }
  return {
    options: { modelName, classes, ...parametersOf(flags) },
    classes: model.classes,
  };
}

async function* count(images: Outcomes, totals: RunTotals, progress: Progress): Outcomes {
  for await (const [image, outcome] of images) {
    totals.add(image.shown, outcome);
    yield [image, outcome];
    progress.step();
  }
}

/** Keeps the detector busy and yields in input order; ends after the images that had begun when `stopped`. */
async function* outcomes(run: Run, stopped: () => boolean): Outcomes {
  const { images, detector } = run;
  const running: Promise<ImageOutcome>[] = [];
  const window = Math.max(1, detector.stats().suggestedWindow);
  let next = 0;
  for (const image of images) {
    while (next < images.length && running.length < window && !stopped()) {
      const following = images[next++];
      if (following !== undefined) running.push(detectOne(following, run));
    }
    const outcome = await running.shift();
    if (outcome === undefined) return;
    yield [image, outcome];
  }
}

/** Never rejects. */
async function detectOne(
  { path }: NamedImage,
  { detector, options, copies }: Run,
): Promise<ImageOutcome> {
  try {
    const result = await detector.detect({ path, options, kind: 'async' });
    return { status: 'ok', result, annotated: await copies?.write(path, result.detections) };
  } catch (error) {
    return { status: 'error', error: (toLatticeError(error) satisfies LatticeError).toProblem() };
  }
}

interface Artist {
  /** Gives the file name beneath `annotated` of the data folder it was made with. */
  annotate(imagePath: string, detections: readonly Detection[]): Promise<string>;
}

class DrawnCopies {
  readonly #folder: string;
  /** Inside the target folder: a rename cannot cross file systems. */
  readonly #dataDir: string;
  readonly #artist: Artist;
  readonly #taken = new Set<string>();

  private constructor(folder: string, dataDir: string, artist: Artist) {
    this.#folder = folder;
    this.#dataDir = dataDir;
    this.#artist = artist;
  }

  /** Makes the folder. Rejects with `UsageError` when it cannot be written. */
  static async open(folder: string, createArtist: (dataDir: string) => Artist) {
    try {
      await mkdir(folder, { recursive: true });
      const dataDir = await mkdtemp(join(folder, '.drawing-'));
      return new DrawnCopies(folder, dataDir, createArtist(dataDir));
    } catch (error) {
      throw new UsageError(pathFault(error, folder, 'write'));
    }
  }

  /** Gives the path of the copy. Images of one name in several folders get -2, -3 and so on. */
  async write(imagePath: string, detections: readonly Detection[]): Promise<string> {
    const { name } = parse(imagePath);
    let file = `${name}.jpg`;
    for (let count = 2; this.#taken.has(file); count++) file = `${name}-${count}.jpg`;
    this.#taken.add(file);
    const target = join(this.#folder, file);
    const drawn = await this.#artist.annotate(imagePath, detections);
    await rename(join(this.#dataDir, 'annotated', drawn), target);
    return target;
  }

  /** Removes the working folder; call when the last `write` has settled. */
  async close(): Promise<void> {
    await rm(this.#dataDir, { recursive: true, force: true });
  }
}
