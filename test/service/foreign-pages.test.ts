/**
 * A walk over every operation of the OpenAPI document of a real service, from a web page of another origin: it reads
 * and detects, sees no picture, and leaves nothing behind. An operation that the tables do not know fails the walk.
 */
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { call, detect, PICTURE, post, resultOf, submit } from '../support/service-client.js';
import { startService, type ServiceProcess } from '../support/service-process.js';

interface Schema {
  $ref?: string;
  properties?: Record<string, Record<string, unknown>>;
}
interface Operation {
  operationId: string;
  security?: unknown[];
  parameters?: { name: string; in: string; required?: boolean }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
}
interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}
interface Sent {
  query?: string;
  /** JSON unless it is something else. */
  body?: object | Buffer | FormData;
  headers?: Record<string, string>;
}

const EVIL = 'https://evil.example';
const LISTED = 'https://app.example';
const page = (origin: string) => ({ origin, 'sec-fetch-site': 'cross-site' });

/**
 * Headers that a browser sends for a foreign page: with CORS, by a form of a sandboxed frame, by an old browser, by an
 * element.
 */
const FOREIGN: Record<string, string>[] = [
  page(EVIL),
  page('null'),
  { origin: EVIL },
  { 'sec-fetch-site': 'cross-site' },
  { 'sec-fetch-site': 'same-site' },
];
/** Content-Types that need no preflight. */
const FORM_TYPES = ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data'];

const form = (field: string) => {
  const data = new FormData();
  data.set(field, new Blob([readFileSync(PICTURE)]), 'a.png');
  return data;
};
const WATCH = { name: 'other', paths: ['none'], job_type: 'detect_cars' };
const JOB = { job_type: 'batch_detect', image_paths: ['shapes.png'] };
const RECTANGLES =
  '<View><Image name="i" value="$image"/><RectangleLabels name="l" toName="i"><Label value="car"/></RectangleLabels></View>';

/** Operations that detect and change nothing that lasts. */
const DETECTS: Record<string, Sent> = {
  detect: { body: { image_path: 'shapes.png' } },
  submitJob: { body: JOB },
  deepStackModels: {},
  deepStackDetect: { body: form('image') },
  deepStackCustom: { body: form('image') },
  labelStudioSetup: { body: { schema: RECTANGLES } },
  labelStudioPredict: {
    body: {
      tasks: [{ data: { image: '/data/local-files/?d=shapes.png' } }],
      label_config: RECTANGLES,
    },
  },
  cvatInvoke: {
    body: { image: readFileSync(PICTURE).toString('base64') },
    headers: { 'x-nuclio-function-name': 'yolov8n' },
  },
};
/**
 * Operations that change something, with what a program sends for that; in the order in which a program may send them.
 */
const CHANGES: Record<string, Sent> = {
  createUpload: { body: {} },
  putUploadedFile: { body: readFileSync(PICTURE) },
  deleteUpload: {},
  addWatch: { body: WATCH },
  changeWatch: { body: { paused: true } },
  changeCameraFinding: { body: { camera: 'gate', kind: 'moved', dismissed: true } },
  deleteWatch: {},
  // Its job is made first.
  dismissPlace: {},
  deleteDismissal: {},
  putView: { body: { regions: [{ name: 'gate', polygon: [[0, 0], [1, 0], [1, 1]] }] } }, // prettier-ignore
  deleteView: {},
  putAlias: { body: { model: 'yolov8n.pt' } },
  promoteAlias: {},
  rollBackAlias: {},
  deleteAlias: {},
  reloadModels: {},
  patchJob: { body: { keep: true } },
  retryJob: { query: '?images=all' },
  redeliverJobWebhook: {},
  cancelJob: { query: '?purge=true' },
};
/** Operations that only read, but show pictures or the names of files. */
const PICTURES: Record<string, string> = {
  getAnnotated: '',
  getJobPictures: '',
  getJobCovered: '',
  getJobCrops: '',
  getJobReport: '',
  getReport: '?tag=north',
  getImageFile: '?path=shapes.png',
  listImages: '',
};
const READ_QUERIES: Record<string, string> = {
  getJobAgreement: '?with=JOB',
  getJobChanges: '?with=JOB',
  listSamples: '?job=JOB',
};
/** A socket, which another test opens. */
const SOCKETS = new Set(['stream']);
const SENT_OUT_OR_LASTING = ['annotate', 'callback_url', 'keep', 'upload'];

