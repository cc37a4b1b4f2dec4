/** Every setting: its key, its form, its default and what it means. docs/configuration.md is generated from it. */
import { availableParallelism } from 'node:os';
import { delimiter } from 'node:path';
import { z } from 'zod';

const count = (fallback: number) => z.coerce.number().int().min(0).default(fallback);
/** A limit of 0 would let nothing through: whoever writes it means no limit, which there is not. */
const limit = (fallback: number, most = Number.MAX_SAFE_INTEGER) =>
  z.coerce.number().int().min(1).max(most).default(fallback);
const yesOrNo = z.union([z.boolean(), z.stringbool()], { error: 'must be true or false' });
const flag = yesOrNo.default(false);
/** Timers take 24 days at most; one that is longer goes off at once. */
const HOUR_MS = 3_600_000;
const DAY_S = 86_400;
const WEEK_MINUTES = 10_080;

/** `https://app.example`, as browsers send it. */
function isOrigin(text: string): boolean {
  return URL.canParse(text) && new URL(text).origin === text;
}

/** `cpu,cpu` gives worker processes on the CPU, one per entry: for tests, and to keep the engine apart from the service. */
const GPUS = /^(auto|\d+(,\d+)*|cpu(,cpu)*)$/;

function hasDuplicates(text: string): boolean {
  const parts = text.split(',');
  return new Set(parts).size < parts.length;
}

/** `640x384,480x640` -> sides; null for anything else. */
export function readRectangles(text: string): { width: number; height: number }[] | null {
  const parts = text.split(',').filter((part) => part.trim() !== '');
  const rectangles = parts.map((part) => {
    const [, width, height] = /^\s*([1-9]\d{0,3})x([1-9]\d{0,3})\s*$/.exec(part) ?? [];
    return { width: Number(width), height: Number(height) };
  });
  return rectangles.every(({ width }) => width > 0) ? rectangles : null;
}

