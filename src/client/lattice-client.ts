/**
 * A client of the service for Node programs and browsers: its HTTP API and its events. Bodies are the service's own
 * JSON, so every field is named as in the OpenAPI document. Every call rejects with a `ServiceError`, or with the
 * reason of the caller's signal.
 */
import type {
  AskOptions,
  ClientOptions,
  PictureOptions,
  ResultOptions,
  RetryOptions,
  SubmitOptions,
} from './client-options.js';
import { openEventSocket } from './event-socket.js';
import { followEvents, type EventOptions } from './follow-events.js';
import { HttpCaller, type CallOptions } from './http-call.js';
import type {
  ClusterStatus,
  Counts,
  CountsBy,
  CountsQuery,
  DetectRequest,
  DetectResponse,
  Dismissal,
  DismissalList,
  EventGap,
  FolderPage,
  FolderQuery,
  JobAccepted,
  JobAgreement,
  JobChanges,
  JobChangesQuery,
  JobCounts,
  JobCountsQuery,
  JobEvent,
  JobFilter,
  JobImages,
  JobImagesQuery,
  JobList,
  JobPatch,
  JobResult,
  JobRetried,
  JobStatus,
  JobSubmit,
  JobSummary,
  Model,
  ModelList,
  NewDismissal,
  PageCursor,
  PictureQueries,
  Places,
  PlacesQuery,
  ResultFormat,
  SettingList,
  Usage,
  View,
  ViewList,
  ViewPut,
  Camera,
  CameraFindingPatch,
  CameraList,
  Watch,
  WatchCreate,
  WatchList,
  WatchPatch,
  WebhookList,
} from './records.js';
import { AliasCalls } from './alias-calls.js';
import { ApiCalls, CALL_MS, queryOf, randomKey, RESULT_MS, textsOf } from './api-calls.js';
import { UploadCalls, type PhotoFile, type SendOptions } from './upload-calls.js';
import { waitForEnd, type WaitOptions } from './wait-for-end.js';

export type {
  AskOptions,
  ClientOptions,
  PictureOptions,
  ResultOptions,
  RetryOptions,
  SubmitOptions,
} from './client-options.js';
export type { EventOptions } from './follow-events.js';
export { DEFAULT_SERVICE_URL, type CallOptions } from './http-call.js';
export type * from './records.js';
export { ServiceError, type ClientCode } from './service-error.js';
export type { LeftOutPhoto, PhotoFile, SendOptions, SendProgress } from './upload-calls.js';
export type { JobProgress, WaitOptions } from './wait-for-end.js';

/** A network may have to be compiled. */
const RELOAD_MS = 120_000;
/** Each picture is drawn while the archive is sent. */
const PICTURES_MS = 3_600_000;
const WAIT_MS = 600_000;
const PAGE = 100;

/**
 * A refusal with `Retry-After` (429, 503) is tried again when the service says, as long as the deadline allows; a
 * connection that breaks once more, but for `cancel`.
 */
export class LatticeClient {
  /** The address of the service. */
  readonly url: string;
  /** Photos that are sent for jobs, in steps; `submitFiles` takes them all. */
  readonly uploads: UploadCalls;
  /** Names that stand for models. */
  readonly aliases: AliasCalls;
  readonly #http: HttpCaller;
  readonly #calls: ApiCalls;
  readonly #deadlineMs: number | undefined;

