/** Sends the pending deliveries of the queue until each is delivered or given up. All state is in the durable queue. */
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from '../base/logger-port.js';
import { BackOff } from '../base/back-off.js';
import { toMicros } from '../base/rounded.js';
import type { Config } from '../settings/config.js';
import type { WebhookQueue } from '../store/service-store.js';
import type { Verdict, WebhookAttempt, WebhookDelivery } from '../store/webhook-delivery.js';
import { DEFAULT_SCHEDULE, judge } from './delivery-verdict.js';
import { InHand, MAX_IN_FLIGHT, MAX_IN_FLIGHT_PER_HOST } from './in-hand.js';
import { createResolver, postWebhook, type Resolve } from './post-webhook.js';
import { createTargetPolicy, type TargetPolicy } from './target-policy.js';
import { composeMessage, createSigner, type ToldEvent, type Signer } from './webhook-message.js';

export interface WebhookOptions {
  queue: WebhookQueue;
  /** Null when the job is no longer kept. */
  body: (delivery: WebhookDelivery) => Promise<ToldEvent | null>;
  config: Pick<Config, 'env' | 'webhookSecret' | 'webhookAllow'>;
  logger: Pick<Logger, 'debug' | 'info' | 'warn'>;
  /** Seconds before each attempt; its length is the number of attempts. */
  schedule?: readonly number[];
  /** Limit for one attempt as a whole. */
  timeoutMs?: number;
  resolve?: Resolve;
  /** Called once for each attempt that ended. */
  onAttempt?: (outcome: Verdict['action']) => void;
}

/** An attempt that has ended. */
interface Made {
  verdict: Verdict;
  sent: Pick<WebhookAttempt, 'at' | 'durationMs'>;
}

const TIMEOUT_MS = 15_000;
/** The queue is asked again at least this often, as the clock may be set ahead. */
const MAX_WAIT_MS = 30_000;
/** While deliveries in hand hide later ones from `nextDueAt`. */
const BUSY_WAIT_MS = 1_000;
/** Pause before a message that could not be composed is composed again. */
const COMPOSE_WAIT_MS = 5_000;
/** Pause while the queue cannot be read or written. */
const storeWaits = () => new BackOff(1_000, 10_000);
/** Deliveries in hand are among those that are due: enough for all free places beside them. */
const PAGE = 2 * MAX_IN_FLIGHT;

export class WebhookWorker {
  private readonly options: WebhookOptions;
  private readonly policy: TargetPolicy;
  private readonly sign: Signer;
  private readonly resolve: Resolve;
  private readonly schedule: readonly number[];
  private readonly inHand = new InHand();
  private readonly attempts = new Set<Promise<unknown>>();
  private readonly readWaits = storeWaits();
  private readonly stopListening: () => void;
  /** Aborted at `stop`: nothing new starts. */
  private readonly draining = new AbortController();
  /** Aborted at the end of the drain: what is still open is cut. */
  private readonly cut = new AbortController();
  private timer: NodeJS.Timeout | undefined;
  private pumping: Promise<void> | null = null;
  private pumpAgain = false;

  /** Throws `ConfigError` when the secret or the allow list cannot be used. */
  constructor(options: WebhookOptions) {
    this.options = options;
    this.policy = createTargetPolicy(options.config);
    this.sign = createSigner(options.config.webhookSecret);
    this.resolve = options.resolve ?? createResolver();
    this.schedule = options.schedule ?? DEFAULT_SCHEDULE;
    // There is one listener per running delivery, so more than the ten that Node takes for a leak.
    setMaxListeners(0, this.cut.signal);
    this.stopListening = options.queue.onEnqueued(() => {
      this.wake();
    });
    this.wake();
  }

  /**
   * Starts nothing new, waits up to `deadlineMs` for attempts in progress and cuts the rest, which stay pending.
   * Idempotent; never rejects.
   */
  async stop(deadlineMs: number): Promise<void> {
    this.draining.abort();
    this.stopListening();
    clearTimeout(this.timer);
    await this.pumping;
    const done = Promise.all(this.attempts);
    await Promise.race([done, sleep(deadlineMs, undefined, { ref: false })]);
    this.cut.abort();
    await done;
  }

