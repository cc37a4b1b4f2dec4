/** The webhook queue's rows. */
import type {
  AttemptPlan,
  WebhookDelivery,
  WebhookDeliveryState,
  WebhookQueue,
} from '../webhook-delivery.js';
import type { Blocking } from './blocking.js';
import type { Statements } from './statements.js';

/** The part of the queue that is data; listening stays on the main thread. */
export type WebhookRecords = Omit<WebhookQueue, 'onEnqueued'>;

const NEVER = { plannedAt: null, at: null };
const DELIVERY = `delivery_id AS deliveryId, job_id AS jobId, url, attempt, created_at AS createdAt`;

export class WebhookRows implements Blocking<WebhookRecords> {
  private readonly statements: Statements;

  constructor(statements: Statements) {
    this.statements = statements;
  }

  due(now: number, limit: number): WebhookDelivery[] {
    return this.statements.all(
      `SELECT ${DELIVERY} FROM webhook_deliveries WHERE state = 'pending' AND next_attempt_at <= ?
       ORDER BY next_attempt_at, sequence LIMIT ?`,
      now,
      limit,
    ) as WebhookDelivery[];
  }

  nextDueAt(): number | null {
    const { at } = this.statements.get(
      "SELECT min(next_attempt_at) AS at FROM webhook_deliveries WHERE state = 'pending'",
    ) as { at: number | null };
    return at;
  }

  waitingCount(): number {
    const { waiting } = this.statements.get(
      "SELECT count(*) AS waiting FROM webhook_deliveries WHERE state = 'pending'",
    ) as { waiting: number };
    return waiting;
  }

  succeeded(deliveryId: string, httpStatus: number): void {
    this.settle(deliveryId, 'delivered', NEVER, httpStatus, null);
  }

  retry(deliveryId: string, plan: AttemptPlan, httpStatus: number | null, error: string): void {
    this.settle(deliveryId, 'pending', plan, httpStatus, error);
  }

  gaveUp(deliveryId: string, httpStatus: number | null, error: string): void {
    this.settle(deliveryId, 'gave_up', NEVER, httpStatus, error);
  }

  /** All times of the old clock go back with it; where nobody knows how far, the wait begins anew. */
  replan(now: number, setBackS: number): void {
    this.statements.run(
      `UPDATE webhook_deliveries SET planned_at = min(?1, planned_at - ?2),
         next_attempt_at = next_attempt_at - planned_at + min(?1, planned_at - ?2)
       WHERE state = 'pending' AND planned_at > ?1`,
      now,
      setBackS,
    );
  }

  forJob(jobId: string): WebhookDeliveryState[] {
    return this.statements.all(
      `SELECT ${DELIVERY}, state, next_attempt_at AS nextAttemptAt, last_status AS lastStatus,
         last_error AS lastError
       FROM webhook_deliveries WHERE job = (SELECT number FROM jobs WHERE job_id = ?) ORDER BY sequence`,
      jobId,
    ) as WebhookDeliveryState[];
  }

  private settle(
    deliveryId: string,
    state: WebhookDeliveryState['state'],
    { plannedAt, at }: AttemptPlan | typeof NEVER,
    httpStatus: number | null,
    error: string | null,
  ): void {
    this.statements.run(
      `UPDATE webhook_deliveries SET state = ?, attempt = attempt + 1, planned_at = ?,
         next_attempt_at = ?, last_status = ?, last_error = ?
       WHERE delivery_id = ? AND state = 'pending'`,
      state,
      plannedAt,
      at,
      httpStatus,
      error,
      deliveryId,
    );
  }
}
