/**
 * The frames between the service and a worker: JSON texts on one WebSocket that the worker opens. The only other frames
 * are images that a client sent, as they are. Both ends must have the same version of this package, so that a frame
 * needs no version of its own.
 */
import { z } from 'zod';
import { fileReadSchema } from '../../api/schemas/file-read.js';
import { ERROR_CODES, LatticeError } from '../../api/errors.js';
import { detectOptionsSchema } from '../../api/schemas/option-schemas.js';
import { workerStatsSchema } from '../../api/schemas/statistics.js';
import { processedImageSchema } from '../../api/schemas/image.js';
import {
  modelDescriptionSchema,
  modelVersionSchema,
  namedVersionSchema,
} from '../../api/schemas/model.js';

export const WORKER_PATH = '/internal/v1/workers';
/** Headers by which a worker names itself, for the report of a refusal. */
export const WORKER_HEADER = 'x-lattice-worker';
export const NODE_HEADER = 'x-lattice-node';
/** No text is longer: the most boxes, each in the most regions, fit into it. Models are sent one per frame. */
export const MAX_FRAME = 4 * 1024 * 1024;

/** The remedy for a token that was refused; both ends say it. */
export const TOKEN_REMEDY = 'the file LATTICE_WORKER_TOKEN_FILE must be the same on all machines';

/** The service pings this often, a worker reports this often. */
export const BEAT_MS = 2_000;
/** A worker that is not heard between so many pings gets no images while another one is well. */
export const QUIET_PINGS = 3;
/** Either end gives the other up after this time of silence. */
export const SILENCE_MS = 15_000;

/** Close codes of the service. */
export const CLOSE = {
  stopping: 1001,
  otherBuild: 4001,
  badFrame: 4002,
  silent: 4003,
  replaced: 4004,
} as const;

/** Read as a `LatticeError`. */
const errorSchema = z
  .object({
    code: z.enum(ERROR_CODES),
    detail: z.string(),
    errors: z
      .array(z.object({ detail: z.string(), pointer: z.string().exactOptional() }))
      .optional(),
    retryAfterS: z.number().optional(),
    file: fileReadSchema.optional(),
  })
  .transform(({ code, detail, ...more }) => new LatticeError(code, detail, more));

export function toWireError(error: LatticeError): z.input<typeof errorSchema> {
  const { code, message: detail, errors, retryAfterS, file } = error;
  return { code, detail, errors, retryAfterS, file };
}

const stateSchema = z.object({
  slots: z.object({ sync: z.int().min(0), async: z.int().min(0) }),
  syncParallel: z.int().min(1),
  stats: workerStatsSchema,
  /** Model name -> digest of the file that its node has for it. */
  modelDigests: z.record(z.string(), z.string()),
  /** Why the worker cannot be trusted; null when it can. */
  fault: errorSchema.nullable(),
});
/** The state that a worker reports. */
export type ReportedState = z.output<typeof stateSchema>;
/** The same as it is sent. */
export type SentState = z.input<typeof stateSchema>;

/** Fit for the log and for the reason of a close. */
export const wordSchema = z.string().regex(/^[\x20-\x7e]{1,128}$/);

const helloSchema = z.object({
  type: z.literal('hello'),
  build: wordSchema,
  workerId: z.string().min(1).max(128),
  nodeId: z.string().min(1).max(128),
  /** The same in every hello of one process. */
  instance: z.string().min(1).max(64),
  host: z.string(),
  pid: z.int(),
  /** Folders in which it looks images up, and whether it can read them. */
  roots: z.array(z.object({ path: z.string(), readable: z.boolean() })).max(64),
  state: stateSchema,
});
/** The first frame of a worker. */
export type Hello = z.output<typeof helloSchema>;

const unknownWord = wordSchema.catch('unknown');
const greetingSchema = z.object({
  type: z.literal('hello'),
  build: unknownWord,
  workerId: unknownWord,
  nodeId: unknownWord,
  host: unknownWord,
});
/** The part of a hello that is read whatever the version of the worker. */
export type Greeting = z.output<typeof greetingSchema>;

const workerFrameSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('state'), state: stateSchema }),
  z.object({
    type: z.literal('result'),
    lease: z.int(),
    result: processedImageSchema,
    /** `found` of the result, in base64. */
    found: z.string().exactOptional(),
    /** The look of the result, its grey in base64. */
    look: z.object({ grey: z.string(), sharpness: z.number() }).exactOptional(),
    /** Those of the result, in base64. */
    descriptors: z.string().exactOptional(),
  }),
  z.object({ type: z.literal('failed'), lease: z.int(), error: errorSchema }),
  /** Takes no more images; the socket closes when it has answered those in hand. */
  z.object({ type: z.literal('draining') }),
  /** A part of the answer to a call; the last part has `more: false`. */
  z.object({
    type: z.literal('answer'),
    call: z.int(),
    model: modelDescriptionSchema.optional(),
    error: errorSchema.optional(),
    more: z.boolean(),
  }),
]);
/** From the worker, after its hello. */
export type WorkerFrame = z.output<typeof workerFrameSchema>;
/** Frames from a worker to the service. */
export type SentByWorker = z.input<typeof workerFrameSchema> | z.input<typeof helloSchema>;

const serviceFrameSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('welcome') }),
  z.object({
    type: z.literal('detect'),
    /** Numbers this hand-out of the image and no other: an answer to an earlier one is refused. */
    lease: z.int(),
    request: z.object({
      path: z.string(),
      options: detectOptionsSchema,
      model: namedVersionSchema.exactOptional(),
      kind: z.enum(['sync', 'async']),
      digest: z.boolean().exactOptional(),
      scoreFloor: z.number().exactOptional(),
      look: z.boolean().exactOptional(),
      descriptorsAbove: z.number().exactOptional(),
      priority: z.number().exactOptional(),
      /** Milliseconds left when it was sent. */
      deadlineMs: z.number().exactOptional(),
    }),
    /** The next frame is the image itself, and has so many bytes. */
    imageBytes: z.int().min(0).exactOptional(),
  }),
  z.object({ type: z.literal('cancel'), lease: z.int() }),
  z.object({ type: z.literal('prepare'), call: z.int(), modelName: z.string() }),
  z.object({ type: z.literal('models'), call: z.int() }),
  /** Whether the file is there; an error is the answer when it is not. */
  z.object({ type: z.literal('look'), call: z.int(), path: z.string() }),
  /** Answered when the changed files are taken, without a model. */
  z.object({ type: z.literal('reload'), call: z.int() }),
  z.object({ type: z.literal('keep'), models: z.array(modelVersionSchema) }),
]);
export type ServiceFrame = z.output<typeof serviceFrameSchema>;
export type DetectFrame = Extract<ServiceFrame, { type: 'detect' }>;

/** A frame, or what keeps the text from being one, for the log. */
export type Read<T> = { frame: T; fault: null } | { frame: null; fault: string };

const reader =
  <T>(schema: z.ZodType<T>) =>
  (text: string): Read<T> => {
    let content: unknown;
    try {
      content = JSON.parse(text);
    } catch {
      return { frame: null, fault: 'it is not JSON' };
    }
    const { data, error } = schema.safeParse(content);
    if (data !== undefined) return { frame: data, fault: null };
    const [issue] = error?.issues ?? [];
    return { frame: null, fault: `${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}` };
  };

export const readGreeting = reader(greetingSchema);
export const readHello = reader(helloSchema);
export const readWorkerFrame = reader(workerFrameSchema);
export const readServiceFrame = reader(serviceFrameSchema);