  /** Looks into the queue soon; many calls make one look. */
  private wake(): void {
    if (this.draining.signal.aborted) return;
    if (this.pumping !== null) {
      this.pumpAgain = true;
      return;
    }
    clearTimeout(this.timer);
    this.pumping = this.pump()
      .catch((error: unknown) => {
        this.options.logger.warn({ err: error }, 'webhook queue cannot be read');
        return this.readWaits.next();
      })
      .then((waitMs) => {
        this.pumping = null;
        const again = this.pumpAgain;
        this.pumpAgain = false;
        if (again) this.wake();
        else this.wakeIn(waitMs);
      });
  }

  private wakeIn(waitMs: number | null): void {
    if (waitMs === null || this.draining.signal.aborted) return;
    this.timer = setTimeout(() => {
      this.wake();
    }, waitMs);
  }

  /**
   * Starts due deliveries while there are free places; returns the milliseconds to wait, or null to wait for a new
   * delivery.
   */
  private async pump(): Promise<number | null> {
    const { queue } = this.options;
    if (!this.inHand.full) {
      this.inHand.beginPage();
      const page = await queue.due(Date.now() / 1000, {
        limit: PAGE,
        perHost: MAX_IN_FLIGHT_PER_HOST,
        without: this.inHand.fullHosts,
      });
      if (this.draining.signal.aborted) return null;
      for (const delivery of page) {
        if (!this.inHand.take(delivery)) continue;
        const attempt = this.deliver(delivery).finally(() => this.attempts.delete(attempt));
        this.attempts.add(attempt);
      }
    }
    const nextDueAt = await queue.nextDueAt();
    this.readWaits.reset();
    if (nextDueAt === null) return null;
    const untilDue = nextDueAt * 1000 - Date.now();
    return Math.min(Math.max(untilDue, this.inHand.size > 0 ? BUSY_WAIT_MS : 0), MAX_WAIT_MS);
  }

  /** Makes one attempt, from the body to the stored outcome. Never rejects. */
  private async deliver(delivery: WebhookDelivery): Promise<void> {
    try {
      const made = await this.attempt(delivery);
      if (made !== null) await this.store(delivery, made);
    } catch (error) {
      // A failure of this service (the result cannot be read), not of the receiver: no attempt is counted.
      this.options.logger.warn(
        { err: error, job_id: delivery.jobId },
        'webhook cannot be composed',
      );
      await this.pause(COMPOSE_WAIT_MS);
    }
    this.inHand.giveBack(delivery);
    this.wake();
  }

  private async attempt(delivery: WebhookDelivery): Promise<Made | null> {
    const record = await this.options.body(delivery);
    const at = Date.now() / 1000;
    if (record === null) {
      const error = 'The result is no longer kept';
      return { verdict: { action: 'gave_up', status: null, error }, sent: { at, durationMs: 0 } };
    }
    const begun = performance.now();
    const outcome = await postWebhook(
      delivery.url,
      composeMessage(delivery, record, new Date(), this.sign),
      {
        policy: this.policy,
        resolve: this.resolve,
        timeoutMs: this.options.timeoutMs ?? TIMEOUT_MS,
        stop: this.cut.signal,
      },
    );
    if (outcome === null) return null;
    const sent = { at, durationMs: toMicros(performance.now() - begun) };
    const now = Date.now() / 1000;
    return { verdict: judge(outcome, delivery.attempt, this.schedule, now, Math.random()), sent };
  }

  /** Keeps trying while the store cannot be written: the POST was made and must not be repeated for that. */
  private async store(delivery: WebhookDelivery, { verdict, sent }: Made): Promise<void> {
    this.report(delivery, verdict);
    const waits = storeWaits();
    while (!this.cut.signal.aborted) {
      try {
        await this.options.queue.settle(delivery, verdict, sent);
        return;
      } catch (error) {
        this.options.logger.warn(
          { err: error, job_id: delivery.jobId },
          'webhook outcome not stored',
        );
        await this.pause(waits.next());
      }
    }
  }

  private report({ deliveryId, jobId, attempt }: WebhookDelivery, verdict: Verdict): void {
    const { logger, onAttempt } = this.options;
    const facts = { deliveryId, job_id: jobId, attempt: attempt + 1, ...verdict };
    if (verdict.action === 'succeeded') logger.debug(facts, 'webhook delivered');
    else if (verdict.action === 'retry') logger.info(facts, 'webhook will be retried');
    else logger.warn(facts, 'webhook given up');
    onAttempt?.(verdict.action);
  }

  private async pause(ms: number): Promise<void> {
    await sleep(ms, undefined, { signal: this.cut.signal }).catch(() => undefined);
  }
}
