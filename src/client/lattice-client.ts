/**
 * A client of the service for Node programs and browsers: its HTTP API and its events. Bodies are the service's own JSON,
 * so every field is named as in the OpenAPI document. Every call rejects with a `ServiceError`.
 */
import { openEventSocket } from './event-socket.js';
import { followEvents, type EventOptions } from './follow-events.js';
import { HttpCaller, type CallOptions } from './http-call.js';
import type {
  ClusterStatus,
  DetectRequest,
  DetectResponse,
  EventGap,
  JobAccepted,
  JobEvent,
  JobFilter,
  JobList,
  JobResult,
  JobRetried,
  JobStatus,
  JobSubmit,
  Model,
  ModelList,
  ResultFormat,
} from './records.js';
import { DEFAULT_SERVICE_URL, readServiceUrl } from './service-url.js';
import { waitForEnd, type WaitOptions } from './wait-for-end.js';

export type { EventOptions } from './follow-events.js';
export type { CallOptions } from './http-call.js';
export type * from './records.js';
export { ServiceError, type ClientCode } from './service-error.js';
export { DEFAULT_SERVICE_URL } from './service-url.js';
export type { JobProgress, WaitOptions } from './wait-for-end.js';

const CALL_MS = 30_000;
/** A result may be of many thousand images. */
const RESULT_MS = 300_000;
const WAIT_MS = 600_000;
const PAGE = 100;

export interface ClientOptions {
  /** Of the service, without `/v1`; by default port 8000 of this machine. */
  url?: string | undefined;
  apiKey?: string | undefined;
  /** Longest time of a call that says nothing else (30 s; a result 5 minutes, `waitFor` 10). */
  deadlineMs?: number;
}

export interface SubmitOptions extends CallOptions {
  /** A later submission with the same key and body gives the same job. By default each has its own. */
  idempotencyKey?: string;
}

/**
 * A refusal with `Retry-After` (429, 503) is tried again when the service says, as long as the deadline allows; a
 * connection that breaks once more, but for `cancel`.
 */
export class LatticeClient {
  /** Where the service is. */
  readonly url: string;
  readonly #http: HttpCaller;
  readonly #deadlineMs: number | undefined;

  /** Throws `TypeError` when the address is none, or the key cannot be one. */
  constructor({ url = DEFAULT_SERVICE_URL, apiKey, deadlineMs }: ClientOptions = {}) {
    this.url = readServiceUrl(url);
    // Left to `fetch`, its error would show the key.
    if (apiKey !== undefined && !/^[!-~]+$/.test(apiKey)) {
      throw new TypeError('The API key must be printable ASCII without spaces.');
    }
    this.#http = new HttpCaller(this.url, apiKey);
    this.#deadlineMs = deadlineMs;
  }

  /** Boxes of one image, now. */
  detect(request: DetectRequest, options?: CallOptions): Promise<DetectResponse> {
    return this.#post('/v1/inference/detect', request, {}, options);
  }

