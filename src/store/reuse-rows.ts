/** Stored results by what they are the result of. */
import type { ImageOutcome } from './job.js';
import { MAX_IMAGES, type ReuseKeys, type StoredResult } from './job-records.js';
import type { TimeSource } from '../files/wall-time.js';
import type { Statements } from './statements.js';

interface Row {
  jobId: string;
  index: number;
  outcome: string;
  taken: string | null;
  takenFrom: TimeSource | null;
  found: Uint8Array;
}

export class ReuseReads {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  /** For each entry the newest result of a job of this owner that is stored under one of its keys; else null. */
  reusable(keyId: string | null, wanted: readonly ReuseKeys[]): (StoredResult | null)[] {
    return wanted.map(({ unchanged, content }) => {
      const row =
        this.#find('reuse_key', unchanged, keyId) ?? this.#find('content_key', content, keyId);
      return row && toResult(row);
    });
  }

  /** A job that was removed has no row, although its images may have theirs for a while. */
  #find(column: 'reuse_key' | 'content_key', key: string | null, keyId: string | null): Row | null {
    if (key === null) return null;
    const row = this.#statements.get(
      `SELECT job_id AS jobId, task % ${MAX_IMAGES} AS "index", outcome, taken, taken_from AS takenFrom, found
       FROM image_facts CROSS JOIN job_images USING (task) CROSS JOIN image_boxes USING (task) CROSS JOIN jobs ON number = task / ${MAX_IMAGES}
       WHERE ${column} = ? AND key_id IS ? AND NOT failed ORDER BY task DESC LIMIT 1`,
      key,
      keyId,
    ) as Row | undefined;
    return row ?? null;
  }
}

/**
 * The stored result of an image. It names the image that ran and not one that took its result over, and no drawn copy,
 * which belongs to its job.
 */
function toResult({ jobId, index, outcome, taken, takenFrom, found }: Row): StoredResult {
  const image = JSON.parse(outcome) as Extract<ImageOutcome, { status: 'ok' }>;
  const reusedFrom = image.reusedFrom ?? { jobId, index };
  return {
    outcome: JSON.stringify({ ...image, annotatedPath: undefined, reusedFrom }),
    workerId: image.workerId ?? '',
    taken: taken === null || takenFrom === null ? null : { time: taken, source: takenFrom },
    found,
  };
}
