/**
 * Photos of one's own for a job: room for them, a request per file, and no file that is not taken stops another one.
 */
import { pause } from './deadline.js';
import type { CallOptions, HttpCaller } from './http-call.js';
import type { NewUpload, Upload, UploadedFile, UploadList, UploadPlan } from './records.js';
import { ServiceError } from './service-error.js';

const AT_A_TIME = 3;
/** Uploads asked for at a time. */
const PAGE = 100;
/** Deadline for one photo, for a slow line. */
const FILE_MS = 600_000;
/** Pauses before each further attempt to send a file whose connection broke. */
const PAUSES_MS = [1_000, 3_000, 9_000];
/** The fault of one file. */
const OF_FILE = new Set(['unsupported_image_format', 'image_too_large', 'validation_failed']);

/** A picture to send. */
export interface PhotoFile {
  /** The path of the photo in results, such as `holiday/IMG_0001.jpg`. */
  name: string;
  /** A function is called when it is the file's turn. */
  data: Blob | (() => Promise<Blob>);
  bytes: number;
  /** Unix seconds. */
  modifiedAt?: number | undefined;
}

export interface LeftOutPhoto {
  name: string;
  detail: string;
}

export interface SendProgress {
  /** The file that was the last one. */
  name: string;
  /** Files that have been sent or left out, and how many there are. */
  files: number;
  ofFiles: number;
  bytes: number;
  ofBytes: number;
  /** The photos that the service has refused so far. */
  leftOut: readonly LeftOutPhoto[];
}

export interface SendOptions extends CallOptions {
  /** Called after each file. */
  onProgress?: ((progress: SendProgress) => void) | undefined;
}

export class UploadCalls {
  readonly #http: HttpCaller;
  readonly #deadlineMs: number;

  constructor(http: HttpCaller, deadlineMs: number) {
    this.#http = http;
    this.#deadlineMs = deadlineMs;
  }

