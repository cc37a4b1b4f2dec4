/**
 * Every option of a detection at every door of a running service with the bundled detector: each must show what the
 * synchronous answer shows, and that must differ from what the door would show without the option. The page is in
 * test/browser.
 */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import type { ImageFields } from '../../src/client/records.js';
import { LatticeClient } from '../../src/client/lattice-client.js';
import { EXPORT_FORMATS, type ExportFormat } from '../../src/export/formats.js';
import { OPTIONS, REGIONS, type Asked } from '../support/asked-options.js';
import { EXPORTED } from '../support/exported-boxes.js';
import { eventually } from '../support/eventually.js';
import { installPythonPackage } from '../support/python-package.js';
import { FEW_THREADS, detect, resultOf, submit } from '../support/service-client.js';
import { PROJECT_ROOT, startService, type ServiceProcess } from '../support/service-process.js';
import { writeTwoPhotos } from '../support/two-photos.js';
import { startReceiver, type Receiver } from '../webhooks/receiver.js';
import { run } from '../cli/run.js';

type Answer = Omit<ImageFields, 'timings_ms' | 'processing_time_ms'>;

const NAME = 'two.png';
/** So low that there are boxes to merge and to leave out. */
const LOW = 0.02;
/** Not all that a request without classes gets. */
const CLASSES = ['car', 'bus', 'truck'];
const ENV = {
  ...FEW_THREADS,
  LATTICE_MODELS_DIR: join(PROJECT_ROOT, 'models'),
  LATTICE_PRECISION: 'f32',
  LATTICE_SYNC_DEADLINE_MS: '60000',
};

let folder: string;
let picture: string;
let service: ServiceProcess;
let client: LatticeClient;
let receiver: Receiver;

const others = ({ namesClasses }: Asked) => (namesClasses === true ? { classes: CLASSES } : {});
/** Without the option. */
const plainOf = (asked: Asked) => ({ confidence_threshold: LOW, ...others(asked) });
const fieldsOf = (asked: Asked) => ({ ...plainOf(asked), ...asked.json });
const textsOf = (asked: Asked): [string, string][] => {
  const given = new Map([['confidence_threshold', String(LOW)], ...asked.texts]);
  if (asked.namesClasses === true) given.set('classes', CLASSES.join());
  return [...given];
};
const flagsOf = ({ flags, namesClasses }: Asked) => [
  ...['--confidence', String(LOW), ...flags],
  ...(namesClasses === true ? ['--classes', CLASSES.join()] : []),
];

const answers = new Map<string, Promise<Answer>>();
/** The synchronous answer to a request by a path. */
function answerTo(fields: Record<string, unknown>): Promise<Answer> {
  const key = JSON.stringify(fields);
  const known =
    answers.get(key) ??
    detect(service.url, { image_path: NAME, ...fields }).then(({ status, body }) => {
      expect(status, JSON.stringify(body)).toBe(200);
      return body as unknown as Answer;
    });
  answers.set(key, known);
  return known;
}

const jobs = new Map<Asked, Promise<string>>();
/** The job of an option, which has ended: all that is shown of it is read from the one. */
function jobOf(asked: Asked): Promise<string> {
  const known =
    jobs.get(asked) ??
    (async () => {
      const job = { ...fieldsOf(asked), image_paths: [NAME], job_type: 'detect_vehicles' };
      const id = await submit(service.url, { ...job, callback_url: receiver.url });
      expect((await resultOf(service.url, id)).status).toBe('completed');
      return id;
    })();
  jobs.set(asked, known);
  return known;
}

interface Door {
  /** The facts of the boxes that it shows. */
  shows: (answer: Answer) => unknown;
  ask: (asked: Asked) => Promise<unknown>;
  /** Options that it refuses. */
  refuses?: string[];
}

