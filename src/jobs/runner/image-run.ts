/** One image of a job through the detector: retries, drawing, and the outcome that is stored. */
import { setTimeout as sleep } from 'node:timers/promises';
import { BackOff } from '../../base/back-off.js';
import { hasMoved, mayBeWritten, type FileRead } from '../../api/schemas/file-read.js';
import { ERRORS, LatticeError, toLatticeError } from '../../api/errors.js';
import type { Detection, ImageResult, PictureLook } from '../../api/schemas/image.js';
import type { NamedVersion } from '../../api/schemas/model.js';
import { PLACE_RULES } from '../../cameras/place-tracker.js';
import type { Detector } from '../../execution/detector.js';
import type { LookAtFiles } from '../../files/file-looks.js';
import type { AwaitTime } from '../../files/picture-times.js';
import type { PictureTime } from '../../files/wall-time.js';
import type { ImageOutcome, JobSettings } from '../../store/job.js';
import { versionOf } from '../../api/version-of.js';
import { taskId, type ReuseKeys, type WaitingImage } from '../../store/job-records.js';
import type { Uploads } from '../../uploads/uploads.js';
import type { Views } from '../../views/views.js';
import type { Logger } from '../../base/logger-port.js';
import type { Reuse } from './reuse.js';

/** Draws the boxes for the owner of the job; resolves with the file name of the picture. */
export type Annotate = (
  image: string | Buffer,
  detections: Detection[],
  keyId: string | null,
) => Promise<string>;

/** When the picture was taken. `root`: of its path, where that is beneath no image root. Never rejects. */
export type ReadTime = (path: string, root?: string) => AwaitTime;

export interface ImageRun {
  jobNumber: number;
  jobId: string;
  settings: JobSettings;
  image: WaitingImage;
  /** Null: what the model's name stands for now. */
  model: NamedVersion | null;
  /** Level of the job at this moment; 0 for a suspect. */
  priority: number;
  deadlineMs: number | undefined;
  signal: AbortSignal;
}

export interface ImageRunner {
  detector: Detector;
  logger: Logger;
  annotate: Annotate | null;
  views: Pick<Views, 'resolve'>;
  uploads: Pick<Uploads, 'borrow' | 'rootOf'>;
  readTime: ReadTime | null;
  reuse: Pick<Reuse, 'keysOf'> | null;
  look: LookAtFiles | null;
  backoffMs: number;
  /** No retry starts once this is true. */
  stopping: () => boolean;
}

/**
 * One death may be charged to an image that only ran beside the one that killed the process; two are unlikely to be.
 */
export const DEATHS_TO_STOP = 2;
const RETRIES = 2;

/** The facts of an image that was not run. */
const NOTHING = { taken: null, keys: null, found: null, look: null, descriptors: null };

interface Ended {
  workerId: string;
  taken: PictureTime | null;
  /** The keys under which the result can be found; null: it cannot be. */
  keys: ReuseKeys | null;
  /** The boxes that the network found, see `packFound`; null where it did not run. */
  found: Uint8Array | null;
  /** Null where the job does not ask for it. */
  look: PictureLook | null;
  /** See `ImageResult`; null where the job does not ask for them. */
  descriptors: Uint8Array | null;
}

type Failed = Extract<ImageOutcome, { status: 'error' }>;

/**
 * `part`: its file may still be written; `file` is null where it changed while it was read. `poison`: it was not run.
 * `no_means`: its volume or the process could not read it. `left`: aborted or stopping; it has no outcome. `late`: it
 * did not end by `deadlineMs` and must still be run. `model_changed`: no worker has `model` any more, and it must still
 * be run. `taken`: null where it is not known.
 */
export type ImageEnd =
  | (Ended & { kind: 'done'; outcome: ImageOutcome; model?: NamedVersion | null })
  | (Ended & { kind: 'poison' | 'no_means'; outcome: Failed })
  | (Ended & { kind: 'part'; outcome: Failed; file: FileRead | null })
  | { kind: 'left' }
  | { kind: 'late' }
  | { kind: 'model_changed'; model: NamedVersion };