  /** Room for photos; the answer says which files of the plan are left out. */
  async create(plan: UploadPlan = {}, options: CallOptions = {}): Promise<NewUpload> {
    const { deadlineMs = this.#deadlineMs, signal } = options;
    const call = { method: 'POST', path: '/v1/uploads', body: plan, repeatable: true } as const;
    return (await this.#http.json(call, deadlineMs, signal)) as NewUpload;
  }

  async get(uploadId: string, options: CallOptions = {}): Promise<Upload> {
    const { deadlineMs = this.#deadlineMs, signal } = options;
    const call = { method: 'GET', path: pathOf(uploadId), repeatable: true } as const;
    return (await this.#http.json(call, deadlineMs, signal)) as Upload;
  }

  /**
   * Lists the uploads of the API key, newest first. It fetches the next page when it is needed, with a deadline of its
   * own.
   */
  async *list(options: CallOptions = {}): AsyncGenerator<Upload, void> {
    const { deadlineMs = this.#deadlineMs, signal } = options;
    for (let cursor: string | null = ''; cursor !== null;) {
      const after = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const path = `/v1/uploads?limit=${PAGE}${after}`;
      const call = { method: 'GET', path, repeatable: true } as const;
      const page = (await this.#http.json(call, deadlineMs, signal)) as UploadList;
      yield* page.uploads;
      cursor = page.next_cursor;
    }
  }

  /** Sends files, three at a time. Resolves with those that the service refused. */
  send(
    uploadId: string,
    files: readonly PhotoFile[],
    { onProgress = () => undefined, signal, deadlineMs = FILE_MS }: SendOptions = {},
  ): Promise<LeftOutPhoto[]> {
    const put = (file: PhotoFile, body: Blob) => {
      const name = file.name.split('/').map(encodeURIComponent).join('/');
      const time = file.modifiedAt === undefined ? '' : `?modified_at=${file.modifiedAt}`;
      const path = `${pathOf(uploadId)}/${name}${time}`;
      const call = { method: 'PUT', path, body, repeatable: true } as const;
      return this.#http.json(call, deadlineMs, signal) as Promise<UploadedFile>;
    };
    return sendFiles(files, put, signal, onProgress);
  }

  /** Removes an upload that no job has; `upload_in_use` else. */
  async remove(uploadId: string, options: CallOptions = {}): Promise<void> {
    const { deadlineMs = this.#deadlineMs, signal } = options;
    const call = { method: 'DELETE', path: pathOf(uploadId), repeatable: false } as const;
    await this.#http.blob(call, deadlineMs, signal);
  }

  /** `submit` with an upload of the files; what was sent is removed where that fails. */
  async withFiles<T>(
    files: readonly (File | PhotoFile)[],
    options: SendOptions,
    submit: (uploadId: string) => Promise<T>,
  ): Promise<T> {
    const photos = files.map((file) => (file instanceof File ? photoOf(file) : file));
    const upload = await this.create(planOf(photos), options);
    try {
      await this.send(upload.upload_id, wanted(photos, upload), options);
      return await submit(upload.upload_id);
    } catch (error) {
      await this.remove(upload.upload_id).catch(() => undefined);
      throw error;
    }
  }
}

function pathOf(uploadId: string): string {
  return `/v1/uploads/${encodeURIComponent(uploadId)}`;
}

/** The photo with its path in the folder, if a browser knows it. */
export function photoOf(file: File): PhotoFile {
  const path: unknown = Reflect.get(file, 'webkitRelativePath');
  const name = typeof path === 'string' && path !== '' ? path : file.name;
  return { name, data: file, bytes: file.size, modifiedAt: file.lastModified / 1_000 };
}

export function planOf(files: readonly PhotoFile[]): UploadPlan {
  return { files: files.map(({ name, bytes }) => ({ name, bytes })) };
}

/** The files that the service takes, by their names and sizes. */
export function wanted(files: readonly PhotoFile[], upload: NewUpload): PhotoFile[] {
  const leftOut = new Set(upload.left_out.map(({ name }) => name));
  return files.filter(({ name }) => !leftOut.has(name));
}

/**
 * `put` sends one file. Resolves with the files that were refused; rejects with the first error that is not that of one
 * file, or with the reason of the signal.
 */
async function sendFiles(
  files: readonly PhotoFile[],
  put: (file: PhotoFile, data: Blob) => Promise<UploadedFile>,
  signal: AbortSignal | undefined,
  onProgress: (progress: SendProgress) => void,
): Promise<LeftOutPhoto[]> {
  const leftOut: LeftOutPhoto[] = [];
  const ofBytes = files.reduce((sum, { bytes }) => sum + bytes, 0);
  let done = 0;
  let bytes = 0;
  const waiting = [...files];
  const failed = new AbortController();
  const work = async (): Promise<void> => {
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      signal?.throwIfAborted();
      failed.signal.throwIfAborted();
      const refusal = await sendOne(file, put, signal);
      if (refusal !== null) leftOut.push({ name: file.name, detail: refusal });
      done += 1;
      bytes += file.bytes;
      onProgress({ name: file.name, files: done, ofFiles: files.length, bytes, ofBytes, leftOut });
    }
  };
  const workers = Array.from({ length: AT_A_TIME }, () =>
    work().catch((error: unknown) => {
      failed.abort(error);
    }),
  );
  await Promise.all(workers);
  failed.signal.throwIfAborted();
  return leftOut;
}

/** Why the file was refused; null where it was sent. */
async function sendOne(
  file: PhotoFile,
  put: (file: PhotoFile, data: Blob) => Promise<UploadedFile>,
  signal: AbortSignal | undefined,
): Promise<string | null> {
  const data = await readable(file);
  if (data === null) return `'${file.name}' cannot be read.`;
  for (let attempt = 0; ; attempt += 1) {
    try {
      await put(file, data);
      return null;
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      if (OF_FILE.has(error.code)) return error.detail;
      const pauseMs = PAUSES_MS[attempt];
      if (!isPassing(error) || pauseMs === undefined) throw error;
      await pause(pauseMs, signal);
      signal?.throwIfAborted();
    }
  }
}

async function readable({ data }: PhotoFile): Promise<Blob | null> {
  if (data instanceof Blob) return data;
  return data().catch(() => null);
}

/** A connection that broke, or a service that restarts. */
function isPassing({ code, status }: ServiceError): boolean {
  return code === 'unreachable' || status === 408 || status === 503;
}
