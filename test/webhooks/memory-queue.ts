/** The queue's rules without a disk, for tests of the worker. */
import { randomUUID } from 'node:crypto';
import type { WebhookQueue } from '../../src/store/service-store.js';
import type {
  Verdict,
  WebhookAttempt,
  WebhookDelivery,
  WebhookDeliveryState,
} from '../../src/store/webhook-delivery.js';

export class MemoryQueue implements WebhookQueue {
  readonly rows = new Map<string, WebhookDeliveryState>();
  /** Outcome calls that are still to be refused, as a full disk would. */
  refusals = 0;
  /** Deliveries that `due` has handed out, repeats counted. */
  read = 0;
  private readonly listeners = new Set<() => void>();

  add(url: string, jobId = randomUUID()): string {
    const createdAt = Date.now() / 1000;
    const deliveryId = `msg_${randomUUID()}`;
    this.rows.set(deliveryId, {
      deliveryId,
      jobId,
      url,
      host: new URL(url).host,
      attempt: 0,
      createdAt,
      news: null,
      state: 'pending',
      nextAttemptAt: createdAt,
      lastStatus: null,
      lastError: null,
      attemptsMade: 0,
      attempts: [],
    });
    for (const listener of this.listeners) listener();
    return deliveryId;
  }

  get(deliveryId: string): WebhookDeliveryState {
    const row = this.rows.get(deliveryId);
    if (row === undefined) throw new Error(`no delivery ${deliveryId}`);
    return row;
  }

  async due(
    now: number,
    { limit, perHost, without }: Parameters<WebhookQueue['due']>[1],
  ): Promise<WebhookDelivery[]> {
    await Promise.resolve();
    const taken = new Map<string, number>();
    const due = [...this.rows.values()]
      .filter((row) => row.nextAttemptAt !== null && row.nextAttemptAt <= now)
      .sort((a, b) => (a.nextAttemptAt ?? 0) - (b.nextAttemptAt ?? 0))
      .filter(({ host }) => {
        taken.set(host, (taken.get(host) ?? 0) + 1);
        return !without.includes(host) && (taken.get(host) ?? 0) <= perHost;
      })
      .slice(0, limit);
    this.read += due.length;
    return due.map(({ deliveryId, jobId, url, host, attempt, createdAt, news }) => ({
      deliveryId,
      jobId,
      url,
      host,
      attempt,
      createdAt,
      news,
    }));
  }

  async waitingCount(): Promise<number> {
    await Promise.resolve();
    return [...this.rows.values()].filter(({ state }) => state === 'pending').length;
  }

  async nextDueAt(): Promise<number | null> {
    await Promise.resolve();
    const times = [...this.rows.values()].flatMap((row) => row.nextAttemptAt ?? []);
    return times.length === 0 ? null : Math.min(...times);
  }

  async settle(
    { deliveryId }: Pick<WebhookDelivery, 'deliveryId'>,
    verdict: Verdict,
    sent: Pick<WebhookAttempt, 'at' | 'durationMs'>,
  ): Promise<void> {
    await Promise.resolve();
    if (this.refusals > 0) {
      this.refusals -= 1;
      throw new Error('disk full');
    }
    const row = this.get(deliveryId);
    if (row.state !== 'pending') return;
    row.attempt += 1;
    row.attemptsMade += 1;
    row.lastStatus = verdict.status;
    row.lastError = verdict.action === 'succeeded' ? null : verdict.error;
    row.attempts.push({ ...sent, status: row.lastStatus, error: row.lastError });
    row.nextAttemptAt = verdict.action === 'retry' ? verdict.at : null;
    if (verdict.action !== 'retry')
      row.state = verdict.action === 'succeeded' ? 'delivered' : 'gave_up';
  }

  async forJob(jobId: string): Promise<WebhookDeliveryState[]> {
    await Promise.resolve();
    return [...this.rows.values()].filter((row) => row.jobId === jobId);
  }

  redeliver(): Promise<number> {
    return Promise.reject(new Error('Tests of the worker add deliveries.'));
  }

  onEnqueued(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}
