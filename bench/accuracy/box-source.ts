/** Who gives the boxes that are judged: the service over HTTP, or the detector in this process. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { loadConfig } from '../../src/settings/config.js';
import type { Detection } from '../../src/api/schemas/image.js';
import { openDetector } from '../../src/execution/here/open-detector.js';
import { startService } from '../../test/support/service-process.js';
import { TESTDATA } from './expected.js';
import { DEFAULT_PARAMETERS } from '../../src/api/options.js';

export interface Question {
  model: string;
  /** Absolute paths. */
  photos: string[];
  confidence: number;
  /** Overlap above which boxes of one class are merged. */
  iou: number;
  maxDetections: number;
}

export interface BoxSource {
  /** Boxes of all classes, one list a photo, in order. A photo that fails fails the whole run. */
  allClasses(question: Question): Promise<Detection[][]>;
  /** Boxes of these classes by the way of single requests. */
  someClasses(question: Question, classes: string[]): Promise<Detection[][]>;
  /** Class names of the model by id. */
  classNames(model: string): Promise<string[]>;
  [Symbol.asyncDispose](): Promise<void>;
}

const SYNC_CLIENTS = 4;
const POLL_MS = 250;
const JOB_LIMIT_MS = 10 * 60_000;

function settings(precision: string): Record<string, string> {
  return {
    LATTICE_MODELS_DIR: join(TESTDATA, 'models'),
    LATTICE_IMAGE_ROOTS: ['images', 'coco128/images']
      .map((folder) => join(TESTDATA, folder))
      .join(delimiter),
    // FP16 is what GPUs compute in; the others are the CPU's.
    ...(precision === 'fp16'
      ? { LATTICE_DEVICE: 'cuda' }
      : { LATTICE_DEVICE: 'cpu', LATTICE_PRECISION: precision }),
    LATTICE_SYNC_DEADLINE_MS: '60000',
    // The expected boxes are those of the square.
    LATTICE_RECTANGLES: 'off',
  };
}

interface WireEntry {
  image_path: string;
  status?: string;
  detections?: Detection[];
  error?: unknown;
}

/** Starts a service of its own. */
export async function openHttpSource(precision: string): Promise<BoxSource> {
  const service = await startService({ env: settings(precision), timeoutMs: 60_000 });
  return httpSource(service.url, () => service[Symbol.asyncDispose]());
}

/** A service that runs already. All classes come from async jobs, single classes from the sync route. */
export function httpSource(url: string, close: () => Promise<void>): BoxSource {
  const ask = async (path: string, body?: object): Promise<unknown> => {
    const response = await fetch(`${url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      ...(body === undefined
        ? {}
        : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path} answered ${response.status}: ${text}`);
    return JSON.parse(text) as unknown;
  };
  const options = (question: Question) => ({
    model_name: question.model,
    confidence_threshold: question.confidence,
    iou_threshold: question.iou,
    max_detections: question.maxDetections,
    // The reference keeps a vehicle under each class.
    merge_classes: false,
  });

  return {
    async allClasses(question) {
      const accepted = (await ask('/v1/jobs/submit', {
        job_type: 'batch_detect',
        image_paths: question.photos,
        ...options(question),
      })) as { job_id: string };
      await finished(ask, accepted.job_id);
      const { result } = (await ask(`/v1/jobs/${accepted.job_id}/result`)) as {
        result: WireEntry | { images: WireEntry[] };
      };
      return ('images' in result ? result.images : [result]).map(boxesOf);
    },
    async someClasses(question, classes) {
      return inParallel(question.photos, SYNC_CLIENTS, async (photo) =>
        boxesOf(
          (await ask('/v1/inference/detect', {
            image_path: photo,
            vehicle_types: classes,
            ...options(question),
          })) as WireEntry,
        ),
      );
    },
    async classNames(model) {
      const { models } = (await ask('/v1/models')) as {
        models: { name: string; classes: string[] }[];
      };
      return models.find(({ name }) => name === model)?.classes ?? [];
    },
    [Symbol.asyncDispose]: close,
  };
}

async function finished(ask: (path: string) => Promise<unknown>, jobId: string): Promise<void> {
  const until = Date.now() + JOB_LIMIT_MS;
  while (Date.now() < until) {
    const { status } = (await ask(`/v1/jobs/${jobId}/status`)) as { status: string };
    if (status === 'completed') return;
    if (status === 'failed') {
      const result = await ask(`/v1/jobs/${jobId}/result`);
      throw new Error(`Job ${jobId} failed: ${JSON.stringify(result).slice(0, 1_000)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  throw new Error(`Job ${jobId} did not end within ${JOB_LIMIT_MS / 60_000} minutes.`);
}

function boxesOf(entry: WireEntry): Detection[] {
  if (entry.detections === undefined) {
    throw new Error(`${entry.image_path} failed: ${JSON.stringify(entry.error ?? entry)}`);
  }
  return entry.detections;
}

/** The same questions without HTTP and jobs. */
export async function openInProcessSource(precision: string): Promise<BoxSource> {
  const dataDir = mkdtempSync(join(tmpdir(), 'lattice-parity-'));
  const config = loadConfig({ dataDir }, settings(precision));
  const quiet = () => undefined;
  const logger = { debug: quiet, info: quiet, warn: console.warn, error: console.error };
  const detector = await openDetector(config, logger);
  const detect = (question: Question, classes: string[] | null, kind: 'sync' | 'async') =>
    inParallel(question.photos, detector.stats().suggestedWindow, async (path) => {
      const { model: modelName, confidence, iou, maxDetections } = question;
      const asked = { confidence, iou, maxDetections, mergeClasses: false };
      const options = { modelName, ...DEFAULT_PARAMETERS, ...asked, classes };
      return (await detector.detect({ path, options, kind })).detections;
    });
  return {
    allClasses: (question) => detect(question, null, 'async'),
    someClasses: (question, classes) => detect(question, classes, 'sync'),
    classNames: async (model) => (await detector.prepare(model)).classes,
    async [Symbol.asyncDispose]() {
      await detector.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** Results in order of the inputs, at most `width` at a time. */
async function inParallel<In, Out>(
  inputs: readonly In[],
  width: number,
  work: (input: In) => Promise<Out>,
): Promise<Out[]> {
  const outputs = new Array<Out>(inputs.length);
  let next = 0;
  const requestLoop = async () => {
    while (next < inputs.length) {
      const index = next++;
      outputs[index] = await work(inputs[index] as In);
    }
  };
  await Promise.all(Array.from({ length: width }, requestLoop));
  return outputs;
}
