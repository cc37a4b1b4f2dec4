/** The receiver's side of a signature, as Standard Webhooks 1.0 has it: for the tools that show what arrives. */
import { timingSafeEqual } from 'node:crypto';
import { createSigner } from '../../webhooks/webhook-message.js';

/** Older or newer messages are refused by receivers: an attacker may have kept them and sent them again. */
export const TOLERANCE_S = 300;

export interface Signed {
  /** Names in lower case. */
  headers: Readonly<Record<string, string | undefined>>;
  body: string;
}

export interface SignatureFinding {
  /** Why the message is not genuine; null when it is, whatever its age. */
  fault: string | null;
  /** When it was sent, as it says itself; null when it does not. */
  sentAt: Date | null;
}

/** `secrets` as in the setting: one of several is enough. Throws `ConfigError` when one cannot be used. */
export function createSignatureCheck(secrets: string): (message: Signed) => SignatureFinding {
  const sign = createSigner(secrets);
  return ({ headers, body }) => {
    const missing = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].find(
      (name) => (headers[name] ?? '') === '',
    );
    const sentAt = readTimestamp(headers['webhook-timestamp']);
    if (missing === 'webhook-signature') {
      return { fault: 'it is not signed: the sender has no secret', sentAt };
    }
    if (missing !== undefined) return { fault: `it has no header ${missing}`, sentAt };
    if (sentAt === null) return { fault: 'its webhook-timestamp is no Unix time', sentAt };
    const expected = sign(headers['webhook-id'] ?? '', sentAt, body)?.split(' ') ?? [];
    const given = (headers['webhook-signature'] ?? '').trim().split(/\s+/);
    const genuine = given.some((each) => expected.some((other) => isSame(each, other)));
    return {
      fault: genuine ? null : 'its signature is of another secret, or of another body or header',
      sentAt,
    };
  };
}

function readTimestamp(text: string | undefined): Date | null {
  return text !== undefined && /^\d{1,12}$/.test(text.trim())
    ? new Date(Number(text) * 1000)
    : null;
}

function isSame(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}
