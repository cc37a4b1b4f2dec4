/** The service's log: one JSON object per line; on a terminal coloured text, if pino-pretty is installed. */
import { createRequire } from 'node:module';
import { pino, stdTimeFunctions, type DestinationStream, type Logger } from 'pino';
import type { Config } from '../settings/config.js';

export type { Logger } from 'pino';

const SECRET_FIELDS = [
  'authorization',
  'Authorization',
  'x-api-key',
  'X-API-Key',
  'cookie',
  'webhookSecret',
];

/** Each secret field at the top, one level down (`headers.authorization`) and in a logged request. */
const REDACTED = SECRET_FIELDS.flatMap((field) => {
  const key = `[${JSON.stringify(field)}]`;
  return [key, `*${key}`, `req.headers${key}`, `request.headers${key}`];
});

/** Writes to standard output unless `destination` is given. */
export function createLogger(
  config: Pick<Config, 'logLevel'>,
  destination: DestinationStream = standardOutput(),
): Logger {
  return pino(
    {
      level: config.logLevel,
      redact: { paths: REDACTED, censor: '[redacted]' },
      timestamp: stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  );
}

/** `sync`: a line is written before the call returns, for the last lines of a process. */
export function standardOutput({ sync } = { sync: false }): DestinationStream {
  const pretty = process.stdout.isTTY ? loadPretty() : null;
  if (pretty === null) return pino.destination({ dest: 1, sync, minLength: 0 });
  return pretty({ sync, colorize: true, translateTime: 'SYS:HH:MM:ss.l', ignore: 'pid,hostname' });
}

type Pretty = (options: {
  sync: boolean;
  colorize: boolean;
  translateTime: string;
  ignore: string;
}) => DestinationStream;

/** A development dependency: a service installed without it logs JSON to a terminal too. */
function loadPretty(): Pretty | null {
  try {
    return createRequire(import.meta.url)('pino-pretty') as Pretty;
  } catch {
    return null;
  }
}
