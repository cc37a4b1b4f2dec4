/**
 * The frames between the service and a worker, except results, which are binary (`result-frame.ts`): JSON texts on
 * one WebSocket that the worker opens. Both ends must have the same `PROTOCOL` and the same build.
 */
import { z } from 'zod';
import { ERRORS, LatticeError, type ErrorCode } from '../../errors.js';
import { detectOptionsSchema } from '../../contract/detect-options.js';
import { workerStatsSchema } from '../../contract/detector-stats.js';
import { modelDescriptionSchema } from '../../contract/model-description.js';

/** Counts up with every change of a frame's shape. */
export const PROTOCOL = 3;
export const WORKER_PATH = '/internal/v1/workers';
/** No frame is longer; those with models are sent one model each. */
export const MAX_FRAME = 64 * 1024;

/** The service pings this often, a worker reports this often. */
export const BEAT_MS = 2_000;
/** Silence after which either end gives the other up. */
export const SILENCE_MS = 15_000;

/** Close codes of the service; 1001 is a service that stops. */
export const CLOSE = { otherBuild: 4001, badFrame: 4002, silent: 4003, replaced: 4004 } as const;

const errorCodes = Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]];
const errorSchema = z.object({
  code: z.enum(errorCodes),
  detail: z.string(),
  errors: z.array(z.object({ detail: z.string(), pointer: z.string().optional() })).optional(),
  retryAfterS: z.number().optional(),
});
const slotsSchema = z.object({ sync: z.int().min(0), async: z.int().min(0) });

const stateSchema = z.object({
  slots: slotsSchema,
  stats: workerStatsSchema,
  /** Why the worker cannot be trusted; null when it can. */
  fault: errorSchema.nullable(),
});
/** How a worker is at this moment. */
export type WorkerState = z.infer<typeof stateSchema>;

/** Goes into the log and into the reason of a close. */
const WORD = /^[\x20-\x7e]{1,128}$/;

const helloSchema = z.object({
  type: z.literal('hello'),
  protocol: z.int(),
  build: z.string().regex(WORD),
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
export type Hello = z.infer<typeof helloSchema>;

/** From the worker. */
const workerFrameSchema = z.discriminatedUnion('type', [
  helloSchema,
  z.object({ type: z.literal('state'), state: stateSchema }),
  z.object({ type: z.literal('failed'), lease: z.int(), error: errorSchema }),
  /** Takes no more images; the socket closes when it has answered those in hand. */
  z.object({ type: z.literal('draining') }),
  /** A part of the answer to a call; the call is answered by the one without `more`. */
  z.object({
    type: z.literal('answer'),
    call: z.int(),
    model: modelDescriptionSchema.optional(),
    error: errorSchema.optional(),
    more: z.boolean(),
  }),
]);
export type WorkerFrame = z.infer<typeof workerFrameSchema>;

/** From the service. */
const serviceFrameSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('welcome') }),
  z.object({
    type: z.literal('detect'),
    /** Names this handing-out of the image, never used again: an answer to an older one is refused. */
    lease: z.int(),
    path: z.string(),
    options: detectOptionsSchema,
    class: z.enum(['sync', 'async']),
    priority: z.number(),
    /** Milliseconds left when it was sent. */
    deadlineMs: z.number().optional(),
  }),
  z.object({ type: z.literal('cancel'), lease: z.int() }),
  z.object({ type: z.literal('prepare'), call: z.int(), modelName: z.string() }),
  z.object({ type: z.literal('models'), call: z.int() }),
]);
export type ServiceFrame = z.infer<typeof serviceFrameSchema>;
export type DetectFrame = Extract<ServiceFrame, { type: 'detect' }>;

/** Null for a text that is no frame. */
export function readWorkerFrame(text: string): WorkerFrame | null {
  return read(workerFrameSchema, text);
}

const wordSchema = z.string().regex(WORD).catch('unknown');
/** What every version's hello is taken to have: nothing of it is required. */
const introductionSchema = z.object({
  type: z.literal('hello'),
  protocol: z.int().nullable().catch(null),
  build: wordSchema,
  workerId: wordSchema,
  nodeId: wordSchema,
  host: wordSchema,
});
export type Introduction = z.infer<typeof introductionSchema>;

/** Who says hello, also in the shape of another version; null for what is no hello. */
export function readIntroduction(text: string): Introduction | null {
  return read(introductionSchema, text);
}

/** What keeps a text from being a frame of a worker, for the log. */
export function faultOfWorkerFrame(text: string): string {
  try {
    const issue = workerFrameSchema.safeParse(JSON.parse(text)).error?.issues[0];
    return issue === undefined ? 'none' : `${issue.path.join('.')}: ${issue.message}`;
  } catch {
    return 'it is not JSON';
  }
}

/** Null for a text that is no frame. */
export function readServiceFrame(text: string): ServiceFrame | null {
  return read(serviceFrameSchema, text);
}

function read<T>(schema: z.ZodType<T>, text: string): T | null {
  try {
    const parsed = schema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

export type WireError = z.infer<typeof errorSchema>;

export function toWireError({ code, message, errors, retryAfterS }: LatticeError): WireError {
  return {
    code,
    detail: message,
    ...(errors === undefined ? {} : { errors }),
    ...(retryAfterS === undefined ? {} : { retryAfterS }),
  };
}

export function fromWireError({ code, detail, errors, retryAfterS }: WireError): LatticeError {
  const items = errors?.map((item) => ({
    detail: item.detail,
    ...(item.pointer === undefined ? {} : { pointer: item.pointer }),
  }));
  return new LatticeError(code, detail, {
    ...(items === undefined ? {} : { errors: items }),
    ...(retryAfterS === undefined ? {} : { retryAfterS }),
  });
}
