/** Receives webhooks and prints them, and checks one that was saved. */
import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readFile } from 'node:fs/promises';
import { createAdaptorServer } from '@hono/node-server';
import { Hono } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { z } from 'zod';
import { loadConfig } from '../../settings/config.js';
import { createSignatureCheck, TOLERANCE_S } from './signature-check.js';
import { printable } from '../output-text.js';
import { EXIT_FAILED, onUserPath, Refusal, UsageError, type Terminal } from '../terminal.js';
import { untilSignal } from '../until-signal.js';

export interface ListenFlags {
  port: number;
  host: string;
  secret?: string;
  json?: boolean;
}

/** The service sends less than 1 MiB. */
const MAX_BODY_BYTES = 2 * 1024 * 1024;

interface Arrived {
  headers: Record<string, string>;
  body: string;
  /** `genuine`, `not checked`, or why it is refused. */
  signature: string;
  status: number;
}

/** Receives webhooks until a signal arrives. Rejects with `UsageError` or `Refusal` when the address cannot be used. */
export async function listenForWebhooks(flags: ListenFlags, terminal: Terminal): Promise<void> {
  const server = createAdaptorServer({ fetch: receiver(flags, terminal).fetch }) as Server;
  await listen(server, flags);
  const { address, port, family } = server.address() as AddressInfo;
  const host = family === 'IPv6' ? `[${address}]` : address;
  terminal.err(`Listening on http://${host}:${port}/ for a callback_url. Ctrl-C ends it.`);
  await untilSignal(terminal, (signal) => once(signal, 'abort'));
  server.close();
  server.closeAllConnections();
}

/** Answers any path. What is no webhook is not printed. */
function receiver({ secret, json }: ListenFlags, terminal: Terminal): Hono {
  const judge = createJudge(webhookSecret(secret));
  const refuse = (status: number, headers: Record<string, string>) => () =>
    new Response(null, { status, headers: { connection: 'close', ...headers } });
  const app = new Hono();
  app.post('*', bodyLimit({ maxSize: MAX_BODY_BYTES, onError: refuse(413, {}) }), async (c) => {
    const message = { headers: c.req.header(), body: await c.req.text() };
    const arrived = { ...message, ...judge(message) };
    for (const line of json === true ? [jsonOf(arrived)] : linesOf(arrived)) terminal.out(line);
    return new Response(null, { status: arrived.status });
  });
  app.all('*', refuse(405, { allow: 'POST' }));
  app.onError(refuse(400, {})); // the sender broke off
  return app;
}

async function listen(server: Server, { host, port }: ListenFlags): Promise<void> {
  server.listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      throw new Refusal(`Port ${port} of ${host} is in use: --port takes another one.`);
    }
    if (code === 'EACCES') {
      throw new UsageError(`No permission to listen on port ${port}: take one above 1023.`);
    }
    throw new UsageError(`${host} is no address of this machine: --host takes one of its own.`);
  }
}

type Judge = (message: Pick<Arrived, 'headers' | 'body'>) => Pick<Arrived, 'signature' | 'status'>;

function createJudge(secret: string): Judge {
  const check = createSignatureCheck(secret);
  return (message) => {
    if (secret === '') return { signature: 'not checked', status: 200 };
    const { fault, sentAt } = check(message);
    if (fault !== null) return { signature: `refused: ${fault}`, status: 401 };
    const ageS = (Date.now() - (sentAt?.getTime() ?? 0)) / 1000;
    if (Math.abs(ageS) <= TOLERANCE_S) return { signature: 'genuine', status: 200 };
    const off = `sent ${Math.round(Math.abs(ageS))} s ${ageS > 0 ? 'ago' : 'ahead'}`;
    return { signature: `refused: genuine, but ${off}: do the clocks agree?`, status: 401 };
  };
}

function jsonOf({ headers, body, signature, status }: Arrived): string {
  return JSON.stringify({ received_at: Date.now() / 1000, status, signature, headers, body });
}

const eventSchema = z.object({
  type: z.string(),
  data: z.object({
    job_id: z.string(),
    status: z.string(),
    failed_images: z.int().default(0),
    result: z.object({ total_count: z.int() }).nullable(),
  }),
});

function linesOf({ headers, body, signature, status }: Arrived): string[] {
  const time = new Date().toISOString();
  const event = eventSchema.safeParse(parse(body)).data;
  const type = event?.type ?? 'no event of this service';
  const head = `${time}  ${status}  ${type}  ${headers['webhook-id'] ?? 'no webhook-id'}`;
  const request = headers['x-request-id'];
  const told =
    event === undefined
      ? body.slice(0, 200)
      : `${event.data.job_id} ${event.data.status}, ${event.data.result?.total_count ?? 0} box(es), ` +
        `${event.data.failed_images} failed image(s)${request === undefined ? '' : `, request ${request}`}`;
  // Anybody may send to an open port.
  return [`${head}  signature ${signature}`, `  ${told}`].map(printable);
}

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

export interface VerifyFlags {
  secret?: string;
}

/** Exit code 1 for one that is not genuine. Throws `UsageError` for a file or a secret that cannot be used. */
export async function verifyWebhook(
  bodyFile: string,
  headersFile: string,
  flags: VerifyFlags,
  terminal: Terminal,
): Promise<void> {
  const secret = webhookSecret(flags.secret);
  if (secret === '') {
    throw new UsageError('Give the secret in LATTICE_WEBHOOK_SECRET, or with --secret.');
  }
  const check = createSignatureCheck(secret);
  const body = await onUserPath(bodyFile, 'read', readFile(bodyFile, 'utf8'));
  const headers = readHeaders(await onUserPath(headersFile, 'read', readFile(headersFile, 'utf8')));
  const { fault, sentAt } = check({ headers, body });
  if (fault !== null) {
    terminal.out(`Not genuine: ${fault}.`);
    terminal.setExitCode(EXIT_FAILED);
    return;
  }
  terminal.out(`Genuine: ${headers['webhook-id']}, sent ${sentAt?.toISOString()}.`);
  if (Math.abs(Date.now() - (sentAt?.getTime() ?? 0)) > TOLERANCE_S * 1000) {
    terminal.out('A receiver refuses it by now: it was not sent within the last 5 minutes.');
  }
}

/** Lines `name: value`, others are left out; or a JSON object. Names in lower case. */
function readHeaders(text: string): Record<string, string> {
  const pairs = text.trimStart().startsWith('{')
    ? Object.entries(readObject(text))
    : text.split(/\r?\n/).flatMap((line) => {
        const [, name, value] = /^([\w-]+):\s*(.*?)\s*$/.exec(line) ?? [];
        return name === undefined || value === undefined ? [] : [[name, value] as const];
      });
  return Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase(), value]));
}

function readObject(text: string): Record<string, string> {
  try {
    return z.record(z.string(), z.coerce.string()).parse(JSON.parse(text));
  } catch {
    throw new UsageError('The file of headers is neither lines `name: value` nor a JSON object.');
  }
}

/** The secret of the flag, else of the service's setting; '' if there is none. */
function webhookSecret(given: string | undefined): string {
  return loadConfig(given === undefined ? {} : { webhookSecret: given }).webhookSecret;
}
