/** What the job store keeps for the webhook worker. All times are Unix seconds, fractional. */

/** A POST that is owed. Stored in the transaction that ended the job. */
export interface WebhookDelivery {
  /** Stable over all attempts; the receiver's de-duplication key. */
  deliveryId: string;
  jobId: string;
  url: string;
  /** Attempts already made; 0 before the first. */
  attempt: number;
  createdAt: number;
}

/** An attempt at `at`, as it was decided at `plannedAt`. */
export interface AttemptPlan {
  plannedAt: number;
  at: number;
}

/** `pending` is still owed; the other two are final. */
export type WebhookState = 'pending' | 'delivered' | 'gave_up';

/** A delivery with what came of it so far. */
export interface WebhookDeliveryState extends WebhookDelivery {
  state: WebhookState;
  /** Null once final. */
  nextAttemptAt: number | null;
  lastStatus: number | null;
  lastError: string | null;
}

/**
 * The durable queue of webhook deliveries, for one worker: `due` does not lease, so the worker itself remembers
 * what it has in hand. Every method rejects with a `LatticeError` (`storage_unavailable`) only. The three outcome
 * methods count one attempt, and do nothing on a delivery that is already final or gone.
 */
export interface WebhookQueue {
  /** Pending deliveries whose time has come by `now`, earliest first. */
  due(now: number, limit: number): Promise<WebhookDelivery[]>;
  /** When the earliest pending delivery falls due (may lie in the past); null when none is pending. */
  nextDueAt(): Promise<number | null>;
  /** Pending deliveries, due or not. */
  waitingCount(): Promise<number>;
  succeeded(deliveryId: string, httpStatus: number): Promise<void>;
  retry(
    deliveryId: string,
    plan: AttemptPlan,
    httpStatus: number | null,
    error: string,
  ): Promise<void>;
  gaveUp(deliveryId: string, httpStatus: number | null, error: string): Promise<void>;
  /**
   * The clock was set back by `setBackS`, 0 when nobody knows how far. Attempts planned later than `now` keep the
   * wait they were planned with instead of waiting until the clock has caught up.
   */
  replan(now: number, setBackS: number): Promise<void>;
  /** Deliveries of one job, final ones too, oldest first; empty for a job without a callback. */
  forJob(jobId: string): Promise<WebhookDeliveryState[]>;
  /** Called after the commit that made a delivery; returns the way to stop listening. */
  onEnqueued(listener: () => void): () => void;
}
