import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readBatches, readRectangles, readRoots, writeRoots } from '../../src/settings/settings.js';
import {
  ConfigError,
  environmentName,
  environmentOf,
  loadConfig,
  serviceAccess,
  unknownSettings,
} from '../../src/settings/config.js';

const folder = mkdtempSync(join(tmpdir(), 'lattice-config-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

function configFile(content: unknown): string {
  const file = join(folder, 'config.json');
  writeFileSync(file, JSON.stringify(content));
  return file;
}

test('a flag wins over the environment, the environment over the file', () => {
  const LATTICE_CONFIG = configFile({ port: 1, threads: 1, logLevel: 'warn' });
  const environment = { LATTICE_CONFIG, LATTICE_PORT: '2', LATTICE_THREADS: '2' };
  const { port, threads, logLevel } = loadConfig({ port: '3' }, environment);
  expect([port, threads, logLevel]).toEqual([3, 2, 'warn']);
});

test.each([
  ['/srv/a:/srv/b', ['/srv/a', '/srv/b']],
  [' /srv/a : : /srv/b', ['/srv/a', '/srv/b']],
  ['["/srv/12:30", "/srv/b "]', ['/srv/12:30', '/srv/b ']],
  ['/srv/[a', ['/srv/[a']],
])('image roots %s', (text, roots) => {
  expect(loadConfig({}, { LATTICE_IMAGE_ROOTS: text }).imageRoots).toEqual(roots);
  expect(loadConfig({ imageRoots: text }, {}).imageRoots).toEqual(roots);
  const LATTICE_CONFIG = configFile({ imageRoots: text });
  expect(loadConfig({}, { LATTICE_CONFIG }).imageRoots).toEqual(roots);
});

test('image roots are a list in the file, and arrive whole in a child process', () => {
  for (const roots of [['/srv/12:30', '/srv/b '], ['/srv/a', '/srv/b'], ['/srv/a, "b"']]) {
    const LATTICE_CONFIG = configFile({ imageRoots: roots });
    const config = loadConfig({}, { LATTICE_CONFIG });
    expect(config.imageRoots).toEqual(roots);
    expect(loadConfig({}, environmentOf(config, ['imageRoots'])).imageRoots).toEqual(roots);
    expect(readRoots(writeRoots(roots))).toEqual(roots);
  }
  expect(writeRoots(['/srv/a', '/srv/b'])).toBe('/srv/a:/srv/b');
});

test('a variable that is empty is not set', () => {
  const config = loadConfig({}, { LATTICE_CONFIG: '', LATTICE_PORT: '', LATTICE_IMAGE_ROOTS: '' });
  expect(config).toEqual(loadConfig({}, {}));
});

describe('a wrong value', () => {
  test.each([
    ['imageRoots', ':'],
    ['imageRoots', '[""]'],
    ['insecure', 'maybe'],
    ['threads', '0'],
    ['threads', '100000'],
    ['gpuBatches', '0,8'],
    ['gpuBatches', '8,1'],
    ['gpuBatches', '1,1'],
    ['gpuBatches', '1,64'],
    ['gpuBatches', '1;8'],
    ['gpuBatches', '1.5'],
    ['rectangles', 'on'],
    ['rectangles', 'auto,640x384'],
    ['rectangles', '640'],
    ['rectangles', '640x'],
    ['rectangles', '640x384x3'],
    ['rectangles', '0x384'],
    ['rectangles', '640x384;640x480'],
    ['rectangles', '64000x384'],
    ['corsOrigins', '*'],
    ['corsOrigins', 'https://app.example/'],
    ['corsOrigins', 'https://app.example,app.example'],
    ['maxBodyBytes', '0'],
    ['maxImagesPerJob', '0'],
    ['maxImagesPerJob', '2000000'],
    ['maxFileBytes', '0'],
    ['maxPixels', '0'],
    ['maxSide', '0'],
    ['maxSide', '9999999'],
    ['syncDeadlineMs', '0'],
    // Longer than a timer can be: it would go off at once.
    ['syncDeadlineMs', '99999999999'],
    ['canaryMinutes', '999999'],
    ['drainSeconds', '9999999'],
  ])('%s=%s is refused by name', (key, value) => {
    const name = environmentName(key);
    expect(() => loadConfig({}, { [name]: value })).toThrow(ConfigError);
    expect(() => loadConfig({}, { [name]: value })).toThrow(name);
  });

  test('what is no number is shown as it was given', () => {
    expect(() => loadConfig({}, { LATTICE_PORT: '80 00' })).toThrow('LATTICE_PORT: "80 00" is no');
  });

  test.each([
    ['LATTICE_DEVICE', 'tpu', '"tpu" is none of auto, cpu, cuda'],
    ['LATTICE_PORT', '70000', '"70000" is too large: at most 65535'],
    ['LATTICE_THREADS', '0', '"0" is too small: at least 1'],
    ['LATTICE_THREADS', '1.5', '"1.5" is not a whole number'],
  ])('%s=%s is refused in words', (name, value, reason) => {
    expect(() => loadConfig({}, { [name]: value })).toThrow(`${name}: ${reason}`);
  });

  test.each([[[1]], ['text'], [null]])('a file with %j is refused in a sentence', (content) => {
    const file = configFile(content);
    expect(() => loadConfig({ config: file }, {})).toThrow(`${file} is not a JSON object.`);
  });

  test('a key of the file that is no setting is named as it is written', () => {
    const file = configFile({ imageRoot: '/srv', ports: 1 });
    expect(() => loadConfig({ config: file }, {})).toThrow(/imageRoot: .*\n.*ports: /);
  });
});

test('rectangles are read side by side', () => {
  expect(readRectangles('auto')).toBe('auto');
  expect(readRectangles('off')).toEqual([]);
  expect(readRectangles(' 640x384 , 32x9999,')).toEqual([
    { width: 640, height: 384 },
    { width: 32, height: 9999 },
  ]);
});

test('batch sizes of GPUs are read as numbers', () => {
  expect(readBatches('1,8, 32')).toEqual([1, 8, 32]);
  expect(readBatches('4')).toEqual([4]);
});

test('values at the edge are taken', () => {
  const config = loadConfig(
    {},
    {
      LATTICE_CORS_ORIGINS: 'https://app.example, http://127.0.0.1:5173',
      LATTICE_CANARY_MINUTES: '0',
      LATTICE_DRAIN_SECONDS: '86400',
      LATTICE_SYNC_DEADLINE_MS: '3600000',
    },
  );
  expect(config.corsOrigins).toEqual(['https://app.example', 'http://127.0.0.1:5173']);
});

test('variables that look like settings and are none are found, those of other parts are not', () => {
  const environment = {
    LATTICE_PRT: '1',
    LATTICE_PORT: '1',
    LATTICE_CONFIG: 'x',
    LATTICE_CORE_API_URL: 'http://h:8000',
    LATTICE_API_KEYS: 'k',
    LATTICE_EDGE_IMAGES: '/srv',
    PATH: '/bin',
  };
  expect(unknownSettings(environment)).toEqual(['LATTICE_PRT', 'LATTICE_API_KEYS']);
});

describe('access to a running service', () => {
  const keyFile = (content: string): string => {
    const file = join(folder, 'key.txt');
    writeFileSync(file, content);
    return file;
  };

  test('flags win over the environment; what is empty is not given', () => {
    const environment = {
      LATTICE_CORE_API_URL: ' http://h:8000 ',
      LATTICE_API_KEY: 'from-variable',
    };
    expect(serviceAccess({}, environment)).toEqual({
      url: 'http://h:8000',
      apiKey: 'from-variable',
    });
    const flags = { url: 'http://i', apiKeyFile: keyFile('from-file\n') };
    expect(serviceAccess(flags, environment)).toEqual({ url: 'http://i', apiKey: 'from-file' });
    const empty = { LATTICE_CORE_API_URL: '', LATTICE_API_KEY: '' };
    expect(serviceAccess({}, empty)).toEqual({ url: undefined, apiKey: undefined });
  });

  test('the key is the first of a file that the service may read too', () => {
    const file = keyFile('# keys\r\n\r\n  first-key  north\r\nsecond-key\r\n');
    expect(serviceAccess({ apiKeyFile: file }, {}).apiKey).toBe('first-key');
  });

  test.each([
    ['no key', '# nothing\n\n', /contains no key/],
    ['a digest', `sha256:${'0'.repeat(64)}\n`, /digest/],
  ])('a file with %s is refused', (_what, content, reason) => {
    expect(() => serviceAccess({ apiKeyFile: keyFile(content) }, {})).toThrow(reason);
  });
});