const boxes = ({ detections, region_counts = {}, view }: Answer) => ({
  detections: detections.map(({ regions = [], alternative, ...each }) => ({
    ...each,
    alternative: alternative ?? null,
    regions,
  })),
  region_counts,
  view: view ?? null,
});
const withTiles = (answer: Answer) => ({ ...boxes(answer), tiles: answer.tiles });
const counts = ({ class_counts, region_counts }: Answer) => ({ class_counts, region_counts });
const ofResult = (result: unknown) => withTiles(result as Answer);
const exported = async (asked: Asked, format: ExportFormat) => {
  const pieces: Uint8Array[] = [];
  for await (const piece of client.export(await jobOf(asked), format)) pieces.push(piece);
  return Buffer.concat(pieces);
};

async function sent(init: RequestInit, query = ''): Promise<unknown> {
  const response = await fetch(`${service.url}/v1/inference/detect${query}`, {
    method: 'POST',
    ...init,
  });
  const body = (await response.json()) as Answer;
  expect(response.status, JSON.stringify(body)).toBe(200);
  return ofResult(body);
}

let pythonAnswers: Promise<Map<string, Record<string, Answer>>> | null = null;
/** One program asks for all options. */
function python(): Promise<Map<string, Record<string, Answer>>> {
  pythonAnswers ??= (async () => {
    using installed = await installPythonPackage();
    const script = ['-B', join(PROJECT_ROOT, 'test/clients/options.py'), service.url, picture];
    const input = OPTIONS.map((asked) => `${JSON.stringify(fieldsOf(asked))}\n`).join('');
    const { stdout, stderr, status } = spawnSync(installed.python, script, {
      input,
      encoding: 'utf8',
    });
    expect(status, stderr).toBe(0);
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, Answer>);
    return new Map(OPTIONS.map((asked, at) => [JSON.stringify(asked.json), lines[at] ?? {}]));
  })();
  return pythonAnswers;
}
const byPython = (way: string): Door => ({
  shows: boxes,
  ask: async (asked) => (await python()).get(JSON.stringify(asked.json))?.[way],
});

