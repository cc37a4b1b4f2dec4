/**
 * Every error of the service, for HTTP, WebSocket, per-image entries, webhooks and the CLI (RFC 9457, problem details).
 */

import type { FileRead } from './schemas/file-read.js';

/** The facts of an error beside its text. */
interface ErrorRow {
  status: number;
  title: string;
  /**
   * The part that is at fault. `worker`: the one that had the image; another may be able to run it. `detector`: all
   * workers together. `store`: the job store.
   */
  of: 'request' | 'job' | 'image' | 'model' | 'worker' | 'detector' | 'store' | 'service';
  /** True: the error comes from the state of the detector, and the same image may succeed when it is run again. */
  passing?: true;
  /**
   * True: no worker finished the image. The error says nothing about the image, its model or the rate of the workers.
   */
  unfinished?: true;
  /** A file that is still being written fails so: later it may not. */
  ofPart?: true;
  /** True: the error depends on the files of the node that ran the image. */
  ofNode?: true;
  /** True: a worker that answers with the error is about to end. */
  endsWorker?: true;
}

const ROWS = {
  // The request itself.
  bad_json: { status: 400, title: 'Body is not valid JSON', of: 'request' },
  bad_request: { status: 400, title: 'Request cannot be read', of: 'request' },
  unauthorized: { status: 401, title: 'API key missing or unknown', of: 'request' },
  forbidden: { status: 403, title: 'Not allowed', of: 'request' },
  not_found: { status: 404, title: 'Not found', of: 'request' },
  method_not_allowed: { status: 405, title: 'Method not allowed', of: 'request' },
  body_too_large: { status: 413, title: 'Body too large', of: 'request' },
  unsupported_media_type: {
    status: 415,
    title: 'Type of the body not supported',
    of: 'request',
  },
  validation_failed: { status: 422, title: 'Request breaks a rule', of: 'request' },
  idempotency_key_reused: {
    status: 422,
    title: 'Idempotency-Key used with another body',
    of: 'request',
  },
  // Jobs.
  job_not_found: { status: 404, title: 'Job not found', of: 'job' },
  job_not_finished: { status: 409, title: 'Job is still pending or running', of: 'job' },
  job_already_finished: { status: 409, title: 'Job has already ended', of: 'job' },
  nothing_to_retry: { status: 422, title: 'The job has no failed images', of: 'job' },
  needs_new_run: { status: 422, title: 'The stored boxes cannot answer this', of: 'job' },
  no_webhook: { status: 422, title: 'The job has no webhook', of: 'job' },
  cancelled: { status: 409, title: 'Cancelled', of: 'job', passing: true, unfinished: true },
  all_images_failed: { status: 422, title: 'No image of the job could be processed', of: 'job' },
  poison_input: { status: 422, title: 'Image crashed the worker repeatedly', of: 'job' },
  queue_full: { status: 429, title: 'Queue is full', of: 'job' },
  rate_limited: { status: 429, title: 'Too many requests', of: 'request' },
  quota_exceeded: { status: 429, title: 'The API key has all that it may take', of: 'request' },
  // Views.
  view_not_found: { status: 404, title: 'View not found', of: 'request' },
  view_changed: { status: 409, title: 'The view was changed meanwhile', of: 'request' },
  unknown_view: { status: 422, title: 'View of the request not found', of: 'request' },
  // Dismissed places.
  dismissal_not_found: { status: 404, title: 'Dismissal not found', of: 'request' },
  // Uploads.
  upload_not_found: { status: 404, title: 'Upload not found', of: 'request' },
  upload_in_use: { status: 409, title: 'A job has the upload already', of: 'request' },
  uploads_full: { status: 507, title: 'No room for uploads', of: 'request' },
  // Watches.
  watch_not_found: { status: 404, title: 'Watch not found', of: 'request' },
  watch_exists: { status: 409, title: 'There is a watch of this name', of: 'request' },
  // Aliases of models.
  alias_not_found: { status: 404, title: 'Alias not found', of: 'request' },
  alias_changed: { status: 409, title: 'The alias was changed meanwhile', of: 'request' },
  no_other_model: { status: 409, title: 'The alias has no other model', of: 'request' },
  // Image and model.
  image_not_found: { status: 422, title: 'Image not found', of: 'image', ofNode: true },
  path_not_allowed: {
    status: 422,
    title: 'Path is outside the image roots',
    of: 'image',
    ofNode: true,
  },
  not_a_regular_file: { status: 422, title: 'Path is not a regular file', of: 'image' },
  image_unreadable: { status: 422, title: 'Image cannot be read', of: 'image', ofNode: true },
  image_too_large: { status: 422, title: 'Image exceeds a size limit', of: 'image' },
  unsupported_image_format: {
    status: 422,
    title: 'Image format not supported',
    of: 'image',
    ofPart: true,
  },
  invalid_image: { status: 422, title: 'Image cannot be decoded', of: 'image', ofPart: true },
  input_changed: {
    status: 422,
    title: 'Image changed while it was read',
    of: 'image',
    ofPart: true,
  },
  volume_unavailable: { status: 503, title: 'Image folder does not answer', of: 'worker' },
  unknown_model: { status: 422, title: 'Model not found', of: 'model' },
  invalid_model: { status: 422, title: 'Model cannot be used', of: 'model' },
  model_changed: { status: 503, title: 'The file of the model is another one', of: 'worker' },
  model_not_ready: { status: 503, title: 'Model is not ready yet', of: 'worker', passing: true },
  // The machine.
  detection_failed: { status: 500, title: 'Detection could not be dispatched', of: 'detector' },
  internal_error: { status: 500, title: 'Internal error', of: 'service' },
  gpu_unavailable: { status: 503, title: 'No usable GPU', of: 'worker', passing: true },
  gpu_lost: { status: 503, title: 'GPU lost', of: 'worker', passing: true, endsWorker: true },
  worker_lost: { status: 500, title: 'Worker lost', of: 'detector', unfinished: true },
  cluster_unavailable: {
    status: 503,
    title: 'Compute cluster unavailable',
    of: 'detector',
    passing: true,
  },
  overloaded: {
    status: 503,
    title: 'Too much work queued',
    of: 'detector',
    passing: true,
    unfinished: true,
  },
  machine_overloaded: { status: 503, title: 'Machine is overloaded', of: 'service' },
  shutting_down: {
    status: 503,
    title: 'Service is stopping',
    of: 'detector',
    passing: true,
    unfinished: true,
    endsWorker: true,
  },
  storage_unavailable: { status: 503, title: 'Job store cannot be written', of: 'store' },
  deadline_exceeded: { status: 504, title: 'Deadline passed', of: 'detector', unfinished: true },
} as const satisfies Record<string, ErrorRow>;

