/**
 * The durable queue of webhook deliveries, for one worker: reading does not lease, so the worker itself remembers the
 * deliveries that it is sending.
 */
import {
  MAX_ATTEMPTS_KEPT,
  type Verdict,
  type WebhookAttempt,
  type WebhookDelivery,
  type WebhookDeliveryState,
} from './webhook-delivery.js';
import type { CommitNotes } from './group-commit.js';
import type { CameraNews } from './job.js';
import type { Statements } from './statements.js';

const STATE_AFTER = { succeeded: 'delivered', retry: 'pending', gave_up: 'gave_up' } as const;
const DELIVERY = `delivery_id AS deliveryId, job_id AS jobId, url, host, attempt - attempts_before AS attempt,
  created_at AS createdAt, news`;

/** `news` is JSON. */
type StoredDelivery = Omit<WebhookDelivery, 'news'> & { news: string | null };

const toDelivery = <T extends StoredDelivery>({ news, ...delivery }: T) => ({
  ...delivery,
  news: news === null ? null : (JSON.parse(news) as CameraNews),
});

export class WebhookReads {
  readonly #statements: Statements;

  constructor(statements: Statements) {
    this.#statements = statements;
  }

  /**
   * Pending deliveries whose time has come by `now`, earliest first: at most `limit`, at most `perHost` of each host,
   * none of the hosts in `without`. Reads a few rows per host with pending deliveries, however many deliveries wait.
   */
  due(
    now: number,
    { limit, perHost, without }: { limit: number; perHost: number; without: readonly string[] },
  ): WebhookDelivery[] {
    const due: { at: number; delivery: WebhookDelivery }[] = [];
    for (const host of this.#pendingHosts()) {
      if (without.includes(host)) continue;
      const rows = this.#statements.all(
        `SELECT ${DELIVERY}, next_attempt_at AS at FROM webhook_deliveries
         WHERE state = 'pending' AND host = ? AND next_attempt_at <= ?
         ORDER BY next_attempt_at, sequence LIMIT ?`,
        host,
        now,
        perHost,
      ) as (StoredDelivery & { at: number })[];
      due.push(...rows.map(({ at, ...delivery }) => ({ at, delivery: toDelivery(delivery) })));
    }
    due.sort((a, b) => a.at - b.at);
    return due.slice(0, limit).map(({ delivery }) => delivery);
  }

  /** When the earliest pending delivery falls due (may be in the past); null when none is pending. */
  nextDueAt(): number | null {
    const { at } = this.#statements.get(
      "SELECT min(next_attempt_at) AS at FROM webhook_deliveries WHERE state = 'pending'",
    ) as { at: number | null };
    return at;
  }

  /** Pending deliveries, due or not. */
  waitingCount(): number {
    const { waiting } = this.#statements.get(
      "SELECT count(*) AS waiting FROM webhook_deliveries WHERE state = 'pending'",
    ) as { waiting: number };
    return waiting;
  }

  /** Deliveries of one job, final ones too, oldest first; empty for a job without a callback. */
  forJob(jobId: string): WebhookDeliveryState[] {
    const rows = this.#statements.all(
      `SELECT ${DELIVERY}, state, next_attempt_at AS nextAttemptAt, last_status AS lastStatus,
         last_error AS lastError, attempt AS attemptsMade, sequence
       FROM webhook_deliveries WHERE job = (SELECT number FROM jobs WHERE job_id = ?) ORDER BY sequence`,
      jobId,
    ) as (StoredDelivery &
      Omit<WebhookDeliveryState, 'news' | 'attempts'> & { sequence: number })[];
    return rows.map(({ sequence, ...state }) => ({
      ...toDelivery(state),
      attempts: this.#attempts(sequence),
    }));
  }

  #attempts(sequence: number): WebhookAttempt[] {
    return this.#statements.all(
      `SELECT at, duration_ms AS durationMs, status, error FROM webhook_attempts
       WHERE delivery = ? ORDER BY number`,
      sequence,
    ) as WebhookAttempt[];
  }

  /** The hosts with pending deliveries. It takes one step in the index per host, not one per delivery. */
  #pendingHosts(): string[] {
    const rows = this.#statements.all(
      `WITH RECURSIVE hosts (host) AS (
         SELECT min(host) FROM webhook_deliveries WHERE state = 'pending'
         UNION ALL
         SELECT (SELECT min(host) FROM webhook_deliveries WHERE state = 'pending' AND host > hosts.host)
         FROM hosts WHERE host IS NOT NULL
       ) SELECT host FROM hosts WHERE host IS NOT NULL`,
    ) as { host: string }[];
    return rows.map(({ host }) => host);
  }
}

export class WebhookWrites {
  readonly #statements: Statements;
  readonly #notes: CommitNotes;

  constructor(statements: Statements, notes: CommitNotes) {
    this.#statements = statements;
    this.#notes = notes;
  }

  /**
   * Counts one attempt and does what its verdict says; nothing on a delivery that is already final or gone. Where the
   * delivery was begun again during the attempt, it stays due.
   */
  settle(
    { deliveryId, attempt }: Pick<WebhookDelivery, 'deliveryId' | 'attempt'>,
    verdict: Verdict,
    sent: Pick<WebhookAttempt, 'at' | 'durationMs'>,
  ): void {
    const row = this.#statements.get(
      `SELECT sequence, attempt - attempts_before AS attempt, attempt + 1 AS number FROM webhook_deliveries
       WHERE delivery_id = ? AND state = 'pending'`,
      deliveryId,
    ) as { sequence: number; attempt: number; number: number } | undefined;
    if (row === undefined) return;
    const { sequence, number } = row;
    const error = verdict.action === 'succeeded' ? null : verdict.error;
    this.#statements.run(
      'UPDATE webhook_deliveries SET attempt = ?, last_status = ?, last_error = ? WHERE sequence = ?',
      number,
      verdict.status,
      error,
      sequence,
    );
    this.#log(sequence, number, { ...sent, status: verdict.status, error });
    if (row.attempt === attempt) this.#judge(sequence, verdict);
  }

  /** Makes the deliveries of a job due now, final ones too, with all their attempts ahead. Gives their number. */
  redeliver(jobId: string, now: number): number {
    const begun = this.#statements.run(
      `UPDATE webhook_deliveries SET state = 'pending', attempts_before = attempt, next_attempt_at = ?1
       WHERE job = (SELECT number FROM jobs WHERE job_id = ?2)`,
      now,
      jobId,
    );
    this.#notes.webhooksAdded += begun;
    return begun;
  }

  #judge(sequence: number, verdict: Verdict): void {
    this.#statements.run(
      'UPDATE webhook_deliveries SET state = ?, next_attempt_at = ? WHERE sequence = ?',
      STATE_AFTER[verdict.action],
      verdict.action === 'retry' ? verdict.at : null,
      sequence,
    );
  }

  #log(sequence: number, number: number, { at, durationMs, status, error }: WebhookAttempt): void {
    this.#statements.run(
      `INSERT INTO webhook_attempts (delivery, number, at, duration_ms, status, error)
       VALUES (?, ?, ?, ?, ?, ?)`,
      sequence,
      number,
      at,
      durationMs,
      status,
      error,
    );
    this.#statements.run(
      'DELETE FROM webhook_attempts WHERE delivery = ? AND number <= ?',
      sequence,
      number - MAX_ATTEMPTS_KEPT,
    );
  }
}
