/** Options of calls, beside the fields of their requests. */
import type { Access, CallOptions } from './http-call.js';
import type { JobQuestion, ResultQuery, RetriedImages } from './records.js';

export interface ClientOptions extends Access {
  /** Longest time of a call that says nothing else (30 s; a result 5 minutes, `waitFor` 10). */
  deadlineMs?: number;
}

export interface AskOptions extends CallOptions {
  /**
   * Asked of the boxes that the job keeps, in place of its own question; `needs_new_run` where they cannot answer it.
   */
  question?: JobQuestion | undefined;
}

export interface ResultOptions extends AskOptions {
  /** The boxes of vehicles that stand are left out, or no others are there; with any of them each box says whether. */
  static?: ResultQuery['static'];
  /** Which images are of one camera; with `static`. */
  camera?: ResultQuery['camera'];
  /** With the camera `name`. */
  cameraPattern?: ResultQuery['camera_pattern'];
}

export interface PictureOptions extends CallOptions {
  crop?: string | undefined;
  upload?: string | undefined;
}

export interface SubmitOptions extends CallOptions {
  /** A later submission with the same key and body gives the same job. By default each has its own. */
  idempotencyKey?: string;
}

export interface RetryOptions extends SubmitOptions {
  /** `all`: also those that have boxes. */
  images?: RetriedImages;
  /** A model to use instead of the model of the job. */
  modelName?: string | undefined;
}