describe.each(['deepstack', 'label-studio', 'cvat'])('with LATTICE_COMPAT=%s', (compat) => {
  let dataDir: string;
  let service: ServiceProcess;
  let document: Document;
  let ids: Record<string, string>;
  const operations = () =>
    Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({
        id: operation.operationId,
        method: method.toUpperCase(),
        needsNoKey: operation.security?.length === 0,
        path: path.replace(/\{(\w+)\}/g, (_, name: string) => {
          const known = ids[`${path.split('/')[2]}/${name}`] ?? ids[name];
          return known ?? `no-${name}`;
        }),
      })),
    );
  const send = (
    { method, path }: { method: string; path: string },
    { query = '', body, headers: own = {} }: Sent,
    headers: Record<string, string>,
  ) => {
    const isJson = body !== undefined && !(body instanceof Buffer) && !(body instanceof FormData);
    return call(service.url, `${path}${query}`, {
      method,
      redirect: 'manual',
      headers: { ...(isJson ? { 'content-type': 'application/json' } : {}), ...own, ...headers },
      ...(body === undefined
        ? {}
        : { body: (isJson ? JSON.stringify(body) : body) as NonNullable<RequestInit['body']> }),
    });
  };
  const preflight = async (path: string, method: string, origin: string) => {
    const headers = { origin, 'access-control-request-method': method };
    return (await call(service.url, path, { method: 'OPTIONS', headers })).headers;
  };
  /** Everything that a page could have left: what lists show, and files. */
  const state = async () => {
    const working = async () => {
      const { pending_jobs, running_jobs } = (await call(service.url, '/v1/cluster/status')).body;
      return pending_jobs + running_jobs;
    };
    await expect.poll(working).toBe(0);
    const lists = [
      ...['jobs', 'watches', 'views', 'models', 'models/aliases', 'uploads'],
      'places/dismissals',
    ];
    const texts = lists.map(async (list) => {
      const { body } = await call(service.url, `/v1/${list}`);
      const drop = new Set(['expires_at', 'last_scan', 'lag_s', 'state', 'webhooks']);
      return JSON.stringify(body, (key, value: unknown) => (drop.has(key) ? null : value));
    });
    const files = ['annotated', 'uploads'].map((folder) => {
      try {
        return readdirSync(join(dataDir, folder), { recursive: true }).sort();
      } catch {
        return [];
      }
    });
    return { lists: await Promise.all(texts), files };
  };

  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'lattice-pages-'));
    const env = { LATTICE_COMPAT: compat, LATTICE_CORS_ORIGINS: LISTED };
    service = await startService({ dataDir, env });
    document = (await call(service.url, '/openapi.json')).body as unknown as Document;
    const drawn = await detect(service.url, { annotate: true });
    expect(drawn.status).toBe(200);
    const url = { callback_url: 'http://127.0.0.1:9/hook' };
    const job_id = await submit(service.url, { annotate: true, tags: ['north'], ...url });
    await resultOf(service.url, job_id);
    CHANGES.dismissPlace = { body: { job_id, index: 0, class: 'car', box: [10, 10, 90, 60] } };
    const upload = await post(service.url, '/v1/uploads', {});
    ids = {
      job_id,
      file: drawn.body.annotated_url.split('/').at(-1) ?? '',
      upload_id: (upload.body as unknown as { upload_id: string }).upload_id,
      model: 'yolov8n',
      asset: 'swagger-ui.css',
      'uploads/name': 'a.png',
      'watches/name': 'gate',
      'views/name': 'north',
      'places/id': '1',
      'models/name': 'production.pt',
      'functions/name': 'yolov8n',
    };
    const put = { method: 'PUT', headers: { 'content-type': 'application/json' } };
    const made = [
      await call(service.url, '/v1/views/north', {
        ...put,
        body: JSON.stringify(CHANGES.putView?.body),
      }),
      await call(service.url, '/v1/models/aliases/production.pt', {
        ...put,
        body: JSON.stringify(CHANGES.putAlias?.body),
      }),
      await post(service.url, '/v1/watches', { ...WATCH, name: 'gate' }),
    ];
    expect(made.map(({ status }) => status)).toEqual([201, 201, 201]);
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    rmSync(dataDir, { recursive: true, force: true });
  });

  test('what changes something is refused, whoever sends it how, and nothing has changed', async () => {
    const before = await state();
    for (const operation of operations()) {
      const { id, method, path } = operation;
      if (method === 'GET' || id in DETECTS) continue;
      const sent = CHANGES[id];
      expect(sent, `the operation ${id} is in a table of this test`).toBeDefined();
      for (const headers of FOREIGN) {
        const answer = await send(operation, sent ?? {}, headers);
        expect([id, answer.status, answer.body.code]).toEqual([id, 403, 'forbidden']);
        expect(answer.headers.has('access-control-allow-origin'), id).toBe(false);
      }
      for (const type of FORM_TYPES) {
        const text = JSON.stringify(sent?.body ?? {});
        const headers = { ...page(EVIL), 'content-type': type };
        const answer = await send(operation, { ...sent, body: Buffer.from(text) }, headers);
        expect([id, type, answer.status]).toEqual([id, type, 403]);
      }
      const foreign = await preflight(path, method, EVIL);
      expect(foreign.has('access-control-allow-origin'), id).toBe(false);
      expect(foreign.has('access-control-allow-methods'), id).toBe(false);
      const listed = await preflight(path, method, LISTED);
      expect(listed.get('access-control-allow-origin'), id).toBe(LISTED);
      expect(listed.get('access-control-allow-methods')?.split(', '), id).toContain(method);
    }
    expect(await state()).toEqual(before);
  });

  test('pictures are refused, and everything else is read', async () => {
    for (const operation of operations()) {
      const { id, path } = operation;
      if (operation.method !== 'GET' || SOCKETS.has(id)) continue;
      const query = (PICTURES[id] ?? READ_QUERIES[id] ?? '').replace('JOB', ids.job_id ?? '');
      for (const method of ['GET', 'HEAD']) {
        const own = await send({ method, path }, { query }, {});
        const type = own.headers.get('content-type') ?? 'text/plain';
        const isText = /^text\/|json|x-ndjson/.test(type);
        for (const headers of FOREIGN) {
          const answer = await send({ method, path }, { query }, headers);
          const origin = answer.headers.get('access-control-allow-origin');
          const policy = answer.headers.get('cross-origin-resource-policy');
          if (id in PICTURES) {
            expect([id, own.status, own.status === 200 && answer.status]).toEqual([id, 200, 403]);
            expect([id, origin, policy]).toEqual([id, null, 'same-origin']);
          } else {
            // A new route that shows pictures comes to here.
            expect([id, isText || operation.needsNoKey], type).toEqual([id, true]);
            expect([id, answer.status, origin]).toEqual([id, own.status, '*']);
          }
        }
        for (const headers of [{ 'sec-fetch-site': 'same-origin' }, page(LISTED)]) {
          expect((await send({ method, path }, { query }, headers)).status, id).toBe(own.status);
        }
      }
    }
  });

  test('a foreign page detects, and each field that lasts or goes out is refused by its name', async () => {
    for (const operation of operations()) {
      const sent = DETECTS[operation.id];
      if (sent === undefined) continue;
      for (const headers of FOREIGN) {
        const answer = await send(operation, sent, headers);
        expect([operation.id, answer.status < 300], answer.text).toEqual([operation.id, true]);
        expect(answer.headers.get('access-control-allow-origin')).toBe('*');
      }
      const asked = await preflight(operation.path, 'POST', EVIL);
      expect(asked.get('access-control-allow-methods')?.split(', ')).toContain('POST');
    }
    const { JobSubmit, DetectRequest } = document.components.schemas;
    const marked = (schema: Schema | undefined) =>
      Object.entries(schema?.properties ?? {})
        .filter(([, field]) => field['x-pages'] === 'own')
        .map(([name]) => name)
        .sort();
    expect(marked(JobSubmit)).toEqual(SENT_OUT_OR_LASTING);
    expect(marked(DetectRequest)).toEqual(['annotate']);
    const values = { annotate: true, callback_url: `${EVIL}/`, keep: 30, upload: ids.upload_id };
    const before = await state();
    const refused = async (path: string, body: object | FormData, name: string) => {
      const answer = await send({ method: 'POST', path }, { body }, page(EVIL));
      expect([name, answer.status, answer.body.code]).toEqual([name, 403, 'forbidden']);
      expect(answer.body.errors).toMatchObject([{ pointer: `#/${name}` }]);
      expect(answer.body.detail).toContain(`${name}: Only programs`);
    };
    for (const [name, value] of Object.entries(values)) {
      await refused('/v1/jobs/submit', { ...JOB, [name]: value }, name);
    }
    await refused('/v1/inference/detect', { image_path: 'shapes.png', annotate: true }, 'annotate');
    await refused('/v1/inference/detect?annotate=true', form('image'), 'annotate');
    const inForm = form('image');
    inForm.set('annotate', 'true');
    await refused('/v1/inference/detect', inForm, 'annotate');
    expect(await state()).toEqual(before);
    const none = { ...JOB, annotate: false, callback_url: null, keep: false };
    expect((await send({ method: 'POST', path: '/v1/jobs/submit' }, { body: none }, page(EVIL))).status).toBe(202); // prettier-ignore
  });

  test('the socket of a foreign page has the same rule for its submissions', async () => {
    const answersOf = async (origin: string, payloads: object[]) => {
      const socket = new WebSocket(`${service.url.replace('http', 'ws')}/v1/stream`, { origin });
      await once(socket, 'open');
      const answers: { id?: number; event: string; error?: { code: string; errors: unknown } }[] =
        [];
      socket.on('message', (data: Buffer) => {
        const answer = JSON.parse(data.toString()) as (typeof answers)[number];
        if (answer.id !== undefined) answers.push(answer);
      });
      payloads.forEach((payload, id) => {
        socket.send(JSON.stringify({ action: 'submit', id, payload }));
      });
      await expect.poll(() => answers.length).toBe(payloads.length);
      socket.terminate();
      return answers.sort((a, b) => (a.id ?? 0) - (b.id ?? 0));
    };
    const url = { ...JOB, callback_url: 'http://127.0.0.1:9/' };
    expect(await answersOf(EVIL, [JOB, url, { ...JOB, keep: true }])).toMatchObject([
      { event: 'job_submitted' },
      {
        event: 'error',
        error: { code: 'forbidden', errors: [{ pointer: '#/payload/callback_url' }] },
      },
      { event: 'error', error: { code: 'forbidden', errors: [{ pointer: '#/payload/keep' }] } },
    ]);
    expect(await answersOf(LISTED, [url])).toMatchObject([{ event: 'job_submitted' }]);
    expect(await answersOf(service.url, [url])).toMatchObject([{ event: 'job_submitted' }]);
  });

  test('a program does with the same requests what the walk was refused', async () => {
    const before = await state();
    const known = new Map(operations().map((operation) => [operation.id, operation]));
    for (const [id, sent] of Object.entries(CHANGES)) {
      const operation = known.get(id);
      expect(operation, `${id} is an operation`).toBeDefined();
      const headers = id === 'createUpload' ? { origin: service.url } : {};
      const answer = await send(operation ?? { method: '', path: '' }, sent, headers);
      expect([id, answer.status === 403]).toEqual([id, false]);
      // There is no canary to promote or to roll back, and no open finding.
      if (!['promoteAlias', 'rollBackAlias', 'changeCameraFinding'].includes(id)) {
        expect(answer.status, `${id}: ${answer.text}`).toBeLessThan(300);
      }
    }
    expect(await state()).not.toEqual(before);
  });
});
