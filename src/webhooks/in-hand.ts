/**
 * Deliveries that are being attempted: bounded in all and per host, so that one hanging host leaves places for others.
 */
import type { WebhookDelivery } from '../store/webhook-delivery.js';

export const MAX_IN_FLIGHT = 50;
export const MAX_IN_FLIGHT_PER_HOST = 10;

export class InHand {
  readonly #ids = new Set<string>();
  readonly #perHost = new Map<string, number>();
  readonly #returned = new Set<string>();

  get size(): number {
    return this.#ids.size;
  }

  get full(): boolean {
    return this.#ids.size >= MAX_IN_FLIGHT;
  }

  /** Hosts without a free place. */
  get fullHosts(): string[] {
    return [...this.#perHost].flatMap(([host, busy]) =>
      busy >= MAX_IN_FLIGHT_PER_HOST ? [host] : [],
    );
  }

  /**
   * Call before asking the queue what is due: until the next call, what is given back is not taken again, since the
   * answer may have been read before the outcome was stored.
   */
  beginPage(): void {
    this.#returned.clear();
  }

  /** False when it is in hand already, was given back since `beginPage` or has no place. */
  take({ deliveryId, host }: WebhookDelivery): boolean {
    const busy = this.#perHost.get(host) ?? 0;
    if (this.full || busy >= MAX_IN_FLIGHT_PER_HOST) return false;
    if (this.#ids.has(deliveryId) || this.#returned.has(deliveryId)) return false;
    this.#ids.add(deliveryId);
    this.#perHost.set(host, busy + 1);
    return true;
  }

  giveBack({ deliveryId, host }: WebhookDelivery): void {
    if (!this.#ids.delete(deliveryId)) return;
    this.#returned.add(deliveryId);
    const busy = (this.#perHost.get(host) ?? 0) - 1;
    if (busy > 0) this.#perHost.set(host, busy);
    else this.#perHost.delete(host);
  }
}
