/** Every example of the documentation, run against a service; the answers match those that are shown. */
import { spawn } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer, connect, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { globSync } from 'tinyglobby';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { pythonEnvironment, runProgram } from '../../src/cli/python-environment.js';
import { eventual, HANG_MS } from '../support/eventually.js';
import { installPythonPackage, type InstalledPackage } from '../support/python-package.js';
import { DEMO, FEW_THREADS, jobsEnded } from '../support/service-client.js';
import { PROJECT_ROOT, startService, type ServiceProcess } from '../support/service-process.js';
import { commandsOf, examplesOf, type Command, type Example } from './examples-of.js';
import { expectShown, jsonValues, Names } from './shown-json.js';
import { Shell } from './shell.js';

const PAGES = [
  'README.md',
  'docs/api.md',
  'docs/cli.md',
  'docs/counts-from-photos.md',
  'docs/clients.md',
  'docs/events.md',
  'docs/webhooks.md',
  'docs/exports.md',
  'docs/deepstack.md',
  'docs/tiles.md',
  'docs/watches.md',
  'clients/node/README.md',
  'clients/python/README.md',
];

/** Pages of which no example is run here. */
const OTHER_PAGES: Record<string, string> = {
  'bench/peers/README.md': 'installs and measures other servers',
  'cluster/README.md': 'needs a Ray cluster: npm run test:ray',
  'cluster/examples/README.md': 'needs a Ray cluster: test/real-ray/examples.test.ts',
  'deploy/README.md': 'needs Docker, systemd and proxies: test/deploy checks the files',
  'docs/cluster.md': 'needs a Ray cluster: npm run test:ray',
  'docs/configuration.md': 'has one settings file: test/config.test.ts reads such files',
  'docs/operate.md': 'stops services: test/cli/backup.test.ts',
  'docs/package.md': 'needs a package: test/deploy/package.test.ts installs one',
  'docs/gpu.md': 'needs a GPU: npm run test:gpu',
  'docs/models.md':
    'needs training tools; docs/cli.md has its commands, and test/cli/model*.test.ts',
  'edge/README.md': 'needs JupyterLab: test/edge runs the notebooks',
  'models/train/README.md': 'trains for hours: test/models/train',
};

/** Examples of `PAGES` that are not run here, by their page and a part of their text. */
const NOT_RUN: [page: string, part: string, why: string][] = [
  ['README.md', 'npm test', 'is the run that this test belongs to'],
  ['README.md', 'npm install ./', 'needs a package: test/deploy/package.test.ts installs one'],
  ['docs/counts-from-photos.md', 'npm install', 'test/deploy/package.test.ts installs the package'],
  ['docs/cli.md', 'lattice completion', 'needs bash: test/cli/completion.test.ts'],
  ['docs/cli.md', 'lattice bench', 'measures for minutes: test/cli/bench'],
  ['docs/clients.md', 'openapi-typescript', 'needs other programs, and Go and Java for some'],
  ['docs/exports.md', 'import supervision', 'supervision is not among the tools of test/export'],
  ['docs/exports.md', '<View>', 'is a configuration of Label Studio'],
  ['docs/exports.md', 'lattice job push', 'needs Label Studio: test/cli/push.test.ts'],
  ['docs/exports.md', 'CVAT_SERVERLESS', 'is a configuration of CVAT'],
  ['docs/deepstack.md', 'detectors:', 'is a configuration of Frigate'],
  ['docs/deepstack.md', 'image_processing:', 'is a configuration of Home Assistant'],
  ['docs/webhooks.md', 'POST /your/path', 'is a message: test/webhooks/documentation.test.ts'],
  [
    'clients/node/README.md',
    'npm run pack:client',
    'test/clients/node.test.ts packs and installs it',
  ],
  ['clients/python/README.md', 'pip install', 'test/support/python-package.ts installs it'],
];

