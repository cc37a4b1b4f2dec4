/** Records of the job store for the webhook worker. All times are Unix seconds, fractional. */
import type { CameraNews } from './job.js';

/** A POST that is still to be delivered. Stored in the transaction that ended the job, or that made the news. */
export interface WebhookDelivery {
  /** Stable over all attempts; the receiver's de-duplication key. */
  deliveryId: string;
  jobId: string;
  url: string;
  /** Host and port of `url`: deliveries of one host share a limit. */
  host: string;
  /** Attempts already made since the delivery was last begun; 0 before the first. */
  attempt: number;
  createdAt: number;
  /** The change that it tells; null: the end of its job. */
  news: CameraNews | null;
}

/** The consequence of one attempt. */
export type Verdict =
  | { action: 'succeeded'; status: number }
  | { action: 'retry'; at: number; status: number | null; error: string }
  | { action: 'gave_up'; status: number | null; error: string };

/** One POST, or the reason why there was none. */
export interface WebhookAttempt {
  /** When it was sent. */
  at: number;
  durationMs: number;
  /** HTTP status; null when no answer came. */
  status: number | null;
  /** Null after a success. */
  error: string | null;
}

/** The newest attempts of each delivery that are kept. */
export const MAX_ATTEMPTS_KEPT = 20;

/** A delivery with its result so far. */
export interface WebhookDeliveryState extends WebhookDelivery {
  /** `delivered` and `gave_up` are final. */
  state: 'pending' | 'delivered' | 'gave_up';
  /** Null once final. */
  nextAttemptAt: number | null;
  lastStatus: number | null;
  lastError: string | null;
  /** All attempts since the job ended. */
  attemptsMade: number;
  /** The newest, oldest first; those of before this was stored are missing. */
  attempts: WebhookAttempt[];
}
