/**
 * Sends one POST to a receiver that may be hostile. Resolves the host once, checks every address, and connects only to
 * allowed ones, through an agent that checks the connected address again. Never `fetch`: it follows redirects and
 * decodes compressed answers by default.
 */
import { lookup, type LookupAddress } from 'node:dns';
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { promisify } from 'node:util';
import { useAgent } from 'request-filtering-agent';
import { environmentName } from '../settings/config.js';
import { connectionFault } from './connection-fault.js';
import type { AttemptOutcome } from './delivery-verdict.js';
import { hostOf, targetRefusal, type TargetPolicy } from './target-policy.js';
import type { WebhookMessage } from './webhook-message.js';

/** The body of an answer is not used; this much is read so that a normal receiver can finish writing. */
export const MAX_ANSWER_BYTES = 64 * 1024;

export type Resolve = (host: string) => Promise<LookupAddress[]>;

const lookupAll = promisify(lookup);

/** The system's resolver. Simultaneous calls for one host share a look-up: each holds one of libuv's threads. */
export function createResolver(): Resolve {
  const running = new Map<string, Promise<LookupAddress[]>>();
  return (host) => {
    const known = running.get(host);
    if (known !== undefined) return known;
    const started = lookupAll(host, { all: true }).finally(() => running.delete(host));
    running.set(host, started);
    return started;
  };
}

export interface PostOptions {
  policy: TargetPolicy;
  resolve: Resolve;
  /** Limit for the whole attempt: resolving, connecting, sending, the answer. */
  timeoutMs: number;
  /** Aborting ends the attempt at once with null: its outcome is unknown. */
  stop: AbortSignal;
}

class Refused extends Error {
  readonly permanent: boolean;
  constructor(reason: string, permanent: boolean) {
    super(`Target refused: ${reason}`);
    this.permanent = permanent;
  }
}

/** Never rejects. Null when `stop` was aborted before an answer came. */
export async function postWebhook(
  url: string,
  message: WebhookMessage,
  options: PostOptions,
): Promise<AttemptOutcome | null> {
  const limit = AbortSignal.timeout(options.timeoutMs);
  const signal = AbortSignal.any([options.stop, limit]);
  if (signal.aborted) return null;
  try {
    const refusal = targetRefusal(url, options.policy);
    // The URL never changes, so every later attempt would be refused as well.
    if (refusal !== null) throw new Refused(refusal, true);
    const target = new URL(url);
    const addresses = await Promise.race([allowedAddresses(target, options), aborted(signal)]);
    return await exchange(target, addresses, message, signal);
  } catch (error) {
    if (options.stop.aborted) return null;
    return {
      kind: 'unreachable',
      error: limit.aborted
        ? `No answer within ${options.timeoutMs / 1000} s`
        : connectionFault(error, url),
      permanent: error instanceof Refused && error.permanent,
    };
  }
}

/** Returns at least one address, each allowed by the policy. An address in the URL is not resolved. */
async function allowedAddresses(target: URL, options: PostOptions): Promise<LookupAddress[]> {
  const host = hostOf(target);
  const family = isIP(host);
  const found = family === 0 ? await options.resolve(host) : [{ address: host, family }];
  const allowed = found.filter(({ address }) => options.policy.refusal(host, address) === null);
  if (allowed.length > 0) return allowed;
  // A name may resolve to other addresses at the next attempt. The message does not contain the addresses: every reader
  // of the job sees it, and they may belong to this network.
  throw new Refused(
    `${host} has neither a public address nor one that ${environmentName('webhookAllow')} allows`,
    false,
  );
}

function exchange(
  target: URL,
  addresses: LookupAddress[],
  message: WebhookMessage,
  signal: AbortSignal,
): Promise<AttemptOutcome> {
  const agent = useAgent(target.href, {
    keepAlive: false,
    allowIPAddressList: addresses.map(({ address }) => address),
  });
  const send = target.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const request = send(target, {
      method: 'POST',
      headers: message.headers,
      agent,
      lookup: pinTo(addresses),
      signal,
    });
    let answered = false;
    request.on('error', (error) => {
      if (!answered) reject(error);
    });
    request.on('close', () => {
      if (!answered) reject(new Error('Connection closed without an answer'));
    });
    request.on('response', (response) => {
      answered = true;
      let bytes = 0;
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        if (bytes >= MAX_ANSWER_BYTES) response.destroy();
      });
      // The status line is the answer: an incomplete body does not change it.
      response.on('error', () => undefined);
      response.on('close', () => {
        resolve({
          kind: 'answered',
          status: response.statusCode ?? 0,
          retryAfter: response.headers['retry-after'] ?? null,
        });
      });
    });
    request.end(message.body);
  });
}

function pinTo(addresses: LookupAddress[]): LookupFunction {
  return (_host, options, callback) => {
    const [first] = addresses;
    if (options.all) callback(null, addresses);
    else callback(null, first?.address ?? '', first?.family);
  };
}

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => {
      reject(new Error('aborted'));
    });
  });
}
