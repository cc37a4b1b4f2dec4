/** What the job store keeps for the webhook worker. All times are Unix seconds, fractional. */

/** A POST that is still to be delivered. Stored in the transaction that ended the job. */
export interface WebhookDelivery {
  /** Stable over all attempts; the receiver's de-duplication key. */
  deliveryId: string;
  jobId: string;
  url: string;
  /** Host and port of `url`: deliveries of one host share a limit. */
  host: string;
  /** Attempts already made; 0 before the first. */
  attempt: number;
  createdAt: number;
}

/** An attempt at `at`, as it was decided at `plannedAt`. */
export interface AttemptPlan {
  plannedAt: number;
  at: number;
}

/** `delivered` and `gave_up` are final. */
export type WebhookState = 'pending' | 'delivered' | 'gave_up';

/** A delivery with what came of it so far. */
export interface WebhookDeliveryState extends WebhookDelivery {
  state: WebhookState;
  /** Null once final. */
  nextAttemptAt: number | null;
  lastStatus: number | null;
  lastError: string | null;
}
