/** Sends one kind of synchronous request. Its own cost is in every figure. */
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { ServiceError, unreachable } from '../../client/service-error.js';
import type { Timings } from '../../api/image.js';
import type { Problem } from '../../api/errors.js';
import { pathFault } from '../../base/path-fault.js';
import { UsageError } from '../terminal.js';

const ANSWER_MS = 60_000;

export interface RequestBody {
  query: string;
  type: string;
  body: Buffer;
}

/** By the path that the service sees. */
export function bodyOfPath(image_path: string, model_name: string | undefined): RequestBody {
  const body = Buffer.from(JSON.stringify({ image_path, model_name }));
  return { query: '', type: 'application/json', body };
}

/** A file of this machine. Rejects with `UsageError` for one that cannot be read. */
export async function bodyOfFile(file: string, model: string | undefined): Promise<RequestBody> {
  const query = model === undefined ? '' : `?model_name=${encodeURIComponent(model)}`;
  const kind = extname(file).slice(1).toLowerCase();
  const type = `image/${kind.replace(/^jpg$/, 'jpeg').replace(/^tif$/, 'tiff')}`;
  try {
    return { query, type, body: await readFile(file) };
  } catch (error) {
    throw new UsageError(pathFault(error, file, 'read'));
  }
}

/** The times of the service for one image. Rejects with `ServiceError` on any answer but boxes. */
export async function sendImage(
  url: string,
  apiKey: string | undefined,
  { query, type, body }: RequestBody,
): Promise<Timings> {
  const key = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  const address = `${url}/v1/inference/detect${query}`;
  const headers = { 'content-type': type, ...key };
  const signal = AbortSignal.timeout(ANSWER_MS);
  try {
    const answer = await fetch(address, {
      method: 'POST',
      headers,
      body,
      signal,
      redirect: 'manual',
    });
    const json = (await answer.json()) as { timings_ms: Timings } | Problem;
    if ('timings_ms' in json) return json.timings_ms;
    throw 'code' in json ? new ServiceError(json) : new SyntaxError('another JSON');
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    if (!(error instanceof SyntaxError)) throw unreachable(url, error);
    const detail = `${url} gives an answer that is not one of the service. Check the address.`;
    throw ServiceError.ofClient('unexpected_answer', detail);
  }
}