export type ErrorCode = keyof typeof ROWS;

/** The rows in the order of the documentation. */
export const ERRORS: Readonly<Record<ErrorCode, ErrorRow>> = ROWS;

export const ERROR_CODES = Object.keys(ROWS) as [ErrorCode, ...ErrorCode[]];

/** The codes whose fault lies with one of these. */
export function errorsOf(...faulty: ErrorRow['of'][]): ErrorCode[] {
  return ERROR_CODES.filter((code) => faulty.includes(ERRORS[code].of));
}

/** One broken rule; `pointer` is a JSON Pointer fragment such as `#/image_paths/0`. */
export interface ErrorItem {
  detail: string;
  pointer?: string;
}

/** The body of every error answer (`application/problem+json`), also part of results and events. */
export interface Problem {
  type: string;
  title: string;
  status: number;
  code: ErrorCode;
  detail: string;
  request_id?: string;
  errors?: ErrorItem[];
}

/** An error with a code of `ERRORS`. Callers see `detail`: it must contain no absolute server path and no stack. */
export class LatticeError extends Error {
  readonly code: ErrorCode;
  readonly errors: ErrorItem[] | undefined;
  readonly retryAfterS: number | undefined;
  /** The file that was read for an image, where it was read. Callers do not see it. */
  readonly file: FileRead | undefined;

  constructor(
    code: ErrorCode,
    detail: string,
    options: {
      errors?: ErrorItem[] | undefined;
      retryAfterS?: number | undefined;
      file?: FileRead | undefined;
      cause?: unknown;
    } = {},
  ) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'LatticeError';
    this.code = code;
    this.errors = options.errors;
    this.retryAfterS = options.retryAfterS;
    this.file = options.file;
  }

  get status(): number {
    return ERRORS[this.code].status;
  }

  toProblem(requestId?: string): Problem {
    return {
      type: `urn:lattice:error:${this.code}`,
      title: ERRORS[this.code].title,
      status: this.status,
      code: this.code,
      detail: this.message,
      ...(requestId === undefined ? {} : { request_id: requestId }),
      ...(this.errors === undefined ? {} : { errors: this.errors }),
    };
  }
}

/** Any thrown value as a `LatticeError`; an unknown error becomes `internal_error` without its text. */
export function toLatticeError(thrown: unknown): LatticeError {
  if (thrown instanceof LatticeError) return thrown;
  return new LatticeError('internal_error', 'An internal error occurred.', { cause: thrown });
}

export const serviceStopping = () => new LatticeError('shutting_down', 'The service is stopping.');

/** Once a stop has begun, new work is refused. */
export function refuseWhileStopping({ draining }: { draining: () => boolean }): void {
  if (draining()) throw serviceStopping();
}
