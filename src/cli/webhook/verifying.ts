/** Checks a webhook that was saved. */
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { createSignatureCheck, TOLERANCE_S } from '../../webhooks/signature-check.js';
import { pathFault } from '../../base/path-fault.js';
import { EXIT_FAILED, UsageError, type Terminal } from '../terminal.js';
import { webhookSecret } from './webhook-secret.js';

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
  const body = await read(bodyFile);
  const headers = readHeaders(await read(headersFile));
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

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    throw new UsageError(pathFault(error, file, 'read'));
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
