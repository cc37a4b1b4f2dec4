/**
 * Every setting: key, schema, default, description, and who takes it. Flags, environment variables,
 * docs/configuration.md, `GET /v1/settings` and the environment of worker processes are derived from it.
 */
import { delimiter } from 'node:path';
import { z } from 'zod';
import { DEVICES, PRECISIONS } from '../api/schemas/model.js';
import { computingCores } from '../base/processors.js';
import { FALSE_WORDS, TRUE_WORDS } from '../api/option-kinds.js';
import { jsonList, splitList } from '../base/text-list.js';

/**
 * Programs beside the service that take the value, from their environment or as flags: its worker processes on this
 * machine, workers on a Ray cluster, and `lattice detect`.
 */
type Taker = 'processes' | 'ray' | 'detect';
const WORKERS = ['processes', 'ray'] as const;

interface Use {
  for?: readonly Taker[];
  /** True: `GET /v1/settings` shows the value, which tells callers no folder, address or secret. */
  shown?: true;
}
const uses = z.registry<Use>();

const count = (fallback: number) => z.coerce.number().int().min(0).default(fallback);
/** A limit of 0 would refuse everything: it is rejected, because it probably means that no limit is wanted. */
const limit = (fallback: number, most = Number.MAX_SAFE_INTEGER) =>
  z.coerce.number().int().min(1).max(most).default(fallback);
const yesOrNo = z.union([z.boolean(), z.stringbool({ truthy: TRUE_WORDS, falsy: FALSE_WORDS })], {
  error: 'must be true or false',
});
const flag = yesOrNo.default(false);
/** The longest times of settings stay below the 24 days that timers of Node take: a longer one fires at once. */
const HOUR_MS = 3_600_000;
const DAY_S = 86_400;
const WEEK_MINUTES = 10_080;

/** `https://app.example`, as browsers send it. */
function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text;
}

/**
 * `cpu,cpu` gives worker processes on the CPU, one per entry: for tests, and to keep the engine apart from the service.
 */
const GPUS = /^(auto|\d+(,\d+)*|cpu(,cpu)*)$/;

function hasDuplicates(text: string): boolean {
  const parts = text.split(',');
  return new Set(parts).size < parts.length;
}

/** `1,8,32` -> the numbers; none for a text that is not ascending numbers from 1 to 32. */
export function readBatches(text: string): number[] {
  const batches = text.split(',').map(Number);
  const ascending = batches.every((batch, i) => batch > (batches[i - 1] ?? 0) && batch <= 32);
  return ascending && batches.every(Number.isInteger) ? batches : [];
}

/** `auto`; [] for `off`; widths and heights for `640x384,480x640`; null for any other text. */
export function readRectangles(text: string): 'auto' | { width: number; height: number }[] | null {
  if (text === 'auto') return 'auto';
  if (text === 'off') return [];
  const parts = text.split(',').filter((part) => part.trim() !== '');
  const rectangles = parts.map((part) => {
    const [, width, height] = /^\s*([1-9]\d{0,3})x([1-9]\d{0,3})\s*$/.exec(part) ?? [];
    return { width: Number(width), height: Number(height) };
  });
  return rectangles.length > 0 && rectangles.every(({ width }) => width > 0) ? rectangles : null;
}

/** The folders of `imageRoots`: separated, or a JSON list, in which a name may have the separator. */
export function readRoots(text: string): string[] {
  const list = z.array(z.string()).safeParse(jsonList(text));
  return list.success ? list.data.filter((root) => root !== '') : splitList(text, delimiter);
}

/** The text that `readRoots` reads as these folders. */
export function writeRoots(roots: readonly string[]): string {
  const text = roots.join(delimiter);
  const same = readRoots(text);
  const isSame = same.length === roots.length && same.every((root, index) => root === roots[index]);
  return isSame ? text : JSON.stringify(roots);
}