/** Key -> schema with a description. The setting of `imageRoots` is `LATTICE_IMAGE_ROOTS`, its flag `--image-roots`. */
export const settings = {
  env: z
    .enum(['development', 'production'])
    .default('development')
    .describe('production demands API keys and denies private webhook targets'),
  host: z
    .string()
    .default('127.0.0.1')
    .describe('address to listen on; any but loopback needs API keys or insecure=1'),
  port: z.coerce
    .number()
    .int()
    .min(0)
    .max(65535)
    .default(8000)
    .describe('port to listen on; 0 picks a free one'),
  insecure: flag.describe('allow a non-loopback address without API keys'),
  imageRoots: z
    .string()
    .refine((text) => text.split(delimiter).some((root) => root.trim() !== ''), 'names no folder')
    .default('models/demo')
    .describe(`folders that requests may name images in, separated by '${delimiter}'`),
  modelsDir: z
    .string()
    .default('models')
    .describe('folder with NAME.onnx for the model_name NAME.pt'),
  modelFamily: z
    .string()
    .regex(/^[A-Za-z0-9_-]+$/)
    .default('yolo')
    .describe('first part of the default model_name, FAMILYv8n.pt'),
  modelMemoryMb: count(0).describe(
    "memory of all loaded models, past which those used longest ago are unloaded; 0: on the CPU half of the machine's, on GPUs what there is",
  ),
  dataDir: z.string().default('data').describe('job store and drawn images; a local disk'),
  engineCacheDir: z
    .string()
    .default('engines')
    .describe('folder of built TensorRT engines; the default lies beneath the data folder'),
  device: z
    .enum(['auto', 'cpu', 'cuda'])
    .default('auto')
    .describe('what runs the network; cuda refuses to start without a usable GPU'),
  gpus: z
    .string()
    .regex(GPUS, 'must be auto, or GPU numbers like 0,2')
    .refine((text) => text.startsWith('cpu') || !hasDuplicates(text), 'names a GPU twice')
    .default('auto')
    .describe(
      'GPUs to use, as CUDA numbers like 0,2, each in a worker process of its own; auto: all of them, a single one in the process of the service itself',
    ),
  precision: z
    .enum(['auto', 'f32', 'bf16'])
    .default('auto')
    .describe('auto takes bf16 where it is the faster, as measured at the start'),
  threads: z.coerce
    .number()
    .int()
    .min(1)
    .max(1024)
    .default(availableParallelism())
    .describe('CPU threads for the network and for decoding'),
  jobsYield: yesOrNo
    .default(true)
    .describe(
      'on the CPU, images of jobs compute only where nothing else wants the core; 0 lets them compete',
    ),
  fastDecode: z.coerce
    .number()
    .refine((pixels) => pixels === 0 || (pixels >= 1 && pixels <= 16), 'must be 0 or 1 to 16')
    .default(0)
    .describe(
      'decode large JPEGs at 1/2 to 1/8, keeping this many pixels a side for each of the network; 0: never',
    ),
  rectangles: z
    .string()
    .default('')
    .refine((text) => readRectangles(text) !== null, 'must be like 640x384,480x640')
    .describe(
      "on the CPU, smaller inputs beside the model's own, as 640x384,480x640: less to compute, boxes that differ a little; empty: none",
    ),
  cluster: z
    .enum(['auto', 'local', 'ray'])
    .default('auto')
    .describe('where images run; auto is ray when rayAddress is set, else local, this process'),
  rayAddress: z
    .string()
    .default('')
    .describe("ray://HOST:10001, the client server of the Ray cluster's head"),
  rayNamespace: z
    .string()
    .regex(/^[A-Za-z0-9._-]+$/)
    .default('lattice')
    .describe('Ray namespace of the workers'),
  rayTokenFile: z
    .string()
    .default('')
    .describe('file with the token of a Ray cluster that asks for one'),
  rayDashboard: z
    .string()
    .default('')
    .describe(
      'http://HOST:8265, through which the service starts the workers; empty: somebody runs lattice_ray up',
    ),
  rayWorkers: z
    .string()
    .regex(/^(auto|[1-9]\d*)$/)
    .default('auto')
    .describe('workers that the service starts; auto is one for each GPU, without GPUs one a node'),
  serviceUrl: z
    .string()
    .default('')
    .describe('ws://HOST:PORT at which workers reach this service; empty: its own host and port'),
  workerId: z
    .string()
    .default('')
    .describe('name of a worker process in results; empty: host and process id'),
  nodeId: z
    .string()
    .default('')
    .describe('name of the machine of a worker process; empty: its host'),
  workerTokenFile: z
    .string()
    .default('')
    .describe('file with the secret that service and workers share; needed beyond loopback'),
  apiKeysFile: z
    .string()
    .default('')
    .describe('file with one API key a line (plain, or sha256:HEX); empty for no authentication'),
  webhookSecret: z
    .string()
    .default('')
    .describe('whsec_... secret that signs webhooks; empty sends them unsigned'),
  webhookAllow: z
    .string()
    .default('')
    .describe(
      'hosts and CIDRs, comma-separated, that webhooks may reach in production although private',
    ),
  corsOrigins: z
    .string()
    .refine(
      (text) => text.split(',').every((each) => each.trim() === '' || isOrigin(each.trim())),
      {
        error: 'an origin is scheme://host[:port], as browsers send it: https://app.example',
      },
    )
    .default('')
    .describe(
      'origins allowed in production, comma-separated, among them that of a proxy; development allows any',
    ),
  logLevel: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'silent'])
    .default('info')
    .describe('least level that is logged'),
  maxBodyBytes: limit(8 * 1024 * 1024).describe('largest request body'),
  maxImagesPerJob: limit(10_000, 1_000_000).describe(
    'most images of one job after folders and globs are expanded',
  ),
  maxQueuedJobs: count(100_000).describe('unfinished jobs before a submit is answered 429'),
  maxFileBytes: limit(64 * 1024 * 1024).describe('largest image file'),
  maxPixels: limit(64_000_000).describe('most pixels of an image'),
  maxSide: limit(16_384, 1_048_576).describe('longest side of an image'),
  syncDeadlineMs: limit(10_000, HOUR_MS).describe(
    'longest wait of a synchronous detection, then 504; an hour at most; requests that would wait over 2 s are refused at once',
  ),
  syncQueue: count(256).describe(
    'most synchronous requests that wait for a worker, then 503; fewer wait where the deadline could not be met',
  ),
  volumePatienceSeconds: z.coerce
    .number()
    .min(0)
    .default(3_600)
    .describe('how long images of a job wait for a volume that does not answer, then they fail'),
  resultTtlHours: z.coerce
    .number()
    .positive()
    .default(24)
    .describe('how long a finished job is kept'),
  canaryMinutes: z.coerce
    .number()
    .min(0)
    .max(WEEK_MINUTES)
    .default(5)
    .describe('minutes between self-checks with a known picture, a week at most; 0 only at start'),
  drainSeconds: z.coerce
    .number()
    .min(0)
    .max(DAY_S)
    .default(20)
    .describe('longest wait for work in hand at a stop, a day at most'),
} as const;
