/** The webhook message: body and headers of Standard Webhooks 1.0. */
import { Webhook } from 'standardwebhooks';
import type { WEBHOOK_EVENTS } from '../api/events.js';
import { withMember } from '../base/json-text.js';
import { ConfigError, environmentName } from '../settings/config.js';
import type { JobOrigin } from '../store/job.js';
import type { WebhookDelivery } from '../store/webhook-delivery.js';

export interface WebhookMessage {
  body: string;
  headers: Record<string, string>;
}

/** The event that a delivery tells. */
export interface ToldEvent {
  type: (typeof WEBHOOK_EVENTS)[number];
  /** The record of the event as the interface shows it, as JSON text. */
  json: string;
  /** The request that submitted it; absent where none did. */
  origin?: JobOrigin | undefined;
}

/** Makes one `v1,...` signature per secret, so that a receiver can change over from one to the next. */
export type Signer = (id: string, sentAt: Date, body: string) => string | null;

/**
 * `secrets` is what the setting holds: nothing, one `whsec_...`, or several separated by spaces while rotating.
 * Throws `ConfigError` (without the secret's text) when one cannot be used.
 */
export function createSigner(secrets: string): Signer {
  const webhooks = secrets.split(/\s+/).filter(Boolean).map(openSecret);
  return (id, sentAt, body) =>
    webhooks.length === 0
      ? null
      : webhooks.map((webhook) => webhook.sign(id, sentAt, body)).join(' ');
}

/** The body is the same at every attempt of a delivery; time stamp and signature are those of `sentAt`. */
export function composeMessage(
  delivery: WebhookDelivery,
  { type, json, origin }: ToldEvent,
  sentAt: Date,
  sign: Signer,
): WebhookMessage {
  const head = {
    type,
    timestamp: new Date(delivery.createdAt * 1000).toISOString(),
  };
  const body = withMember(head, 'data', json);
  const signature = sign(delivery.deliveryId, sentAt, body);
  return {
    body,
    headers: {
      'content-type': 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      // The body of the answer is not read.
      'accept-encoding': 'identity',
      'user-agent': 'lattice-core',
      ...(origin === undefined ? {} : { 'x-request-id': origin.requestId }),
      ...(origin?.traceparent === undefined ? {} : { traceparent: origin.traceparent }),
      'webhook-id': delivery.deliveryId,
      'webhook-timestamp': String(Math.floor(sentAt.getTime() / 1000)),
      ...(signature === null ? {} : { 'webhook-signature': signature }),
    },
  };
}

function openSecret(secret: string): Webhook {
  const name = environmentName('webhookSecret');
  const encoded = secret.replace(/^whsec_/, '');
  const bytes = /^[A-Za-z0-9+/]+={0,2}$/.test(encoded) ? Buffer.from(encoded, 'base64').length : 0;
  if (bytes < 24 || bytes > 64) {
    throw new ConfigError(
      `${name} must be whsec_ followed by 24 to 64 random bytes in base64, ` +
        `for example: echo "whsec_$(openssl rand -base64 32)"`,
    );
  }
  return new Webhook(secret);
}
