// Writes llms.txt, the map of the project for programs that read it (llmstxt.org): the pages, the commands and the main
// calls; with --check, only checks whether it is up to date. The service answers /llms.txt with it, and the pages at
// the same relative links.
//
//   node scripts/llms-text.mjs [--check]
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { tsImport } from 'tsx/esm/api';
import { readOpenApi, writeOrCheck } from './generated.mjs';

const FILE = fileURLToPath(new URL('../llms.txt', import.meta.url));
const DOCS = fileURLToPath(new URL('../docs', import.meta.url));

/** One sentence for each page of docs, under what people want. */
const PAGES = {
  'Start here': {
    'counts-from-photos':
      'For people who do not program: one command from a folder of photos to counts.',
    models: 'Bring a model: export, check, add, compare, 8 bits, aliases with a shadow, rollback.',
    api: 'Every route and field over HTTP, with real answers.',
    errors: 'Every error code: when it comes, what to do, whether to repeat the call.',
    cli: 'The commands with examples, exit codes and where output goes.',
    clients: 'Clients for Python and Node.js, and how to generate others.',
  },
  'Results, events and other tools': {
    exports:
      'Results as COCO, CSV, YOLO, Label Studio, GeoJSON and Parquet files, as pictures drawn, covered or cut out, and as a report.',
    events: 'Progress of jobs over a WebSocket.',
    webhooks: 'Signed calls to an address of yours when a job ends.',
    watches: 'Folders whose new pictures are detected by themselves.',
    deepstack: 'The routes of DeepStack, for programs of cameras.',
    'live-page': 'The page for browsers at /ui.',
  },
  'Run it': {
    configuration: 'Every setting, and who may call the service.',
    package: 'The npm package, without a compiler.',
    operate: 'Backup, upgrade, disk, logs and alerts.',
    metrics: 'The metrics for Prometheus.',
    gpu: 'NVIDIA GPUs: state, building, faults.',
    cluster: 'Several machines, as a Ray cluster.',
    scale: 'What is the bottleneck at which size, measured.',
  },
  'What it promises': {
    durability: 'What an accepted job survives.',
    reliability: 'Which failures are tested, and how.',
    lifecycle: 'The path of a request through threads and deadlines, and the terms of the project.',
    decoding: 'Which pictures are read, and to which pixels.',
    rectangles: 'Input shapes of the network, and what they save.',
    tiles: 'Small things in large pictures: parts that are looked at one by one.',
  },
};

/** The calls that most programs need, by operation. */
const CALLS = [
  ...['detect', 'submitJob', 'getJobStatus', 'getJobResult', 'listJobImages', 'getJobCounts'],
  ...['getJobReport', 'cancelJob', 'createUpload', 'putUploadedFile', 'listModels', 'ready'],
];

const names = Object.values(PAGES).flatMap((pages) => Object.keys(pages));
const files = readdirSync(DOCS).filter((name) => name.endsWith('.md'));
const missing = files.filter((name) => !names.includes(name.slice(0, -3)));
if (missing.length > 0) throw new Error(`Pages without a sentence here: ${missing.join(', ')}`);

function pages() {
  return Object.entries(PAGES).map(([heading, list]) => {
    const lines = Object.entries(list).map(
      ([name, text]) => `- [docs/${name}.md](docs/${name}.md): ${text}`,
    );
    return `## ${heading}\n\n${lines.join('\n')}`;
  });
}

async function commands() {
  const { createProgram } = await tsImport('../src/cli/run-cli.ts', import.meta.url);
  const program = createProgram({ out() {}, err() {}, setExitCode() {} });
  return program.commands.map(
    (command) => `- \`lattice ${command.name()}\`: ${command.description()}`,
  );
}

function calls() {
  const operations = Object.entries(readOpenApi().paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
  );
  return CALLS.map((id) => {
    const call = operations.find(({ operationId }) => operationId === id);
    if (call === undefined) throw new Error(`No call is named ${id}.`);
    return `- \`${call.method.toUpperCase()} ${call.path}\`: ${call.summary}`;
  });
}

const text = `# lattice-core

> A detection service: paths of pictures on a shared volume, or a picture itself, in; boxes of cars and other vehicles out. It
> runs on CPUs and NVIDIA GPUs, keeps jobs on disk, watches folders, and counts a folder of photos with one command. Apache-2.0.

One process in TypeScript and C++ with an embedded database; no other program has to run beside it. \`/docs\` of a running service
shows its calls, \`/openapi.json\` is their OpenAPI 3.1 document, \`/ui\` the page for browsers. Boxes are \`[x1, y1, x2, y2]\` in
pixels of the upright picture. Errors are \`application/problem+json\` with a stable \`code\`.

${pages().join('\n\n')}

## Commands

\`lattice COMMAND --help\` has options, examples and exit codes. Without an installation on the path: \`npx lattice COMMAND\`.

${(await commands()).join('\n')}

## Main calls

The port is 8000. A service with keys takes \`Authorization: Bearer KEY\`.

${calls().join('\n')}
`;
writeOrCheck(FILE, text);
