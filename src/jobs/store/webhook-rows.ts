/** The webhook queue's rows. */
import type { WebhookDelivery, WebhookDeliveryState, WebhookQueue } from '../webhook-delivery.js';
import type { Blocking } from './blocking.js';
import type { Statements } from './statements.js';

/** The part of the queue that is data; listening stays on the main thread. */
export type WebhookRecords = Omit<WebhookQueue, 'onEnqueued'>;

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

  succeeded(deliveryId: string, httpStatus: number): void {
    this.settle(deliveryId, 'delivered', null, httpStatus, null);
  }

  retryAt(deliveryId: string, at: number, httpStatus: number | null, error: string): void {
    this.settle(deliveryId, 'pending', at, httpStatus, error);
  }

  gaveUp(deliveryId: string, httpStatus: number | null, error: string): void {
    this.settle(deliveryId, 'gave_up', null, httpStatus, error);
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
    nextAttemptAt: number | null,
    httpStatus: number | null,
    error: string | null,
  ): void {
    this.statements.run(
      `UPDATE webhook_deliveries SET state = ?, attempt = attempt + 1, next_attempt_at = ?,
         last_status = ?, last_error = ?
       WHERE delivery_id = ? AND state = 'pending'`,
      state,
      nextAttemptAt,
      httpStatus,
      error,
      deliveryId,
    );
  }
}
