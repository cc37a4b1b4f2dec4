/** The service's log: one JSON object per line. */
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

/** With `sync` a line is written before the call returns: for the last lines of a process. */
export function standardOutput({ sync } = { sync: false }): DestinationStream {
  return pino.destination({ dest: 1, sync, minLength: 0 });
}
