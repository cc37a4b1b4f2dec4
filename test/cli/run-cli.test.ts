import { spawnSync } from 'node:child_process';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { settings } from '../../src/settings/settings.js';
import { describeSettings } from '../../src/cli/setting-flags.js';
import { run } from './run.js';

const runService = vi.hoisted(() => vi.fn<(config: object) => Promise<void>>());
vi.mock('../../src/main.js', () => ({ runService }));
afterEach(() => {
  runService.mockReset();
  vi.unstubAllEnvs();
});

/** One or two words that are written twice. */
const TWICE = /\b([a-z]+(?: [a-z]+)?)\s\1(?![\w-])/i;

test('help names every command; each command has help with examples', async () => {
  const help = await run('--help');
  expect(help.code).toBe(0);
  expect(commandsOf(help.out)).toEqual(
    expect.arrayContaining(['serve', 'detect', 'job', 'model', 'doctor', 'openapi']),
  );
  for (const name of commandsOf(help.out)) await expectHelp([name]);
});

/** Checks the help of the command and of those beneath it. */
async function expectHelp(words: readonly string[]): Promise<void> {
  const { code, err, out } = await run(...words, '--help');
  expect(out).not.toMatch(TWICE);
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(out).toMatch(new RegExp(`^ {2}\\$ (\\w+=\\S+ )?lattice ${words.join(' ')}\\b`, 'm'));
  for (const part of commandsOf(out)) await expectHelp([...words, part]);
}

/** Names of the commands in a help text. */
function commandsOf(help: string): string[] {
  const lists = [...help.matchAll(/^(?!Arguments)[A-Z].*:\n((?: {2}.*\n)+)/gm)];
  return lists.flatMap(([, list = '']) =>
    [...list.matchAll(/^ {2}(\w+)/gm)].map(([, name = '']) => name),
  );
}

test('the version is that of the package', async () => {
  expect((await run('--version')).out).toMatch(/^\d+\.\d+\.\d+\n$/);
});

test.each([
  [[], /Usage/],
  [['frobnicate'], /unknown command 'frobnicate'/],
  [['serve', '--no-such-flag'], /unknown option/],
  [['serve', '--port', '99999'], /LATTICE_PORT/],
  [['serve', '--device', 'tpu'], /LATTICE_DEVICE/],
  [['serve', '--config', '/no/such/file.json'], /no\/such\/file/],
  [['detect'], /missing required argument/],
  [['detect', 'a.jpg', '--confidence', '1.01'], /0 to 1/],
  [['detect', 'a.jpg', '--iou', 'x'], /0 to 1/],
  [['detect', 'a.jpg', '--max-detections', '0'], /1 to 300/],
  [['detect', 'a.jpg', '--classes', 'car,,bus'], /separated by commas/],
  [['detect', 'no-such-folder-*/x'], /No image matches/],
])('%j is a usage error: exit code 2, the reason, no stack', async (args, reason) => {
  const { code, err, out } = await run(...args);
  expect(code).toBe(2);
  expect(err).toMatch(reason);
  expect(err + out).not.toMatch(/^ {4}at /m);
});

describe('serve', () => {
  test('has a flag for every setting, with its description', async () => {
    const { out } = await run('serve', '--help');
    expect(describeSettings().map(({ key }) => key)).toEqual(Object.keys(settings));
    const words = out.replace(/\s+/g, ' ');
    for (const { flag, meaning } of describeSettings()) {
      expect(words).toContain(`${flag} `);
      expect(words).toContain(meaning);
    }
  });

  test('hands the settings to the service; flags win over the environment', async () => {
    vi.stubEnv('LATTICE_PORT', '1234');
    vi.stubEnv('LATTICE_HOST', 'localhost');
    const args = ['--port', '0', '--insecure', '--image-roots', '/a:/b', '--webhook-allow', 'x,y'];
    expect(await run('serve', ...args)).toEqual({ code: 0, out: '', err: '' });
    expect(runService).toHaveBeenCalledExactlyOnceWith(
      expect.objectContaining({
        port: 0,
        host: 'localhost',
        insecure: true,
        imageRoots: ['/a', '/b'],
        webhookAllow: ['x', 'y'],
        logLevel: 'info',
      }),
    );
  });

  test('--verbose logs more', async () => {
    await run('--verbose', 'serve');
    expect(runService).toHaveBeenCalledWith(expect.objectContaining({ logLevel: 'debug' }));
  });

  test('a service that cannot start is one line and exit code 1; the stack shows when asked for', async () => {
    runService.mockRejectedValue(new Error('The data folder is in use.'));
    const plain = await run('serve');
    expect(plain.code).toBe(1);
    expect(plain.err).toMatch(/^lattice: The data folder is in use\.\n/);
    expect(plain.err).not.toMatch(/^ {4}at /m);
    expect((await run('-v', 'serve')).err).toMatch(/^ {4}at /m);
    vi.stubEnv('LATTICE_LOG_LEVEL', 'debug');
    expect((await run('serve')).err).toMatch(/^ {4}at /m);
  });
});

describe('openapi', () => {
  test('prints a 3.1 document with routes, the same whatever the settings', async () => {
    const first = await run('openapi');
    const document = JSON.parse(first.out) as { openapi: string; paths: object };
    expect(document.openapi).toBe('3.1.0');
    expect(document.paths).toHaveProperty(['/v1/jobs/submit']);
    vi.stubEnv('LATTICE_PORT', 'not a number');
    expect((await run('openapi')).out).toBe(first.out);
  });
});

test('docs/configuration.md is up to date', () => {
  const check = spawnSync(process.execPath, ['scripts/configuration-page.mjs', '--check'], {
    encoding: 'utf8',
  });
  expect(check.stderr).toBe('');
  expect(check.status).toBe(0);
});