/** Key -> schema with a description. The setting of `imageRoots` is `LATTICE_IMAGE_ROOTS`, its flag `--image-roots`. */
export const settings = {
  env: z
    .enum(['development', 'production'])
    .default('development')
    .describe(
      'production requires API keys, refuses private webhook targets and allows only the origins of corsOrigins',
    )
    .register(uses, { shown: true }),
  host: z
    .string()
    .default('127.0.0.1')
    .describe(
      'address to listen on; an address other than loopback requires API keys or insecure=1',
    ),
  port: z.coerce
    .number()
    .int()
    .min(0)
    .max(65535)
    .default(8000)
    .describe('port to listen on; 0 selects a free one'),
  insecure: flag.describe('allow a non-loopback address without API keys'),
  imageRoots: z
    .string()
    .refine((text) => readRoots(text).length > 0, 'must contain a folder')
    .default('models/demo')
    .describe(
      `folders from which requests may read images, separated by '${delimiter}', or a JSON list of them`,
    )
    .register(uses, { for: WORKERS }),
  modelsDir: z
    .string()
    .default('models')
    .describe('folder of the models: NAME.onnx is the model_name NAME.pt')
    .register(uses, { for: [...WORKERS, 'detect'] }),
  modelFamily: z
    .string()
    .regex(/^[A-Za-z0-9_-]+$/)
    .default('yolo')
    .describe('first part of the default model_name, FAMILYv8n.pt')
    .register(uses, { for: WORKERS }),
  preload: z
    .string()
    .default('')
    .describe(
      'models, comma-separated, that are loaded at the start after the default one, so that their first request is not slow; those that answer under aliases follow by themselves',
    )
    .register(uses, { for: WORKERS }),
  modelMemoryMb: count(0)
    .describe(
      'memory of all loaded models in MiB; beyond it the least recently used are unloaded; 0: half of the memory on the CPU, all memory on GPUs',
    )
    .register(uses, { shown: true, for: ['processes'] }),
  dataDir: z
    .string()
    .default('data')
    .describe('folder of the job store and of annotated images; must be on a local disk')
    .register(uses, { for: ['processes'] }),
  engineCacheDir: z
    .string()
    .default('engines')
    .describe(
      'folder of engines that GPUs have built and of networks that the CPU has compiled; the default is in the data folder',
    )
    .register(uses, { for: ['processes'] }),
  networksMaxMb: count(2_048)
    .describe(
      'maximum total size in MiB of the networks that the CPU has compiled and that are kept in engineCacheDir; those used longest ago go first, those in use stay; 0: none are kept',
    )
    .register(uses, { shown: true, for: ['processes'] }),
  device: z
    .enum(DEVICES)
    .default('auto')
    .describe(
      'device that runs the model; auto uses a usable GPU, else the CPU; cuda fails to start without a usable GPU',
    )
    .register(uses, { shown: true, for: ['detect'] }),
  gpus: z
    .string()
    .regex(GPUS, 'must be auto, or GPU numbers like 0,2')
    .refine((text) => text.startsWith('cpu') || !hasDuplicates(text), 'names a GPU twice')
    .default('auto')
    .describe(
      'GPUs to use, as CUDA numbers like 0,2, each in a worker process of its own; auto: all usable GPUs, a single one in the service itself',
    )
    .register(uses, { shown: true }),
  gpuBatches: z
    .string()
    .refine(
      (text) => readBatches(text).length > 0,
      'must be ascending numbers up to 32 like 1,8,32',
    )
    .default('1,2,4,8,16,32')
    .describe(
      'batch sizes that TensorRT engines are built for, the smallest first, with which the service starts; a batch between two computes as the larger one',
    )
    .register(uses, { for: ['processes'] }),
  precision: z
    .enum(PRECISIONS)
    .default('auto')
    .describe(
      'precision of the model; auto takes bf16, and an 8-bit copy that is proven to be as good, where a measurement at ' +
        'the start finds it faster',
    )
    .register(uses, { shown: true, for: ['processes', 'detect'] }),
  threads: limit(computingCores(), 1024)
    .describe(
      'CPU threads for the model and for decoding; by default the whole cores that the process may use, within the ' +
        'quota of its container',
    )
    .register(uses, { shown: true, for: ['detect'] }),
  jobsYield: yesOrNo
    .default(true)
    .describe(
      'on the CPU, images of jobs run at the lowest scheduling priority; false: at the priority of other processes',
    )
    .register(uses, { shown: true, for: ['processes', 'detect'] }),
  rectangles: z
    .string()
    .default('auto')
    .refine((text) => readRectangles(text) !== null, 'must be auto, off, or like 640x384,480x640')
    .describe(
      "on the CPU, inputs smaller than the model's own, for photos of another shape; auto: for exports with variable sides the smallest of 13 inputs of usual shapes that holds the photo; off: none; or a list such as 640x384,480x640",
    )
    .register(uses, { shown: true, for: [...WORKERS, 'detect'] }),
  cluster: z
    .enum(['auto', 'local', 'ray'])
    .default('auto')
    .describe(
      'where images are processed; local: in this process; auto: ray when rayAddress is set, else local',
    ),
  rayAddress: z
    .string()
    .default('')
    .describe('address of the client server on the head of the Ray cluster, ray://HOST:10001'),
  rayNamespace: z
    .string()
    .regex(/^[A-Za-z0-9._-]+$/)
    .default('lattice')
    .describe('Ray namespace of the workers'),
  rayTokenFile: z
    .string()
    .default('')
    .describe('file with the token of a Ray cluster that requires one'),
  rayDashboard: z
    .string()
    .default('')
    .describe(
      'address of the Ray dashboard, http://HOST:8265, through which the service starts the workers; empty: start them with lattice_ray up',
    ),
  rayWorkers: z
    .string()
    .regex(/^(auto|[1-9]\d*)$/)
    .default('auto')
    .describe(
      'number of workers that the service starts; auto: one per GPU, without GPUs one per node',
    ),
  serviceUrl: z
    .string()
    .default('')
    .describe(
      'address at which workers reach this service, ws://HOST:PORT; empty: from host and port',
    ),
  workerId: z
    .string()
    .default('')
    .describe('name of a worker process in results; empty: host name and process id'),
  nodeId: z
    .string()
    .default('')
    .describe('name of the machine of a worker process; empty: its host name'),
  workerTokenFile: z
    .string()
    .default('')
    .describe(
      'file with the secret that service and workers share; required on an address other than loopback',
    )
    .register(uses, { for: ['ray'] }),
  apiKeysFile: z
    .string()
    .default('')
    .describe('file with one API key per line (plain, or sha256:HEX); empty: no authentication'),
  webhookSecret: z
    .string()
    .default('')
    .describe('secret that signs webhooks, whsec_...; empty: unsigned'),
  webhookAllow: z
    .string()
    .default('')
    .describe(
      'private hosts and CIDRs, comma-separated, to which webhooks may be sent in production',
    ),
  corsOrigins: z
    .string()
    .refine(
      (text) => text.split(',').every((each) => each.trim() === '' || isOrigin(each.trim())),
      {
        error: 'must be origins as browsers send them, scheme://host[:port]: https://app.example',
      },
    )
    .default('')
    .describe(
      'origins, comma-separated, whose web pages may use the API as programs do; on loopback their hosts are also accepted as Host header; behind a proxy its origin',
    ),
  logLevel: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'silent'])
    .default('info')
    .describe('minimum log level')
    .register(uses, { shown: true, for: ['processes'] }),
  requestLog: z.coerce
    .number()
    .min(0)
    .max(1)
    .default(1)
    .describe(
      'share of the requests that is logged at level info, one line each; those that fail are logged always',
    )
    .register(uses, { shown: true }),
  maxBodyBytes: limit(8 * 1024 * 1024)
    .describe('maximum size of a JSON request body in bytes')
    .register(uses, { shown: true }),
  acceptImages: yesOrNo
    .default(true)
    .describe(
      'a synchronous detection may send the picture itself (image/* or multipart/form-data), within maxFileBytes; false: it can only name a file',
    )
    .register(uses, { shown: true }),
  compat: z
    .enum(['none', 'deepstack', 'label-studio', 'cvat'])
    .default('none')
    .describe(
      "deepstack: also the routes of DeepStack and CodeProject.AI, for cameras' programs, see deepstack.md; label-studio: also those of a machine learning backend of Label Studio, cvat: also those that CVAT calls for automatic annotation, see exports.md",
    )
    .register(uses, { shown: true }),
  browse: yesOrNo
    .default(true)
    .describe(
      'GET /v1/images and /v1/images/file show the image folders and their pictures to callers with a key; false: both are answered 404',
    )
    .register(uses, { shown: true }),
  maxImagesPerJob: limit(10_000, 1_000_000)
    .describe('maximum number of images per job after folders and globs are expanded')
    .register(uses, { shown: true }),
  maxQueuedJobs: count(100_000)
    .describe('maximum number of unfinished jobs; beyond it a submission is answered 429')
    .register(uses, { shown: true }),
  maxFileBytes: limit(64 * 1024 * 1024)
    .describe('maximum size of an image in bytes, of a file or of a picture that is sent')
    .register(uses, { shown: true, for: [...WORKERS, 'detect'] }),
  uploadsMaxMb: count(4_096)
    .describe(
      'maximum of all photos in MiB that were sent for jobs and are kept in the data folder as long as their jobs; 0: none are taken',
    )
    .register(uses, { shown: true }),
  maxPixels: limit(64_000_000)
    .describe('maximum number of pixels of an image')
    .register(uses, { shown: true, for: [...WORKERS, 'detect'] }),
  maxSide: limit(16_384, 1_048_576)
    .describe('maximum width and height of an image in pixels')
    .register(uses, { shown: true, for: [...WORKERS, 'detect'] }),
  scoreFloor: z.coerce
    .number()
    .min(0)
    .max(1)
    .default(0.05)
    .describe(
      'lowest score of the boxes that a job keeps of each image, at most 300, whatever it asks for; its results can be asked for again with any threshold above it; 1: the boxes above its own threshold',
    )
    .register(uses, { shown: true, for: [...WORKERS, 'detect'] }),
  positions: yesOrNo
    .default(true)
    .describe(
      'results have the latitude and longitude that the EXIF of a picture says; false: they are left out of whatever is answered, stored, sent or exported from then on',
    )
    .register(uses, { shown: true, for: [...WORKERS, 'detect'] }),
  syncDeadlineMs: limit(10_000, HOUR_MS)
    .describe(
      'maximum milliseconds of a synchronous detection, at most an hour; then it is answered 504; requests that would wait over 1.75 s are refused at once',
    )
    .register(uses, { shown: true }),
  syncQueue: count(256)
    .describe(
      'maximum number of synchronous requests waiting for a worker; fewer wait if the deadline could not be met; others are answered 503',
    )
    .register(uses, { shown: true }),
  volumePatienceSeconds: z.coerce
    .number()
    .min(0)
    .default(3_600)
    .describe(
      'seconds for which images of a job wait for a volume that does not answer; then they fail',
    )
    .register(uses, { shown: true }),
  watchNotices: yesOrNo
    .default(true)
    .describe(
      'ask the system to tell of changes in watched folders (inotify); scans find them in any case',
    )
    .register(uses, { shown: true }),
  resultTtlHours: z.coerce
    .number()
    .positive()
    .default(168)
    .describe(
      'hours for which a finished job is kept with its results and drawn copies, and the drawn copy of a synchronous ' +
        'call; jobs with keep are kept longer',
    )
    .register(uses, { shown: true }),
  keptCounts: count(200_000)
    .describe(
      'counts by hour and folder of watches and tagged jobs that are kept when their results are removed, per API key; the oldest go first; 0: none',
    )
    .register(uses, { shown: true }),
  storeMaxMb: count(0)
    .describe(
      'size of the job store in MiB: near it the jobs that ended first are removed before their time, but for kept ' +
        'ones; at it new jobs are refused with 503; 0: no bound but the disk',
    )
    .register(uses, { shown: true }),
  canaryMinutes: z.coerce
    .number()
    .min(0)
    .max(WEEK_MINUTES)
    .default(5)
    .describe(
      'minutes between self-checks with a known image, at most a week; 0: only at the start',
    )
    .register(uses, { shown: true, for: ['processes'] }),
  drainSeconds: z.coerce
    .number()
    .min(0)
    .max(DAY_S)
    .default(20)
    .describe('maximum seconds to wait for work in progress at a stop, at most a day')
    .register(uses, { shown: true, for: ['processes'] }),
} as const;

type SettingKey = keyof typeof settings;
const keysWhere = (holds: (use: Use) => boolean): SettingKey[] =>
  (Object.keys(settings) as SettingKey[]).filter((key) => holds(uses.get(settings[key]) ?? {}));

export const settingsFor = (taker: Taker): SettingKey[] =>
  keysWhere((use) => use.for?.includes(taker) === true);

export const SHOWN_SETTINGS = keysWhere(({ shown }) => shown === true);
