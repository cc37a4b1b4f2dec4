/** Every error of the service, for HTTP, WebSocket, per-image entries, webhooks and the CLI (RFC 9457, problem details). */
export const ERRORS = {
  // The request itself.
  bad_json: { status: 400, title: 'Body is not valid JSON' },
  bad_request: { status: 400, title: 'Request cannot be read' },
  unauthorized: { status: 401, title: 'API key missing or unknown' },
  forbidden: { status: 403, title: 'Not allowed' },
  not_found: { status: 404, title: 'Not found' },
  method_not_allowed: { status: 405, title: 'Method not allowed' },
  body_too_large: { status: 413, title: 'Body too large' },
  unsupported_media_type: { status: 415, title: 'Type of the body not supported' },
  validation_failed: { status: 422, title: 'Request breaks a rule' },
  idempotency_key_reused: { status: 422, title: 'Idempotency-Key used with another body' },
  // Jobs.
  job_not_found: { status: 404, title: 'Job not found' },
  job_not_finished: { status: 409, title: 'Job is still pending or running' },
  job_already_finished: { status: 409, title: 'Job has already ended' },
  nothing_to_retry: { status: 422, title: 'The job has no failed images' },
  no_webhook: { status: 422, title: 'The job has no webhook' },
  cancelled: { status: 409, title: 'Cancelled' },
  all_images_failed: { status: 422, title: 'No image of the job could be processed' },
  poison_input: { status: 422, title: 'Image crashed the worker repeatedly' },
  queue_full: { status: 429, title: 'Queue is full' },
  rate_limited: { status: 429, title: 'Too many requests' },
  // Image and model.
  image_not_found: { status: 422, title: 'Image not found' },
  path_not_allowed: { status: 422, title: 'Path is outside the image roots' },
  not_a_regular_file: { status: 422, title: 'Path is not a regular file' },
  image_unreadable: { status: 422, title: 'Image cannot be read' },
  image_too_large: { status: 422, title: 'Image exceeds a size limit' },
  unsupported_image_format: { status: 422, title: 'Image format not supported' },
  invalid_image: { status: 422, title: 'Image cannot be decoded' },
  input_changed: { status: 422, title: 'Image changed while it was read' },
  volume_unavailable: { status: 503, title: 'Image folder does not answer' },
  unknown_model: { status: 422, title: 'Model not found' },
  invalid_model: { status: 422, title: 'Model cannot be used' },
  model_not_ready: { status: 503, title: 'Model is not ready yet' },
  // The machine.
  detection_failed: { status: 500, title: 'Detection could not be dispatched' },
  internal_error: { status: 500, title: 'Internal error' },
  gpu_unavailable: { status: 503, title: 'No usable GPU' },
  gpu_lost: { status: 503, title: 'GPU lost' },
  worker_lost: { status: 500, title: 'Worker lost' },
  cluster_unavailable: { status: 503, title: 'Compute cluster unavailable' },
  overloaded: { status: 503, title: 'Too much work queued' },
  shutting_down: { status: 503, title: 'Service is stopping' },
  storage_unavailable: { status: 503, title: 'Job store cannot be written' },
  deadline_exceeded: { status: 504, title: 'Deadline passed' },
} as const satisfies Record<string, { status: number; title: string }>;

export type ErrorCode = keyof typeof ERRORS;

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

  constructor(
    code: ErrorCode,
    detail: string,
    options: { errors?: ErrorItem[]; retryAfterS?: number; cause?: unknown } = {},
  ) {
    super(detail, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'LatticeError';
    this.code = code;
    this.errors = options.errors;
    this.retryAfterS = options.retryAfterS;
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