  /** Throws `TypeError` when the address is none, or the key cannot be one. */
  constructor({ deadlineMs, ...access }: ClientOptions = {}) {
    this.#http = new HttpCaller(access);
    this.url = this.#http.baseUrl;
    this.uploads = new UploadCalls(this.#http, deadlineMs ?? CALL_MS);
    this.aliases = new AliasCalls(this.#http, deadlineMs ?? RELOAD_MS);
    this.#calls = new ApiCalls(this.#http, deadlineMs);
    this.#deadlineMs = deadlineMs;
  }

  /** Boxes of one image, now. */
  detect(request: DetectRequest, options?: CallOptions): Promise<DetectResponse> {
    return this.#calls.post('/v1/inference/detect', request, {}, options);
  }

  /**
   * Boxes of a picture that is sent; the service does not store it. The answer's `image_path` is the name of a `File`.
   */
  detectPicture(
    picture: Blob | Uint8Array<ArrayBuffer>,
    fields: Omit<DetectRequest, 'image_path'> = {},
    options?: CallOptions,
  ): Promise<DetectResponse> {
    const form = new FormData();
    for (const [name, text] of textsOf(fields)) form.append(name, text);
    if (picture instanceof File) form.append('image', picture);
    else form.append('image', picture instanceof Blob ? picture : new Blob([picture]), 'image');
    return this.#calls.post('/v1/inference/detect', form, {}, options);
  }

  /**
   * Resolves once the job is on disk. `job` may be JSON text: numbers of `metadata` beyond 2^53 keep their digits in
   * it.
   */
  submit(
    job: JobSubmit | string,
    { idempotencyKey = randomKey(), ...options }: SubmitOptions = {},
  ): Promise<JobAccepted> {
    return this.#calls.post('/v1/jobs/submit', job, { 'idempotency-key': idempotencyKey }, options);
  }

  /**
   * Sends photos and submits a job of them: one of all where `job` names no `image_paths`. What is no picture that the
   * service reads is left out; `summary` of the job says what. An abort removes what was sent.
   */
  async submitFiles(
    job: Omit<JobSubmit, 'image_paths' | 'upload'> & { image_paths?: string[] },
    files: readonly (File | PhotoFile)[],
    { onProgress, ...options }: SubmitOptions & SendOptions = {},
  ): Promise<JobAccepted> {
    return this.uploads.withFiles(files, { ...options, onProgress }, (upload) =>
      this.submit({ image_paths: ['.'], ...job, upload }, options),
    );
  }

  status(jobId: string, options?: CallOptions): Promise<JobStatus> {
    return this.#calls.get(`${pathOf(jobId)}/status`, options);
  }

  /** The record of an ended job, completed or failed; `job_not_finished` before. */
  result(jobId: string, options: ResultOptions = {}): Promise<JobResult> {
    return this.#calls.get(
      `${pathOf(jobId)}/result${queryOf(resultQuery(options))}`,
      options,
      RESULT_MS,
    );
  }

  /**
   * The result of an ended job as a file of a format of docs/exports.md, in chunks. Rejects in the middle when the
   * connection breaks: what came until then is no whole file.
   */
  export(
    jobId: string,
    format: ResultFormat,
    options: ResultOptions = {},
  ): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
    const query = queryOf({ format, ...resultQuery(options) });
    return this.#calls.file(`${pathOf(jobId)}/result${query}`, options);
  }

