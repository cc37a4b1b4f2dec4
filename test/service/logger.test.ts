import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { createLogger } from '../../src/service/logger.js';

function logged(
  level: 'debug' | 'info' | 'silent',
  write: (log: ReturnType<typeof createLogger>) => void,
) {
  const lines: string[] = [];
  write(createLogger({ logLevel: level }, { write: (line) => lines.push(line) }));
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

test('a line is one JSON object with the level by name and an ISO time', () => {
  const [line] = logged('info', (log) => {
    log.info({ job_id: 'j1' }, 'job submitted');
  });
  expect(line).toMatchObject({ level: 'info', job_id: 'j1', msg: 'job submitted' });
  expect(new Date(line!.time as string).toISOString()).toBe(line!.time);
});

test('the configured level decides what is written', () => {
  const write = (log: ReturnType<typeof createLogger>) => {
    log.debug('small');
    log.info('large');
  };
  expect(logged('info', write)).toHaveLength(1);
  expect(logged('debug', write)).toHaveLength(2);
  expect(logged('silent', write)).toHaveLength(0);
});

test.each([
  { authorization: 'Bearer lat_1' },
  { headers: { authorization: 'Bearer lat_1', 'x-api-key': 'lat_1' } },
  { req: { headers: { 'x-api-key': 'lat_1', cookie: 'lat_1' } } },
  { config: { webhookSecret: 'lat_1' } },
])('credentials never reach the log: %j', (fields) => {
  const [line] = logged('info', (log) => {
    log.info(fields, 'request');
  });
  expect(JSON.stringify(line)).not.toContain('lat_1');
  expect(JSON.stringify(line)).toContain('[redacted]');
});

test('an error is logged with type, message and stack', () => {
  const [line] = logged('info', (log) => {
    log.warn({ err: new TypeError('broken') }, 'failed');
  });
  expect(line!.err).toMatchObject({ type: 'TypeError', message: 'broken' });
});

test('standard output that is no terminal gets JSON, complete at exit', () => {
  const script =
    "import { createLogger } from './src/service/logger.ts';" +
    "const log = createLogger({ logLevel: 'info' }); for (let i = 0; i < 500; i++) log.info({ i }, 'line');";
  const run = spawnSync(
    process.execPath,
    ['--import', 'tsx', '--input-type=module', '-e', script],
    {
      encoding: 'utf8',
    },
  );
  const lines = run.stdout.trim().split('\n');
  expect(lines).toHaveLength(500);
  expect(JSON.parse(lines[499]!)).toMatchObject({ i: 499 });
});