const DOORS: Record<string, Door> = {
  'a sent picture, options in the query': {
    shows: withTiles,
    ask: (asked) => {
      const query = `?${new URLSearchParams(textsOf(asked)).toString()}`;
      return sent({ headers: { 'content-type': 'image/png' }, body: readFileSync(picture) }, query);
    },
  },
  'a sent picture, options in a form': {
    shows: withTiles,
    ask: (asked) => {
      const body = new FormData();
      for (const [name, text] of textsOf(asked)) body.append(name, text);
      body.append('image', new Blob([readFileSync(picture)]), NAME);
      return sent({ body });
    },
  },
  'the result of a job': {
    shows: withTiles,
    ask: async (asked) => ofResult((await resultOf(service.url, await jobOf(asked))).result),
  },
  'the result of a job that was submitted over the socket': {
    shows: withTiles,
    ask: async (asked) => {
      const payload = { ...fieldsOf(asked), image_paths: [NAME], job_type: 'detect_vehicles' };
      const id = await submitBySocket(payload);
      return ofResult((await resultOf(service.url, id)).result);
    },
  },
  'the summary of a job': {
    shows: counts,
    ask: async (asked) => {
      const { classes, region_counts } = await client.summary(await jobOf(asked));
      return {
        class_counts: Object.fromEntries(classes.map((each) => [each.class, each.boxes])),
        region_counts,
      };
    },
  },
  'the counts of a job': {
    shows: counts,
    ask: async (asked) => {
      const { total } = await client.counts(await jobOf(asked), 'image');
      return { class_counts: total.class_counts, region_counts: total.region_counts };
    },
  },
  'the event of the end of a job': {
    shows: counts,
    ask: async (asked) => {
      for await (const event of client.events({ job_ids: [await jobOf(asked)], after_seq: 0 })) {
        if (event.event !== 'job_completed') continue;
        return { class_counts: event.class_counts, region_counts: event.region_counts };
      }
      return null;
    },
  },
  'a webhook': {
    shows: withTiles,
    ask: async (asked) => {
      const id = await jobOf(asked);
      const bodies = () =>
        receiver.received.map(
          ({ body }) => JSON.parse(body) as { data: { job_id: string; result: unknown } },
        );
      await eventually(() => {
        expect(bodies().map(({ data }) => data.job_id)).toContain(id);
      });
      return ofResult(bodies().find(({ data }) => data.job_id === id)?.data.result);
    },
  },
  ...Object.fromEntries(
    EXPORT_FORMATS.map((format): [string, Door] => {
      const { shows, read } = EXPORTED[format];
      return [
        `the export ${format}`,
        { shows, ask: async (asked) => read(await exported(asked, format)) },
      ];
    }),
  ),
  'lattice detect': {
    shows: withTiles,
    refuses: ['view'],
    ask: async (asked) => {
      const setting = ['--precision', 'f32', '--models-dir', ENV.LATTICE_MODELS_DIR];
      const { out, err, code } = await run(
        'detect',
        picture,
        '--json',
        ...setting,
        ...flagsOf(asked),
      );
      expect(code, err).toBe(0);
      return ofResult(JSON.parse(out));
    },
  },
  'lattice job submit': {
    shows: withTiles,
    ask: async (asked) => {
      const url = ['--url', service.url];
      const submitted = await run('job', 'submit', NAME, '--wait', ...url, ...flagsOf(asked));
      expect(submitted.code, submitted.err).toBe(0);
      const { out } = await run('job', 'result', submitted.out.trim(), '--json', ...url);
      return ofResult((JSON.parse(out) as { result: unknown }).result);
    },
  },
  'the Node client, by a path': {
    shows: withTiles,
    ask: async (asked) => ofResult(await client.detect({ image_path: NAME, ...fieldsOf(asked) })),
  },
  'the Node client, a sent picture': {
    shows: withTiles,
    ask: async (asked) =>
      ofResult(await client.detectPicture(readFileSync(picture), fieldsOf(asked))),
  },
  'the Node client, a job': {
    shows: withTiles,
    ask: async (asked) => {
      const job = { job_type: 'detect_vehicles' as const, image_paths: [NAME], ...fieldsOf(asked) };
      const { job_id } = await client.submit(job);
      await client.waitFor(job_id);
      return ofResult((await client.result(job_id)).result);
    },
  },
  'the Python client, by a path': byPython('path'),
  'the Python client, a sent picture': byPython('sent'),
  'the Python client, a job': byPython('job'),
};

function submitBySocket(payload: object): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`${service.url.replace('http', 'ws')}/v1/stream`);
    socket.on('open', () => {
      socket.send(JSON.stringify({ action: 'submit', id: 1, payload }));
    });
    socket.on('error', reject);
    socket.on('message', (data: Buffer) => {
      const message = JSON.parse(data.toString()) as { event: string; id?: number; job_id: string };
      if (message.id !== 1) return;
      socket.close();
      if (message.event === 'job_submitted') resolve(message.job_id);
      else reject(new Error(data.toString()));
    });
  });
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'lattice-doors-'));
  picture = join(folder, NAME);
  await writeTwoPhotos(picture);
  receiver = await startReceiver((response) => response.writeHead(204).end());
  service = await startService({ env: { ...ENV, LATTICE_IMAGE_ROOTS: folder } });
  client = new LatticeClient({ url: service.url });
  await client.putView('north', { regions: REGIONS });
});

afterAll(async () => {
  await service[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

describe.each(Object.entries(DOORS))('%s', (_, { shows, ask, refuses = [] }) => {
  const asked = OPTIONS.filter(({ json }) => !refuses.some((name) => name in json));
  test.each(asked.map((each) => [JSON.stringify(each.json), each] as const))(
    '%s',
    async (_name, each) => {
      const wanted = shows(await answerTo(fieldsOf(each)));
      expect(wanted).not.toEqual(shows(await answerTo(plainOf(each))));
      expect(await ask(each)).toEqual(wanted);
    },
  );
});