  /** The pictures of an ended job with their boxes drawn, as a zip in chunks. Rejects as `export` does. */
  drawn(
    jobId: string,
    query: PictureQueries['drawn'] = {},
    options: AskOptions = {},
  ): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
    return this.pictures(jobId, 'drawn', query, options);
  }

  /**
   * Pictures of an ended job, as a zip in chunks: with their boxes drawn, with their boxes covered, or one of each box
   * (`crops`). Rejects as `export` does.
   */
  pictures<Kind extends keyof PictureQueries>(
    jobId: string,
    kind: Kind,
    query: PictureQueries[Kind] = {},
    options: AskOptions = {},
  ): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
    const asked = queryOf({ ...query, ...options.question });
    return this.#calls.file(`${pathOf(jobId)}/${kind}${asked}`, options, PICTURES_MS);
  }

  /** An ended job as one HTML file for people, with some of its pictures, in chunks. Rejects as `export` does. */
  report(jobId: string, options: AskOptions = {}): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
    const asked = queryOf({ ...options.question });
    return this.#calls.file(`${pathOf(jobId)}/report${asked}`, options);
  }

  /** The ended jobs with a tag, whose settings are the same, as one file of this kind. */
  reportOf(tag: string, options: AskOptions = {}): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
    return this.#calls.file(`/v1/report${queryOf({ tag, ...options.question })}`, options);
  }

  /** The images of a job with their boxes, those done so far; a page of those that the filter lets through. */
  images(jobId: string, query: JobImagesQuery = {}, options: AskOptions = {}): Promise<JobImages> {
    const asked = queryOf({ ...query, ...options.question });
    return this.#calls.get(`${pathOf(jobId)}/images${asked}`, options);
  }

  /** The request of the job, and counts of its results so far. */
  summary(jobId: string, options: AskOptions = {}): Promise<JobSummary> {
    return this.#calls.get(`${pathOf(jobId)}/summary${queryOf({ ...options.question })}`, options);
  }

  /**
   * Images and boxes by image, event, folder, hour, day or folder and hour, of the images done so far; `countsCsv` is
   * for jobs of many images.
   */
  counts(
    jobId: string,
    by: CountsBy | JobCountsQuery = 'hour',
    options: AskOptions = {},
  ): Promise<JobCounts> {
    const query = queryOf({ ...groupingOf(by), ...options.question });
    return this.#calls.get(`${pathOf(jobId)}/counts${query}`, options, RESULT_MS);
  }

  /** The same as a CSV file, in chunks; rejects in the middle as `export` does. */
  countsCsv(
    jobId: string,
    by: CountsBy | JobCountsQuery = 'hour',
    options: AskOptions = {},
  ): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
    const query = queryOf({ ...groupingOf(by), format: 'csv', ...options.question });
    return this.#calls.file(`${pathOf(jobId)}/counts${query}`, options);
  }

  /** Counts over the jobs of a watch or with a tag, also of those whose results are removed. */
  countsOf(scope: CountsQuery, options: AskOptions = {}): Promise<Counts> {
    const query = queryOf({ ...scope, ...options.question });
    return this.#calls.get(`/v1/counts${query}`, options, RESULT_MS);
  }

  /** The same as a CSV file, in chunks; rejects in the middle as `export` does. */
  countsOfCsv(
    scope: CountsQuery,
    options: AskOptions = {},
  ): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
    const query = queryOf({ ...scope, format: 'csv', ...options.question });
    return this.#calls.file(`/v1/counts${query}`, options);
  }

  /** Places in which vehicles stood, over the jobs of a watch or with a tag. */
  places(scope: PlacesQuery, options: AskOptions = {}): Promise<Places> {
    const query = queryOf({ ...scope, ...options.question });
    return this.#calls.get(`/v1/places${query}`, options, RESULT_MS);
  }

  /** The stays in them as a CSV file, in chunks; rejects in the middle as `export` does. */
  placesCsv(
    scope: PlacesQuery,
    options: AskOptions = {},
  ): AsyncGenerator<Uint8Array<ArrayBuffer>, void> {
    const query = queryOf({ ...scope, format: 'csv', ...options.question });
    return this.#calls.file(`/v1/places${query}`, options);
  }

  /** Dismissed places, oldest first. */
  async dismissals(options?: CallOptions): Promise<Dismissal[]> {
    return (await this.#calls.get<DismissalList>(DISMISSALS, options)).dismissals;
  }

  /** Leaves boxes over this one out of counts from now on, in images of the same folder or camera. */
  dismissPlace(place: NewDismissal, options?: CallOptions): Promise<Dismissal> {
    return this.#calls.post(DISMISSALS, place, {}, options);
  }

  /** Boxes in the place are counted again. */
  async deleteDismissal(id: number, options?: CallOptions): Promise<void> {
    await this.#calls.blob(`${DISMISSALS}/${id}`, options, 'DELETE');
  }

  /** Differences from the job `other` over the same images: a page of the images with changes, most changes first. */
  changes(
    jobId: string,
    other: string,
    query: JobChangesQuery = {},
    options: AskOptions = {},
  ): Promise<JobChanges> {
    const asked = queryOf({ with: other, ...query, ...options.question });
    return this.#calls.get(`${pathOf(jobId)}/changes${asked}`, options);
  }

  /**
   * How well the job `other` over the same images agrees, with another model say; all images compared, anew each time.
   */
  agreement(jobId: string, other: string, options: AskOptions = {}): Promise<JobAgreement> {
    const query = queryOf({ with: other, ...options.question });
    return this.#calls.get(`${pathOf(jobId)}/agreement${query}`, options);
  }

  /** The deliveries of the job's webhook, with their attempts. */
  webhooks(jobId: string, options?: CallOptions): Promise<WebhookList> {
    return this.#calls.get(`${pathOf(jobId)}/webhook`, options);
  }

  /** Sends the webhook of an ended job again. */
  redeliver(jobId: string, options?: CallOptions): Promise<WebhookList> {
    const path = `${pathOf(jobId)}/webhook/redeliver`;
    return this.#calls.call({ method: 'POST', path, repeatable: false }, options);
  }

  /**
   * Jobs, newest first unless `sort` says else; the next page is asked for when it is needed, with its own deadline.
   */
  async *list(filter: JobFilter = {}, options?: CallOptions): AsyncGenerator<JobStatus, void> {
    for (let cursor: string | null | undefined; cursor !== null;) {
      const page = await this.listPage({ limit: PAGE, ...filter, cursor }, options);
      yield* page.jobs;
      cursor = page.next_cursor;
    }
  }

  /** One page of jobs, newest first; `cursor` is the `next_cursor` of the page before. */
  listPage(query: JobFilter & PageCursor = {}, options?: CallOptions): Promise<JobList> {
    return this.#calls.get(`/v1/jobs${queryOf(query)}`, options);
  }

  /** Changes name, tags, notes or keep of a job at any time; what is left out stays, null makes it empty. */
  edit(jobId: string, labels: JobPatch, options?: CallOptions): Promise<JobStatus> {
    const call = { method: 'PATCH', path: pathOf(jobId), body: labels, repeatable: true } as const;
    return this.#calls.call(call, options);
  }

  /** Removes an ended job with its results and drawn copies for good; `job_not_finished` before its end. */
  remove(jobId: string, options?: CallOptions): Promise<JobStatus> {
    const path = `${pathOf(jobId)}?purge=true`;
    return this.#calls.call({ method: 'DELETE', path, repeatable: false }, options);
  }

  /** Ends the job as `failed` with code `cancelled`; `job_already_finished` when it has ended. */
  cancel(jobId: string, options?: CallOptions): Promise<JobStatus> {
    return this.#calls.call({ method: 'DELETE', path: pathOf(jobId), repeatable: false }, options);
  }

  /**
   * A new job of the images of an ended one that have no boxes, with the same settings; `nothing_to_retry` where all
   * have. With `images: 'all'` and a `modelName` both jobs can be compared by `agreement`.
   */
  retry(
    jobId: string,
    { idempotencyKey = randomKey(), images, modelName, ...options }: RetryOptions = {},
  ): Promise<JobRetried> {
    const headers = { 'idempotency-key': idempotencyKey };
    const query = queryOf({ images, model_name: modelName });
    return this.#calls.post(`${pathOf(jobId)}/retry${query}`, undefined, headers, options);
  }

  /** A page of the folders and pictures that the service can read. */
  folder(query: FolderQuery = {}, options?: CallOptions): Promise<FolderPage> {
    return this.#calls.get(`/v1/images${queryOf(query)}`, options);
  }

  /**
   * A picture of the image folders, or of an upload; with `width` a thumbnail, of the part `crop` (`x1,y1,x2,y2`) where
   * it is given.
   */
  picture(
    path: string,
    width?: number,
    { crop, upload, ...options }: PictureOptions = {},
  ): Promise<Blob> {
    return this.#calls.blob(`/v1/images/file${queryOf({ path, width, crop, upload })}`, options);
  }

  /** Stored views, by name. */
  async views(options?: CallOptions): Promise<View[]> {
    return (await this.#calls.get<ViewList>('/v1/views', options)).views;
  }

  /** The view, or with `version` that version of it. Rejects with `view_not_found` if there is none. */
  view(name: string, version?: number, options?: CallOptions): Promise<View> {
    return this.#calls.get(`${viewPath(name)}${queryOf({ version })}`, options);
  }

  /** Stores a view; images that begin from then on use it. */
  putView(name: string, view: ViewPut, options?: CallOptions): Promise<View> {
    const call = { method: 'PUT', path: viewPath(name), body: view, repeatable: true } as const;
    return this.#calls.call(call, options);
  }

  async deleteView(name: string, options?: CallOptions): Promise<void> {
    await this.#calls.blob(viewPath(name), options, 'DELETE');
  }

  /** Watched folders, by name. */
  async watches(options?: CallOptions): Promise<Watch[]> {
    return (await this.#calls.get<WatchList>('/v1/watches', options)).watches;
  }

  /** The state and the counts of a watch; `watch_not_found` where there is none. */
  watch(name: string, options?: CallOptions): Promise<Watch> {
    return this.#calls.get(watchPath(name), options);
  }

  /** Submits images that come into its folders from now on. `watch` may be JSON text. */
  addWatch(watch: WatchCreate | string, options?: CallOptions): Promise<Watch> {
    const call = { method: 'POST', path: '/v1/watches', body: watch, repeatable: false } as const;
    return this.#calls.call(call, options);
  }

  /** Changes the given fields; `{ paused: true }` pauses it. */
  changeWatch(name: string, changes: WatchPatch, options?: CallOptions): Promise<Watch> {
    const call = {
      method: 'PATCH',
      path: watchPath(name),
      body: changes,
      repeatable: true,
    } as const;
    return this.#calls.call(call, options);
  }

  /** Deletes the watch; its jobs go on. */
  async deleteWatch(name: string, options?: CallOptions): Promise<void> {
    await this.#calls.blob(watchPath(name), options, 'DELETE');
  }

  /** Cameras of a watch with `camera_health`, by name, and what is wrong with them. */
  async cameras(watch: string, options?: CallOptions): Promise<Camera[]> {
    return (await this.#calls.get<CameraList>(`${watchPath(watch)}/cameras`, options)).cameras;
  }

  /** Silences or dismisses an open finding of a camera; resolves with the cameras as they are then. */
  async changeCameraFinding(
    watch: string,
    change: CameraFindingPatch,
    options?: CallOptions,
  ): Promise<Camera[]> {
    const path = `${watchPath(watch)}/cameras`;
    const call = { method: 'PATCH', path, body: change, repeatable: true } as const;
    return (await this.#calls.call<CameraList>(call, options)).cameras;
  }

  async models(options?: CallOptions): Promise<Model[]> {
    return (await this.#calls.get<ModelList>('/v1/models', options)).models;
  }

  /** Takes model files that have changed; resolves with the models when requests get them. */
  async reloadModels(options?: CallOptions): Promise<Model[]> {
    const call = { method: 'POST', path: '/v1/models/reload', repeatable: true } as const;
    return (await this.#calls.call<ModelList>(call, options, RELOAD_MS)).models;
  }

  clusterStatus(options?: CallOptions): Promise<ClusterStatus> {
    return this.#calls.get('/v1/cluster/status', options);
  }

  /** Usage and limits of the key of this client; of all keys where it has the mark admin. */
  usage(options?: CallOptions): Promise<Usage> {
    return this.#calls.get('/v1/usage', options);
  }

  /** The settings in force. */
  settings(options?: CallOptions): Promise<SettingList> {
    return this.#calls.get('/v1/settings', options);
  }

  /** Rejects with the reason while the service cannot detect. */
  async ready(options?: CallOptions): Promise<void> {
    await this.#calls.get('/readyz', options);
  }

  /** The metrics in the text format of Prometheus. */
  async metrics(options?: CallOptions): Promise<string> {
    return (await this.#calls.blob('/metrics', options)).text();
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
   * goes on. The wait goes on while the service is away, because the service keeps its jobs.
   */
  waitFor(jobId: string, options: WaitOptions = {}): Promise<JobStatus> {
    return waitForEnd(this, jobId, options.deadlineMs ?? this.#deadlineMs ?? WAIT_MS, options);
  }
}

const DISMISSALS = '/v1/places/dismissals';

function watchPath(name: string): string {
  return `/v1/watches/${encodeURIComponent(name)}`;
}

function viewPath(name: string): string {
  return `/v1/views/${encodeURIComponent(name)}`;
}

function pathOf(jobId: string): string {
  return `/v1/jobs/${encodeURIComponent(jobId)}`;
}

const groupingOf = (by: CountsBy | JobCountsQuery): JobCountsQuery =>
  typeof by === 'string' ? { by } : by;

const resultQuery = ({ question, static: choice, camera, cameraPattern }: ResultOptions) => ({
  ...question,
  static: choice,
  camera,
  camera_pattern: cameraPattern,
});