  /** Boxes of a picture that is sent; the service does not store it. The answer's `image_path` is the name of a `File`. */
  detectPicture(
    picture: Blob | Uint8Array<ArrayBuffer>,
    fields: Omit<DetectRequest, 'image_path'> = {},
    options?: CallOptions,
  ): Promise<DetectResponse> {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) {
      for (const each of [value ?? []].flat()) form.append(name, String(each));
    }
    if (picture instanceof File) form.append('image', picture);
    else form.append('image', picture instanceof Blob ? picture : new Blob([picture]), 'image');
    return this.#post('/v1/inference/detect', form, {}, options);
  }

  /** Resolves once the job is on disk. */
  submit(
    job: JobSubmit,
    { idempotencyKey = randomKey(), ...options }: SubmitOptions = {},
  ): Promise<JobAccepted> {
    return this.#post('/v1/jobs/submit', job, { 'idempotency-key': idempotencyKey }, options);
  }

  status(jobId: string, options?: CallOptions): Promise<JobStatus> {
    return this.#get(`${pathOf(jobId)}/status`, options);
  }

  /** The record of an ended job, completed or failed; `job_not_finished` before. */
  result(jobId: string, options?: CallOptions): Promise<JobResult> {
    return this.#get(`${pathOf(jobId)}/result`, options, RESULT_MS);
  }

  /**
   * The result of an ended job as a file of a format of docs/exports.md, in chunks. Rejects in the middle when the
   * connection breaks: what came until then is no whole file.
   */
  export(
    jobId: string,
    format: ResultFormat,
    { deadlineMs, signal }: CallOptions = {},
  ): AsyncGenerator<Uint8Array, void> {
    const path = `${pathOf(jobId)}/result?format=${encodeURIComponent(format)}`;
    const longestMs = deadlineMs ?? this.#deadlineMs ?? RESULT_MS;
    return this.#http.bytes({ method: 'GET', path, repeatable: true }, longestMs, signal);
  }

  /** Jobs, newest first; the next page is asked for when it is needed. Each has its own deadline. */
  async *list(filter: JobFilter = {}, options?: CallOptions): AsyncGenerator<JobStatus, void> {
    const query = new URLSearchParams({ limit: String(PAGE) });
    for (const [name, value] of Object.entries(filter)) {
      if (value !== undefined) query.set(name, String(value));
    }
    for (;;) {
      const page = await this.#get<JobList>(`/v1/jobs?${query.toString()}`, options);
      yield* page.jobs;
      if (page.next_cursor === null) return;
      query.set('cursor', page.next_cursor);
    }
  }

  /** Ends the job as `failed` with code `cancelled`; `job_already_finished` when it has ended. */
  cancel(jobId: string, options?: CallOptions): Promise<JobStatus> {
    return this.#call({ method: 'DELETE', path: pathOf(jobId), repeatable: false }, options);
  }

  /**
   * A new job of the images of an ended one that have no boxes, with the same settings; `nothing_to_retry` where all
   * have.
   */
  retry(
    jobId: string,
    { idempotencyKey = randomKey(), ...options }: SubmitOptions = {},
  ): Promise<JobRetried> {
    const headers = { 'idempotency-key': idempotencyKey };
    return this.#post(`${pathOf(jobId)}/retry`, undefined, headers, options);
  }

  async models(options?: CallOptions): Promise<Model[]> {
    return (await this.#get<ModelList>('/v1/models', options)).models;
  }

  clusterStatus(options?: CallOptions): Promise<ClusterStatus> {
    return this.#get('/v1/cluster/status', options);
  }

  /**
   * Events from now on, or from `after_seq`, for as long as they are read. A connection that breaks is opened again,
   * and the events missed come first; `gap` says that some are gone. Rejects when the service is not there at first.
   */
  events(options: EventOptions = {}): AsyncGenerator<JobEvent | EventGap, void> {
    return followEvents((...socket) => openEventSocket(this.#http, ...socket), options);
  }

  /**
   * The record of the job once it has ended, completed or failed. Rejects with `timeout` after the deadline; the job
   * goes on. That the service is away meanwhile is no reason to give up: it keeps its jobs.
   */
  waitFor(jobId: string, options: WaitOptions = {}): Promise<JobStatus> {
    return waitForEnd(this, jobId, options.deadlineMs ?? this.#deadlineMs ?? WAIT_MS, options);
  }

  #get<T>(path: string, options?: CallOptions, fallbackMs?: number): Promise<T> {
    return this.#call({ method: 'GET', path, repeatable: true }, options, fallbackMs);
  }

  #post<T>(
    path: string,
    body: unknown,
    headers: Record<string, string>,
    options?: CallOptions,
  ): Promise<T> {
    return this.#call({ method: 'POST', path, body, headers, repeatable: true }, options);
  }

  async #call<T>(
    call: Parameters<HttpCaller['json']>[0],
    { deadlineMs, signal }: CallOptions = {},
    fallbackMs = CALL_MS,
  ): Promise<T> {
    const longestMs = deadlineMs ?? this.#deadlineMs ?? fallbackMs;
    return (await this.#http.json(call, longestMs, signal)) as T;
  }
}

function pathOf(jobId: string): string {
  return `/v1/jobs/${encodeURIComponent(jobId)}`;
}

/** `randomUUID` is missing in pages of plain `http://` addresses. */
function randomKey(): string {
  const bytes = globalThis.crypto.getRandomValues(new Uint8Array(18));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}