/** Never rejects. */
export async function runImage(runner: ImageRunner, run: ImageRun): Promise<ImageEnd> {
  if (run.image.deaths >= DEATHS_TO_STOP) return poison(runner, run);
  // The time is read during the detection, or as soon as it is over: later the file may be gone.
  const time = timeOf(runner, run);
  const backOff = new BackOff(runner.backoffMs, 2 ** RETRIES * runner.backoffMs);
  for (let attempt = 0; ; attempt += 1) {
    try {
      const { settings, image } = run;
      const { options, used } = runner.views.resolve(settings.options, image.path, settings.keyId);
      const { result, outcome, ...more } = await withPicture(runner, run, async (picture) => {
        const request = { ...requestOf(run), options, ...(picture && { image: picture }) };
        const detected = await runner.detector.detect(request);
        const { found = null, look = null, descriptors = null, ...result } = detected;
        const outcome = await outcomeOf(runner, run, picture, { ...result, ...used });
        return { result, outcome, found, look, descriptors };
      });
      const keys = runner.reuse?.keysOf(settings, image.path, result) ?? null;
      const { workerId, model: name, modelDigest: digest, precision, quantizedFrom } = result;
      const model = versionOf({ name, digest, precision, quantizedFrom });
      return { kind: 'done', outcome, workerId, taken: await time(), keys, model, ...more };
    } catch (thrown) {
      const error = toLatticeError(thrown);
      const passing = ERRORS[error.code].passing === true;
      if (run.signal.aborted || (passing && runner.stopping())) return { kind: 'left' };
      if (error.code === 'deadline_exceeded' && run.deadlineMs !== undefined)
        return { kind: 'late' };
      if (error.code === 'model_changed' && run.model !== null) {
        return { kind: 'model_changed', model: run.model };
      }
      const { file } = error;
      const outcome = { status: 'error' as const, error: error.toProblem(), file };
      const { workerId } = runner.detector;
      const waits = error.code === 'volume_unavailable';
      const triedOften = attempt === RETRIES;
      if (waits || (triedOften && error.code === 'overloaded')) {
        return { kind: 'no_means', outcome, workerId, ...NOTHING };
      }
      if (await isPart(runner, run.image.path, error)) {
        const file = error.file ?? null;
        return { kind: 'part', outcome, workerId, ...NOTHING, taken: await time(), file };
      }
      if (!passing || triedOften) {
        const { jobId, image } = run;
        if (error.code === 'internal_error') {
          const cause = String(error.cause);
          runner.logger.error(
            { job_id: jobId, index: image.index, cause },
            'image failed unexpectedly',
          );
        }
        return { kind: 'done', outcome, workerId, ...NOTHING, taken: await time() };
      }
      await sleep(backOff.next(), undefined, { signal: run.signal }).catch(() => null);
      if (runner.stopping()) return { kind: 'left' };
    }
  }
}

/** Whether the file may hold a part only of what it will hold: it was modified recently, or is another one by now. */
async function isPart({ look }: ImageRunner, path: string, error: LatticeError): Promise<boolean> {
  const { code, file } = error;
  if (ERRORS[code].ofPart !== true) return false;
  if (file === undefined) return code === 'input_changed';
  if (mayBeWritten(file)) return true;
  const [now] = (await look?.([path], false)) ?? [];
  return now ? hasMoved(now.stamp, file) : false;
}

function poison({ logger, detector }: ImageRunner, { jobId, image }: ImageRun): ImageEnd {
  logger.error(
    { job_id: jobId, index: image.index },
    'image killed the process repeatedly: it is not run again',
  );
  const error = new LatticeError(
    'poison_input',
    `The service died ${DEATHS_TO_STOP} times with this image in hand; it is not run again.`,
  );
  const outcome = { status: 'error' as const, error: error.toProblem() };
  return { kind: 'poison', outcome, workerId: detector.workerId, ...NOTHING };
}

function requestOf({ jobNumber, settings, image, model, priority, deadlineMs, signal }: ImageRun) {
  return {
    id: taskId(jobNumber, image.index),
    path: image.path,
    kind: 'async' as const,
    priority,
    signal,
    ...(model !== null && { model }),
    ...(settings.keyId !== null && { keyId: settings.keyId }),
    ...((settings.reuse === 'content' || settings.cameraHealth) && { digest: true }),
    ...(settings.cameraHealth && { look: true }),
    ...(settings.places && { descriptorsAbove: PLACE_RULES.faintConfidence }),
    ...(settings.scoreFloor !== undefined && { scoreFloor: settings.scoreFloor }),
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
  };
}

function timeOf({ readTime, uploads }: ImageRunner, { image, settings }: ImageRun) {
  const { upload } = settings;
  const time = readTime?.(image.path, upload === undefined ? undefined : uploads.rootOf(upload));
  return time ?? (() => Promise.resolve(null));
}

/** `work` with the picture of an upload: workers see the image roots only. Null for an image beneath these. */
async function withPicture<T>(
  { uploads }: ImageRunner,
  { image, settings }: ImageRun,
  work: (picture: Buffer | null) => Promise<T>,
): Promise<T> {
  if (settings.upload === undefined) return work(null);
  const picture = await uploads.borrow(settings.upload, image.path);
  try {
    return await work(picture.bytes);
  } finally {
    picture.release();
  }
}

async function outcomeOf(
  { annotate, logger }: ImageRunner,
  { jobId, settings, image }: ImageRun,
  picture: Buffer | null,
  result: ImageResult,
): Promise<ImageOutcome> {
  const outcome: ImageOutcome = { status: 'ok', ...result };
  if (!settings.annotate || annotate === null) return outcome;
  try {
    const annotatedPath = await annotate(picture ?? image.path, result.detections, settings.keyId);
    return { ...outcome, annotatedPath };
  } catch (error) {
    logger.warn(
      { job_id: jobId, index: image.index, error: String(error) },
      'boxes could not be drawn',
    );
    return outcome;
  }
}