/** Commands that the test has done already: it has a service, with its settings. */
const DONE_ALREADY = /\bnpm start\b|^export LATTICE_/;
const IN_BACKGROUND = / &( *#.*)?$/;
const COMMAND_MS = 120_000;
const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const EXPORT_TOOLS = {
  name: 'exports',
  what: 'the tools that read exports',
  files: ['test/export/requirements.txt'],
};

let folder: string;
let service: ServiceProcess;
let python: InstalledPackage;
let receiverPort: number;
let env: Record<string, string>;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-docs-'));
  fillFolder();
  python = await installPythonPackage();
  receiverPort = await freePort();
  service = await startService({
    env: {
      ...FEW_THREADS,
      LATTICE_IMAGE_ROOTS: DEMO,
      LATTICE_MODELS_DIR: join(folder, 'own-models'),
      LATTICE_COMPAT: 'deepstack',
      LATTICE_WEBHOOK_SECRET: SECRET,
    },
  });
  env = {
    PATH: `${join(folder, 'bin')}:${process.env.PATH ?? ''}`,
    LATTICE_MODELS_DIR: join(folder, 'own-models'),
    LATTICE_DATA_DIR: join(folder, 'data'),
    LATTICE_PORT: '0',
    LATTICE_CORE_API_URL: service.url,
    LATTICE_WEBHOOK_SECRET: SECRET,
  };
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  python[Symbol.dispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** The files that the examples name, and `lattice` on the path. */
function fillFolder(): void {
  for (const name of ['bin', 'own-models', 'data', 'photos']) mkdirSync(join(folder, name));
  for (const name of ['models', 'node_modules', 'package.json']) {
    symlinkSync(join(PROJECT_ROOT, name), join(folder, name));
  }
  for (const name of ['photo.jpg', 'photos/crossing.jpg', 'photos/street.jpg']) {
    copyFileSync(
      join(DEMO, name.includes('crossing') ? 'crossing.jpg' : 'street.jpg'),
      join(folder, name),
    );
  }
  copyFileSync(join(PROJECT_ROOT, 'models/vehicles-v8n.onnx'), join(folder, 'best.onnx'));
  const program = join(folder, 'bin/lattice');
  writeFileSync(program, `#!/bin/sh\nexec node ${PROJECT_ROOT}/dist/cli/lattice.js "$@"\n`);
  chmodSync(program, 0o755);
}

test('every page with examples is run, or it is said why not', () => {
  const pages = globSync(['*.md', '*/*.md', '*/*/*.md'], {
    cwd: PROJECT_ROOT,
    ignore: ['node_modules/**', '**/node_modules/**'],
  });
  const withExamples = pages.filter((page) =>
    examplesOf(page).some(({ language }) => language !== 'text'),
  );
  const known = [...PAGES, ...Object.keys(OTHER_PAGES)];
  expect(withExamples.filter((page) => !known.includes(page))).toEqual([]);
  for (const [page, why] of Object.entries(OTHER_PAGES)) console.info(`not run: ${page}: ${why}`);
  for (const [page, part, why] of NOT_RUN) {
    console.info(`not run: ${page}, ${part}: ${why}`);
    expect(
      examplesOf(page).filter(({ text }) => text.includes(part)),
      `${page}, ${part}`,
    ).toHaveLength(1);
  }
});

test.each([
  ['the tables of docs/api.md', 'api-page'],
  ['the tables of docs/errors.md', 'errors-page'],
  ['llms.txt', 'llms-text'],
  ['the generated files of the Python client', 'python-client'],
])('%s are up to date', async (_what, script) => {
  await runProgram(process.execPath, [`scripts/${script}.mjs`, '--check']);
});

test.each(PAGES)('%s', async (page) => {
  const names = new Names();
  names.set('http://127.0.0.1:8000', service.url);
  names.set('http://127.0.0.1:5000', service.url);
  names.set('ws://127.0.0.1:8000', service.url.replace('http', 'ws'));
  names.set('npx lattice', 'lattice');
  names.set('npm run demo', `node ${PROJECT_ROOT}/scripts/demo.mjs`); // set-up has run before the tests
  names.set('webhook listen', `webhook listen --port ${receiverPort}`);
  names.set(':9000', `:${receiverPort}`);

  const examples = examplesOf(page)
    .filter(({ language }) => language !== 'text')
    .filter(({ text }) => !NOT_RUN.some(([at, part]) => at === page && text.includes(part)));
  using shell = new Shell(folder, env);
  await runPage(examples, names, shell);
});

/** In the order of the page; Python of one page is one program. */
async function runPage(examples: Example[], names: Names, shell: Shell): Promise<void> {
  let output = '';
  const pythonBlocks: string[] = [];
  for (const example of examples) {
    const text = names.replaceIn(example.text);
    if (example.language === '' || example.language === 'sh') {
      for (const command of commandsOf(example)) {
        if (command.text === '') expectOutput(command, output, names);
        else if (!DONE_ALREADY.test(command.text)) output = await runCommand(command, names, shell);
      }
    } else if (example.page === 'docs/webhooks.md') {
      await runReceiver(example);
    } else if (example.language === 'python') pythonBlocks.push(text);
    else if (example.language === 'json') await sendToStream(text, names);
    else if (['js', 'ts'].includes(example.language)) output = await runModule(text);
    else
      throw new Error(
        `${example.page}:${example.line} is ${example.language}: run it, or say why not.`,
      );
  }
  if (pythonBlocks.length > 0) await runPython(examples[0]!.page, pythonBlocks);
}

async function runCommand(command: Command, names: Names, shell: Shell): Promise<string> {
  // A reader takes longer for the next command than a job for its pictures.
  await jobsEnded(service.url);
  const readsOnly =
    command.text.startsWith('curl') && !/ -(d|F|X|o|sOJ) |--data/.test(command.text);
  const until = Date.now() + HANG_MS;
  for (;;) {
    const text = names.replaceIn(command.text);
    const { code, stdout, stderr } = await shell.run(text, COMMAND_MS);
    expect(code, `${text}\n${stdout}${stderr}`).toBe(0);
    if (IN_BACKGROUND.test(text)) await eventual(() => isListening(receiverPort)).toBe(true);
    try {
      expectOutput(command, stdout, names);
      return stdout;
    } catch (error) {
      if (!readsOnly || Date.now() > until) throw error;
    }
  }
}

function expectOutput({ text, shown }: Command, output: string, names: Names): void {
  if (shown === '') return;
  const expected = jsonValues(shown);
  const actual = jsonValues(output);
  expect(actual.length, `${text}\n${output}`).toBe(expected.length);
  expected.forEach((each, index) => {
    expectShown(each, actual[index], names);
  });
}

const TSX = ['--import', 'tsx'];

async function runModule(text: string): Promise<string> {
  return runProgram(process.execPath, [...TSX, writeModule(text)], { ...process.env, ...env });
}

function writeModule(text: string): string {
  const file = join(folder, 'example.ts');
  const client = join(PROJECT_ROOT, 'dist/client/lattice-client.js');
  writeFileSync(file, text.replaceAll(`'lattice-detect-client'`, `'${client}'`));
  return file;
}

const RUN_BLOCKS = `
import ast, asyncio, json, sys
names = {"__name__": "__main__"}
for number, block in enumerate(json.load(open(sys.argv[1]))):
    code = compile(block, f"block {number}", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    waiting = eval(code, names)
    if waiting is not None:
        asyncio.run(waiting)
`;

async function runPython(page: string, blocks: string[]): Promise<void> {
  const isExport = page === 'docs/exports.md';
  const program = isExport ? await pythonEnvironment(EXPORT_TOOLS, console.log) : python.python;
  if (isExport) copyFileSync(join(folder, 'boxes.coco.json'), join(folder, 'truth.json'));
  const file = join(folder, 'blocks.json');
  writeFileSync(file, JSON.stringify(blocks));
  const moveTo = `import os; os.chdir(${JSON.stringify(folder)})`;
  await runProgram(program, ['-B', '-c', `${moveTo}${RUN_BLOCKS}`, file], {
    ...process.env,
    ...env,
  });
}

/** A receiver of webhooks runs until it is stopped: it must print the end of a job that is submitted now. */
async function runReceiver({ language, text: shown }: Example): Promise<void> {
  const isPython = language === 'python';
  const port = await freePort();
  const text = shown.replaceAll(/\b900\d\b/g, String(port));
  const file = join(folder, 'receiver.py');
  if (isPython) writeFileSync(file, text);
  const [program, args] = isPython
    ? ['python3', [file]]
    : [process.execPath, [...TSX, writeModule(text)]];
  const receiver = spawn(program, args, { env: { ...process.env, ...env } });
  let output = '';
  receiver.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  receiver.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  try {
    await eventual(() => isListening(port)).toBe(true);
    const response = await fetch(`${service.url}/v1/jobs/submit`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        job_type: 'detect_cars',
        image_paths: ['street.jpg'],
        callback_url: `http://127.0.0.1:${port}/`,
      }),
    });
    const { job_id } = (await response.json()) as { job_id: string };
    await eventual(() => output).toContain(`job.completed ${job_id}`);
  } finally {
    receiver.kill('SIGKILL');
  }
}

/** Messages of a client, one per line: each is answered, and not by an error. */
async function sendToStream(text: string, names: Names): Promise<void> {
  const socket = new WebSocket(`${service.url.replace('http', 'ws')}/v1/stream`);
  const events: { event: string; error?: unknown }[] = [];
  socket.on('message', (data: Buffer) =>
    events.push(JSON.parse(data.toString()) as { event: string }),
  );
  await new Promise((resolve) => socket.once('open', resolve));
  const messages = text.trim().split('\n');
  for (const message of messages) socket.send(names.replaceIn(message));
  await eventual(() => events.length).toBeGreaterThanOrEqual(messages.length);
  socket.close();
  expect(events.filter(({ event }) => event === 'error')).toEqual([]);
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', () => {
      resolve(false);
    });
    socket.once('connect', () => {
      resolve(true);
      socket.destroy();
    });
  });
}
